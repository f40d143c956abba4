/* SPDX-License-Identifier: MIT
 *
 * Refuses options that do not go together. The columns `needs` and `excludes` of the table of
 * options say most of it; what depends on values stands here. */
#include <stdio.h>
#include <string.h>

#include "options/options.h"
#include "print/message.h"

void pairs_hint(const struct options *o, const char *words)
{
    const char *called = o->command->called;
    const char *file = strstr(words, "FILE");
    const char *place = file ? file : strstr(words, "STORE");
    if (o->command->bit == COMMAND_BITS && o->input.nfiles > 0) {
        message_hint("%s %s %s", called, o->input.files[0], words);
    } else if ((o->command->bit & COMMAND_ON_STORE) && o->seen.path && place) {
        message_hint("%s %.*s%s%s%s", called, (int)(place - words), words, o->seen.path,
                     file ? " " : "", file ? file : place + strlen("STORE"));
    } else {
        message_hint("%s %s", called, words);
    }
}

/* ---- The columns ----------------------------------------------------------------------------- */

enum {
    NAME_MAX_LEN = 32,
    TEXT_MAX_LEN = 160
};

/* Returns the next option in *names that the command has, or NULL at the end of the names. */
static const struct option_row *next_named(const struct options *o, const char **names)
{
    const struct option_row *row = NULL;
    while (!row && *names && **names) {
        const size_t len = strcspn(*names, " ");
        row = option_row_find(o->command, *names, len);
        *names += len + strspn(*names + len, " ");
    }
    return row;
}

/* The short name of the option. */
static void put_name(char name[NAME_MAX_LEN], const struct option_row *row)
{
    const char letter[] = {row->letter, '\0'};
    snprintf(name, NAME_MAX_LEN, "%s%s", row->letter ? "-" : "--",
             row->letter ? letter : row->name);
}

/* Hints at `usage`, or if it is NULL, at the option alone. */
static void hint_usage(const struct options *o, const struct option_row *row, const char *usage)
{
    char name[NAME_MAX_LEN];
    char words[TEXT_MAX_LEN];
    const char *value = row->example ? row->example : row->value;
    put_name(name, row);
    snprintf(words, sizeof(words), "%s%s%s FILE", name, value ? " " : "", value ? value : "");
    pairs_hint(o, usage ? usage : words);
}

/* An option without another one that it needs. */
static bool has_what_it_needs(const struct options *o, const bool *given,
                              const struct option_row *row)
{
    char name[NAME_MAX_LEN];
    char lacks[TEXT_MAX_LEN] = "";
    const struct option_row *needed = NULL;
    for (const char *names = row->needs; (needed = next_named(o, &names));) {
        if (given[option_row_index(needed)]) {
            return true;
        }
        const size_t len = strlen(lacks);
        put_name(name, needed);
        snprintf(lacks + len, sizeof(lacks) - len, "%s%s", len > 0 ? " or " : "", name);
    }
    if (lacks[0] == '\0') {
        return true;
    }
    put_name(name, row);
    message_error("%s has no meaning without %s", name, lacks);
    hint_usage(o, row, row->usage);
    return false;
}

