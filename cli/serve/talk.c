/* SPDX-License-Identifier: MIT */
#include "serve/talk.h"

#include <string.h>

static const struct dialect *const dialects[] = {
    &squid_dialect,     &squid_rewrite_dialect, &policy_dialect,
    &tcp_table_dialect, &socketmap_dialect,     &http_auth_dialect,
};

const struct dialect *talk_dialect(const char *name)
{
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
        if (strcmp(dialects[i]->name, name) == 0) {
            return dialects[i];
        }
    }
    return NULL;
}

size_t talk_take(struct talk *t, const char *data, size_t len, bool at_end)
{
    size_t at = 0;
    while (at < len && !t->over && !t->failed && t->out.len < TALK_AHEAD) {
        const size_t n = t->dialect->take(t, data + at, len - at, at_end);
        if (n == 0) {
            break;
        }
        t->known = 0;
        at += n;
    }
    return at;
}

void talk_release(struct talk *t)
{
    text_release(&t->out);
}

/* ---- For protocols ---------------------------------------------------------------------------- */

enum talk_line talk_line(struct talk *t, const char *data, size_t len, bool at_end,
                         struct unseen_bytes *line_out, size_t *used_out)
{
    const char *newline = memchr(data + t->known, '\n', len - t->known);
    const size_t line_len = newline ? (size_t)(newline - data) : len;
    const bool too_long = line_len > TALK_LINE;
    const bool was_skipped = t->skips;
    *line_out = (struct unseen_bytes){data, line_len};
    *used_out = line_len + (newline != NULL);
    if (!newline && !at_end && !too_long && !was_skipped) {
        t->known = len;
        *used_out = 0;
        return TALK_NONE;
    }
    t->skips = !newline && (was_skipped || too_long);
    return was_skipped ? TALK_SKIPPED : too_long ? TALK_LONG : TALK_WHOLE;
}

void talk_put(struct talk *t, const char *data, size_t len)
{
    if (len == 0 || t->failed) {
        return;
    }
    if (!text_reserve(&t->out, len)) {
        t->failed = true;
        return;
    }
    memcpy(t->out.data + t->out.len, data, len);
    t->out.len += len;
}

void talk_puts(struct talk *t, const char *text)
{
    talk_put(t, text, strlen(text));
}

struct unseen_bytes talk_word(struct unseen_bytes *text, char at)
{
    const char *end = text->len > 0 ? memchr(text->data, at, text->len) : NULL;
    const struct unseen_bytes word = {text->data, end ? (size_t)(end - text->data) : text->len};
    const size_t used = word.len + (end != NULL);
    *text = (struct unseen_bytes){text->data + used, text->len - used};
    return word;
}

bool talk_is(struct unseen_bytes text, const char *word)
{
    const size_t len = strlen(word);
    return text.len == len && memcmp(text.data, word, len) == 0;
}

/* The value of a hexadecimal digit; 16 for anything else. */
static unsigned digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    const char small = (char)(c | 0x20);
    return small >= 'a' && small <= 'f' ? (unsigned)(small - 'a' + 10) : 16;
}

bool talk_unescape(struct unseen_bytes text, char *out, size_t *len_out)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '%') {
            out[n++] = text.data[i];
            continue;
        }
        const unsigned high = text.len - i > 2 ? digit(text.data[i + 1]) : 16;
        const unsigned low = text.len - i > 2 ? digit(text.data[i + 2]) : 16;
        if (high > 15 || low > 15) {
            return false;
        }
        out[n++] = (char)(high << 4 | low);
        i += 2;
    }
    *len_out = n;
    return true;
}
