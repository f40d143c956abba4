/* SPDX-License-Identifier: MIT */
#include "lines/entry_lines.h"

#include <string.h>
#include <strings.h>

/* In front of names that are to be blocked, and of the machine's own names. */
static const char *const local_addresses[] = {
    "0.0.0.0",     "127.0.0.1", "::",      "::0",     "::1",     "0",
    "fe80::1%lo0", "ff00::0",   "ff02::1", "ff02::2", "ff02::3", "255.255.255.255"};

/* The names that hosts files give to the machine itself. */
static const char *const local_names[] = {
    "localhost",     "localhost.localdomain", "localhost4",   "localhost6",   "local",
    "broadcasthost", "ip6-localhost",         "ip6-loopback", "ip6-localnet", "ip6-mcastprefix",
    "ip6-allnodes",  "ip6-allrouters",        "ip6-allhosts", "0.0.0.0",
};

/* What a page of the web begins with, in small letters. */
static const char *const page_starts[] = {"<!doctype html", "<html", "<?xml"};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct unseen_bytes skip_blanks(struct unseen_bytes in)
{
    const char *data = in.data;
    size_t n = 0;
    while (n < in.len && is_blank(data[n])) {
        n++;
    }
    return (struct unseen_bytes){data + n, in.len - n};
}

/* Takes the first word off the line. Its length is 0 if there is none. */
static struct unseen_bytes next_word(struct unseen_bytes *line)
{
    const struct unseen_bytes from = skip_blanks(*line);
    const char *data = from.data;
    size_t n = 0;
    while (n < from.len && !is_blank(data[n])) {
        n++;
    }
    *line = (struct unseen_bytes){data + n, from.len - n};
    return (struct unseen_bytes){data, n};
}

static bool is_one_of(struct unseen_bytes word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == word.len && strncasecmp(words[i], word.data, word.len) == 0) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof(words) / sizeof(*(words)))

static bool is_page(struct unseen_bytes line)
{
    for (size_t i = 0; i < sizeof(page_starts) / sizeof(*page_starts); i++) {
        const size_t len = strlen(page_starts[i]);
        if (line.len >= len && strncasecmp(line.data, page_starts[i], len) == 0) {
            return true;
        }
    }
    return false;
}

/* Reads "0.0.0.0 evil.example www.evil.example # why". False if the line is something else. */
static bool read_hosts_line(struct unseen_bytes line, enum entry_line *result,
                            void (*take)(void *context, struct unseen_bytes item), void *context)
{
    struct unseen_bytes rest = line;
    const struct unseen_bytes address = next_word(&rest);
    struct unseen_bytes name = next_word(&rest);
    if (name.len == 0 || !IS_ONE_OF(address, local_addresses)) {
        return false;
    }
    *result = ENTRY_LINE_SKIPPED;
    for (; name.len > 0 && *(const char *)name.data != '#'; name = next_word(&rest)) {
        if (!IS_ONE_OF(name, local_names)) {
            *result = ENTRY_LINE_TAKEN;
            take(context, name);
        }
    }
    return true;
}

struct entry_lines entry_lines_of(const struct entry_options *options,
                                  const struct key_options *key, enum unseen_kind kind, bool bytes)
{
    const bool names = kind == UNSEEN_KIND_EXPRESSIONS || kind == UNSEEN_KIND_MAIL;
    return (struct entry_lines){
        .key = key,
        .comments = options->comments ? options->comments
                    : bytes           ? ""
                                      : "#;!",
        .hosts = names && !key->text,
    };
}

enum entry_line entry_lines_read(const struct entry_lines *how, struct unseen_bytes line,
                                 void (*take)(void *context, struct unseen_bytes item),
                                 void *context)
{
    const struct unseen_bytes text = skip_blanks(line);
    enum entry_line result = ENTRY_LINE_TAKEN;
    if (text.len == 0) {
        return ENTRY_LINE_SKIPPED;
    }
    const char first = *(const char *)text.data;
    if (first != '\0' && strchr(how->comments, first)) {
        return ENTRY_LINE_SKIPPED;
    }
    if (first == '<' && is_page(text)) {
        return ENTRY_LINE_PAGE;
    }
    if (how->hosts && read_hosts_line(text, &result, take, context)) {
        return result;
    }
    return entries_find(how->key, line, take, context) ? ENTRY_LINE_TAKEN : ENTRY_LINE_NO_KEY;
}