/* An option beside one that it excludes. */
static bool has_none_excluded(const struct options *o, const bool *given,
                              const struct option_row *row)
{
    char name[NAME_MAX_LEN];
    char other[NAME_MAX_LEN];
    const char *names = row->excludes;
    const struct option_row *excluded = next_named(o, &names);
    while (excluded && !given[option_row_index(excluded)]) {
        excluded = next_named(o, &names);
    }
    if (!excluded) {
        return true;
    }
    put_name(name, row);
    put_name(other, excluded);
    if (strcmp(row->does, excluded->does) == 0) {
        message_error("%s %s, and so does %s", name, row->does, other);
    } else {
        message_error("%s %s, %s %s", name, row->does, other, excluded->does);
    }
    const char *needs = row->needs; /* where it needs nothing, the option alone is the way out */
    hint_usage(o, row, needs && !next_named(o, &needs) ? NULL : row->usage);
    return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The option that prints or groups by one form of one URL, and takes no key of several parts. */
static const char *one_url_option(const struct options *o)
{
    return o->group.by_host       ? "--by host"
           : o->print.surt        ? "--surt"
           : o->print.fingerprint ? "--fingerprint"
           : o->print.expressions ? "--expressions"
                                  : NULL;
}

/* -k with several parts, where one is wanted. */
static bool key_is_single(const struct options *o)
{
    char words[TEXT_MAX_LEN];
    const char *option = one_url_option(o);
    if (o->key.key.nparts <= 1) {
        return true;
    }
    if (option) {
        message_error("%s takes one URL, -k names several parts", option);
        snprintf(words, sizeof(words), "-k 1 %s FILE", option);
        pairs_hint(o, words);
    } else if (o->command->bit & COMMAND_ON_LIST) {
        message_error("an entry of a list is one text, -k names several");
        pairs_hint(o, "-k 1 FILE");
    } else {
        return true;
    }
    return false;
}

/* Pairs of which one depends on the value of an option, or on a third option. */
static bool values_fit(const struct options *o)
{
    const bool has_path = key_has_path(&o->key.key) || key_has_path(&o->group.by_key);
    const bool has_field = key_has_field(&o->key.key) || key_has_field(&o->group.by_key);
    const bool to_output = o->command->bit == COMMAND_DEDUP && o->seen.path && o->print.output;
    const bool quiet_store =
        o->command->bit == COMMAND_DEDUP && o->seen.path && o->print.quiet && !o->seen.dry_run;
    const char *profile = o->profile.name ? o->profile.name : "";
    const struct {
        bool both;
        const char *text;
        const char *hint;
    } pairs[] = {
        {to_output && o->seen.no_log,
         "-o with -s is written exactly once, for which a store needs its log",
         "-s STORE -o NEW FILE"},
        {to_output && o->seen.dry_run,
         "-o with -s has each line exactly once, and with -n those lines come again",
         "-n -s STORE FILE > NEW"},
        {to_output && o->print.count,
         "-o with -s has each line exactly once, and -c prints a number", "-c -s STORE FILE > NEW"},
        {o->print.canonical && o->print.count && !o->print.repeats,
         "-c prints a number, --canonical prints canonical forms", "-c FILE"},
        {quiet_store, "-q ends at the first new line, so the store would have no other",
         "add STORE FILE"},
        {o->key.missing == MISSING_EMPTY && o->key.key.nparts < 2,
         "--missing=empty is for a key of several parts", "--missing empty -k .url,.body FILE"},
        {o->key.has_separator && has_path && !has_field, "-t has no meaning with a JSON path",
         "-k .url FILE"},
        {o->key.format == FORMAT_JSONL && !has_path, "--format jsonl needs a path: -k .PATH",
         "--format jsonl -k .url FILE"},
        {o->key.format == FORMAT_LINES && has_path, "a line has numbered fields, not a path",
         "--format lines -k 1 FILE"},
        {o->funnel && o->source != SOURCE_GUAVA, "--funnel is for Guava's filters",
         "--format guava --funnel utf8 FILE"},
        {o->source == SOURCE_GUAVA && !o->funnel,
         "Guava's file does not say its funnel: --funnel bytes, utf8 or utf16",
         "--format guava --funnel utf8 FILE"},
        {o->print.fingerprint && o->profile.name && strncmp(profile, "scrapy", 6) != 0,
         "--fingerprint is Scrapy's, and needs -p scrapy", "--fingerprint FILE"},
        {o->key.base && (strcmp(profile, "none") == 0 || strncmp(profile, "none/", 5) == 0),
         "-p none reads no URLs, --base has nothing to resolve", "--base URL FILE"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (pairs[i].both) {
            message_error("%s", pairs[i].text);
            pairs_hint(o, pairs[i].hint);
            return false;
        }
    }
    return true;
}

bool pairs_fit(const struct options *o, const bool *given)
{
    const struct option_row *row = NULL;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (given[i] && (!has_what_it_needs(o, given, row) || !has_none_excluded(o, given, row))) {
            return false;
        }
    }
    return key_is_single(o) && values_fit(o);
}
