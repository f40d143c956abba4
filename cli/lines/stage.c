/* SPDX-License-Identifier: MIT */
#include "lines/stage.h"

#include <stdlib.h>
#include <string.h>

#include "print/message.h"
#include "print/typed.h"

static bool report_memory(const struct stage *s)
{
    message_error("%s: out of memory for its %s", s->name, s->format->name);
    return false;
}

static bool report_too_large(const struct stage *s)
{
    const unsigned log = s->window_log;
    message_error("%s: this %s takes a window of more than %u %s of memory", s->name,
                  s->format->name, 1U << (log < 30 ? log - 20 : log - 30),
                  log < 30 ? "MiB" : "GiB");
    if (log < WINDOW_LOG_MAX) {
        message_hint("to allow windows of up to 2 GiB: %s", typed_with("--long=31"));
    }
    return false;
}

bool stage_start(struct stage *s, const void *head, size_t len)
{
    s->raw = malloc(STAGE_RAW_BYTES);
    s->functions = s->from.back && s->format->quick ? s->format->quick : s->format;
    s->decoder = s->raw ? s->functions->create(s->window_log) : NULL;
    if (!s->decoder) {
        free(s->raw);
        return report_memory(s);
    }
    if (len > 0) {
        memcpy(s->raw, head, len);
    }
    s->len = len;
    s->unfinished = true;
    return true;
}

void stage_release(struct stage *s)
{
    s->functions->free(s->decoder);
    free(s->raw);
}

/* Reads coded bytes if all have been decoded; sets raw_end if there are no more. Returns a negative
 * value as input_read does. */
static ssize_t fill_raw(struct stage *s)
{
    if (s->at < s->len || s->raw_end) {
        return 0;
    }
    const ssize_t n = s->from.read(s->from.context, s->raw, STAGE_RAW_BYTES);
    if (n >= 0) {
        s->at = 0;
        s->len = (size_t)n;
        s->raw_end = n == 0;
    }
    return n;
}

/* Looks at the bytes behind a member: another member, or the end of the file. Zeros are padding, as
 * for gzip. False after an error that has been reported. */
static bool next_member(struct stage *s)
{
    while (s->at < s->len && s->raw[s->at] == 0) {
        s->at++;
    }
    if (s->at == s->len) {
        return true;
    }
    if (s->raw[s->at] != s->format->first) {
        message_error("%s: garbage after the %s", s->name, s->format->name);
        return false;
    }
    s->taken = 0;
    s->given = 0;
    s->unfinished = s->functions->again(s->decoder);
    return s->unfinished || report_memory(s);
}

/* Begins the member again, without the quick functions. False after an error that has been
 * reported. */
static bool member_again(struct stage *s)
{
    if (!s->from.back(s->from.context, s->taken + (s->len - s->at))) {
        return false;
    }
    s->functions->free(s->decoder);
    s->functions = s->format;
    s->decoder = s->format->create(s->window_log);
    s->at = 0;
    s->len = 0;
    s->raw_end = false;
    return s->decoder || report_memory(s);
}

/* Takes the bytes out of buf that the quick functions gave before. Returns the number of the
 * others. */
static size_t drop_given(struct stage *s, unsigned char *buf, size_t len)
{
    const size_t n = s->given < len ? (size_t)s->given : len;
    if (n > 0) {
        s->given -= n;
        memmove(buf, buf + n, len - n);
    }
    return len - n;
}

/* Decodes some of raw; *len_out bytes go to buf. False after an error that has been reported. */
static bool stage_step(struct stage *s, void *buf, size_t cap, size_t *len_out)
{
    *len_out = 0;
    s->holds_more = false;
    if (!s->unfinished && s->format->again) {
        return next_member(s);
    }
    struct decoder_flow flow = {s->raw + s->at, s->len - s->at, buf, cap};
    const char *why = "";
    const enum decoded status = s->functions->step(s->decoder, &flow, &why);
    const bool is_quick = s->functions != s->format;
    if (status == DECODED_DAMAGED && is_quick) {
        return member_again(s);
    }
    const size_t len = cap - flow.nout;
    s->taken += s->len - s->at - flow.nin;
    s->at = s->len - flow.nin;
    s->unfinished = status != DECODED_END;
    /* At the end of a frame the decoder holds nothing back; another call would begin the next
     * one. */
    s->holds_more = len == cap && s->unfinished;
    if (is_quick) {
        s->given += len;
        *len_out = len;
    } else {
        *len_out = drop_given(s, buf, len);
    }
    switch (status) {
    case DECODED_DAMAGED:
        message_error("%s: damaged %s: %s", s->name, s->format->name, why);
        if (s->format->is_text) {
            message_hint("to leave such characters out: %s %s | %s", s->format->command,
                         typed_quoted(s->name), typed_piped(s->name));
        }
        return false;
    case DECODED_TOO_LARGE:
        return report_too_large(s);
    case DECODED_NO_MEMORY:
        return report_memory(s);
    default:
        return true;
    }
}

/* The data ends within a member. False after an error that has been reported. */
static bool stage_cut(struct stage *s)
{
    if (s->functions != s->format) {
        return member_again(s);
    }
    message_error("%s: %s", s->name, s->format->cut);
    return false;
}

/* Returns the bytes that were decoded before some damage first, and the error at the next call. */
static ssize_t stage_read(void *context, void *buf, size_t cap)
{
    struct stage *s = context;
    cap = cap < (1U << 30) ? cap : (1U << 30); /* zlib counts in unsigned int */
    while (!s->failed) {
        const ssize_t status = s->holds_more ? 0 : fill_raw(s);
        if (status < 0) {
            return status;
        }
        if (s->raw_end && !s->unfinished) {
            return 0;
        }
        size_t len = 0;
        s->failed = !stage_step(s, buf, cap, &len);
        if (len > 0) {
            return (ssize_t)len;
        }
        if (s->raw_end && s->unfinished && !s->holds_more && !s->failed) {
            s->failed = !stage_cut(s);
        }
    }
    return -1;
}

struct source stage_source(struct stage *s)
{
    return (struct source){.read = stage_read, .context = s};
}
