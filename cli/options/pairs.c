/* SPDX-License-Identifier: MIT
 *
 * Refuses options that do not go together. The columns `needs` and `excludes` of the table of
 * options say most of it; what depends on values stands here. */
#include <stdio.h>
#include <string.h>

#include "options/options.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    NAME_MAX_LEN = 32,
    TEXT_MAX_LEN = 4096
};

/* The option that the word is, without its value; NULL: it is not an option of the command. */
static const struct option_row *option_of(const struct command *command, const char *word,
                                          size_t len)
{
    if (len > 2 && word[0] == '-' && word[1] == '-') {
        return option_row_find(command, word + 2, strcspn(word + 2, "= "));
    }
    return len == 2 && word[0] == '-' ? option_row_letter(command, word[1]) : NULL;
}

/* True if `names`, with spaces between, has the name. */
static bool is_named(const char *names, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += len) {
        if ((at == names || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

void pairs_hint(const struct options *o, const char *drop, const char *words)
{
    char options[TEXT_MAX_LEN] = "";
    const char *file = strstr(words, " FILE");
    const char *behind = file ? file + strlen(" FILE") : "";
    size_t n = 0;
    for (const char *at = words; *at && at != behind; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        const struct option_row *row = option_of(o->command, at, len);
        if (row && row->value && row->value[0] != '[' && !memchr(at, '=', len) && at[len] == ' ') {
            len += 1 + strcspn(at + len + 1, " ");
        }
        if (row && (!typed_has(row->name) || is_named(drop, row->name))) {
            n += (size_t)snprintf(options + n, sizeof(options) - n, "%s%.*s", n > 0 ? " " : "",
                                  (int)len, at);
            n = n < sizeof(options) ? n : sizeof(options) - 1;
        }
        at += len;
    }
    const bool lacks_store = (o->command->bit & COMMAND_ON_STORE) && !typed_has(NULL);
    message_hint("%s%s%s", typed_changed(drop, "%s", options), lacks_store ? " STORE" : "", behind);
}

/* ---- The columns ----------------------------------------------------------------------------- */

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

/* An option without another one that it needs. */
static bool has_what_it_needs(const struct options *o, const bool *given,
                              const struct option_row *row)
{
    char name[NAME_MAX_LEN];
    char lacks[160] = "";
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
    pairs_hint(o, "", row->usage);
    return false;
}

/* Hints at the command without one of two options: the one that the usage of the row lacks. */
static void hint_one(const struct options *o, const struct option_row *row,
                     const struct option_row *excluded)
{
    char name[NAME_MAX_LEN];
    const char *needs = row->needs; /* where it needs nothing, the usage is about something else */
    const char *usage = row->usage && !(needs && !next_named(o, &needs)) ? row->usage : "";
    put_name(name, row);
    const bool keeps = usage[0] == '\0' || is_named(usage, name);
    pairs_hint(o, keeps ? excluded->name : row->name, usage);
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
    hint_one(o, row, excluded);
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
    const int first = o->key.text ? (int)strcspn(o->key.text, ",") : 0;
    if (o->key.key.nparts <= 1) {
        return true;
    }
    if (option) {
        message_error("%s takes one URL, -k names several parts", option);
    } else if (o->command->bit & COMMAND_ON_LIST) {
        message_error("an entry of a list is one text, -k names several");
    } else {
        return true;
    }
    snprintf(words, sizeof(words), "-k %.*s", first, o->key.text);
    pairs_hint(o, "key", words);
    return false;
}

/* Pairs of which one depends on the value of an option, or on a third option. */
static bool values_fit(const struct options *o)
{
    const bool has_path =
        key_has_path(&o->key.key) || key_has_path(&o->group.by_key) || key_has_path(&o->key.time);
    const bool has_field = key_has_field(&o->key.key) || key_has_field(&o->group.by_key) ||
                           key_has_field(&o->key.time);
    const bool to_output = o->command->bit == COMMAND_DEDUP && o->seen.path && o->print.output;
    const bool quiet_store =
        o->command->bit == COMMAND_DEDUP && o->seen.path && o->print.quiet && !o->seen.dry_run;
    const bool has_limit = o->seen.memory > 0;
    const char *profile = o->profile.name ? o->profile.name : "";
    const struct {
        bool both;
        const char *text;
        const char *drop;
        const char *hint;
    } pairs[] = {
        {to_output && o->seen.no_log,
         "-o with -s is written exactly once, for which a store needs its log", "no-log", ""},
        {to_output && o->seen.dry_run,
         "-o with -s has each line exactly once, and with -n those lines come again", "output tee",
         " FILE > NEW"},
        {to_output && o->print.count,
         "-o with -s has each line exactly once, and -c prints a number", "output tee",
         " FILE > NEW"},
        {has_limit && o->seen.path && o->seen.dry_run && o->command->bit == COMMAND_DEDUP,
         "--memory with -s is for a run that adds to the store", "memory", ""},
        {has_limit && o->seen.path && o->seen.no_log, "--memory with -s needs the log of the store",
         "memory", ""},
        {has_limit && o->seen.path && o->key.time_text,
         "--memory sets keys aside, and cannot keep the times of their lines", "memory", ""},
        {has_limit && o->seen.nexcludes > 0, "--memory limits the set of a run, not what -x names",
         "memory", ""},
        {has_limit && o->seen.window > 0,
         "--memory sets keys aside, and cannot forget them by the time of their lines", "memory",
         ""},
        {has_limit && o->seen.capacity > 0,
         "--capacity takes memory for all keys at once, --memory limits it", "capacity", ""},
        {has_limit && o->seen.filter && strcmp(o->seen.filter, "compact") != 0,
         "--memory is for the filter compact", "filter bits hashes", ""},
        {o->print.canonical && o->print.count && !o->print.repeats,
         "-c prints a number, --canonical prints canonical forms", "canonical", ""},
        {o->key.missing == MISSING_EMPTY && o->key.key.nparts < 2,
         "--missing=empty is for a key of several parts", "missing", ""},
        {o->key.has_separator && has_path && !has_field, "-t has no meaning with a JSON path",
         "separator", ""},
        {o->key.format == FORMAT_JSONL && !has_path, "--format jsonl needs a path: -k .PATH", "key",
         "-k .url"},
        {o->key.format == FORMAT_LINES && has_path, "a line has numbered fields, not a path",
         "format", ""},
        {o->funnel && o->source != SOURCE_GUAVA, "--funnel is for Guava's filters", "format",
         "--format guava"},
        {o->source == SOURCE_GUAVA && !o->funnel,
         "Guava's file does not say its funnel: --funnel bytes, utf8 or utf16", "",
         "--funnel utf8"},
        {o->print.fingerprint && o->profile.name && strncmp(profile, "scrapy", 6) != 0,
         "--fingerprint is Scrapy's, and needs -p scrapy", "profile", ""},
        {o->key.base && (strcmp(profile, "none") == 0 || strncmp(profile, "none/", 5) == 0),
         "-p none reads no URLs, --base has nothing to resolve", "profile", ""},
    };
    if (quiet_store) {
        message_error("-q ends at the first new line, so the store would have no other");
        message_hint("unseen add %s%s", typed_quoted(o->seen.path), typed_inputs());
        return false;
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (pairs[i].both) {
            message_error("%s", pairs[i].text);
            pairs_hint(o, pairs[i].drop, pairs[i].hint);
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
