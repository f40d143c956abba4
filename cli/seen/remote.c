/* SPDX-License-Identifier: MIT */
#include "seen/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
#include "clock.h"
#include "print/message.h"

enum {
    READ_BYTES = 16 * 1024,
    PART_BYTES = 240,
    PAUSE_NS = 50 * 1000 * 1000
};

/* ---- Bytes ----------------------------------------------------------------------------------- */

static bool report_gone(struct remote *r)
{
    r->is_gone = true;
    message_error("the server at %s has gone away", r->address);
    message_hint("nothing is lost that was not printed: run this again when the server is back");
    return false;
}

static bool send_all(struct remote *r)
{
    const char *data = r->out.data;
    size_t len = r->out.len;
    while (len > 0) {
        const ssize_t n = send(r->fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return report_gone(r);
        }
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return true;
}

static bool receive(struct remote *r)
{
    if (!text_reserve(&r->in, READ_BYTES)) {
        return message_no_memory();
    }
    ssize_t n;
    do {
        n = recv(r->fd, r->in.data + r->in.len, r->in.cap - r->in.len, 0);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        return report_gone(r);
    }
    r->in.len += (size_t)n;
    return true;
}

/* The next line of the server, without its newline. It is valid until the next call. */
static bool read_line(struct remote *r, struct unseen_bytes *line_out)
{
    const char *newline = NULL;
    size_t known = r->at;
    if (r->at == r->in.len) {
        text_clear(&r->in);
        r->at = 0;
        known = 0;
    }
    while (!(newline =
                 r->in.len > known ? memchr(r->in.data + known, '\n', r->in.len - known) : NULL)) {
        known = r->in.len;
        if (!receive(r)) {
            return false;
        }
    }
    const char *begin = r->in.data + r->at;
    *line_out = (struct unseen_bytes){begin, (size_t)(newline - begin)};
    r->at += line_out->len + 1;
    return true;
}

static bool is_error(struct unseen_bytes line)
{
    return line.len >= 2 && memcmp(line.data, "E ", 2) == 0;
}

static bool report_answer(const struct remote *r, struct unseen_bytes line)
{
    const int len = line.len < 512 ? (int)line.len : 512;
    message_error("the server at %s answers: %.*s", r->address, is_error(line) ? len - 2 : len,
                  is_error(line) ? line.data + 2 : line.data);
    return false;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool put(struct remote *r, const char *data, size_t len)
{
    if (!text_reserve(&r->out, len)) {
        return message_no_memory();
    }
    if (len > 0) {
        memcpy(r->out.data + r->out.len, data, len);
        r->out.len += len;
    }
    return true;
}

/* "unseen 1 profile=crawl/2 key=64 items=0" */
static bool read_greeting(struct remote *r)
{
    static const char start[] = "unseen 1 profile=";
    const size_t start_len = sizeof(start) - 1;
    struct unseen_bytes line;
    if (!read_line(r, &line)) {
        return false;
    }
    if (line.len < start_len || memcmp(line.data, start, start_len) != 0) {
        return report_answer(r, line);
    }
    const char *begin = line.data + start_len;
    const char *end = memchr(begin, ' ', line.len - start_len);
    const size_t len = end ? (size_t)(end - begin) : line.len - start_len;
    if (len >= sizeof(r->profile)) {
        return report_answer(r, line);
    }
    memcpy(r->profile, begin, len);
    r->profile[len] = '\0';
    return true;
}

static bool send_token(struct remote *r, const char *token)
{
    struct unseen_bytes line;
    r->out.len = 0;
    if (!put(r, "T ", 2) || !put(r, token, strlen(token)) || !put(r, "\n", 1) || !send_all(r) ||
        !read_line(r, &line)) {
        return false;
    }
    return line.len == 2 || report_answer(r, line);
}

/* False if there is no server; errno has the cause. */
static bool connect_once(struct remote *r, const struct address *a)
{
    r->fd = socket(a->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->fd >= 0 && connect(r->fd, (const struct sockaddr *)&a->bytes, a->len) == 0) {
        return true;
    }
    const int error = errno;
    if (r->fd >= 0) {
        (void)close(r->fd); /* nothing was said */
        r->fd = -1;
    }
    errno = error;
    return false;
}

static bool connect_within(struct remote *r, const struct address *a, double wait)
{
    const struct timespec pause = {0, PAUSE_NS};
    const double start = clock_now();
    while (!connect_once(r, a)) {
        const int error = errno;
        if ((error != ENOENT && error != ECONNREFUSED) || clock_now() - start >= wait) {
            errno = error;
            return false;
        }
        (void)nanosleep(&pause, NULL); /* a signal makes it shorter */
    }
    return true;
}

bool remote_open(struct remote *r, const char *address, const char *token, double wait)
{
    struct address a;
    *r = (struct remote){.address = address, .fd = -1};
    if (!address_read(&a, address)) {
        message_error("%s is no address of a server", address);
        message_hint("unix:PATH, or 127.0.0.1:7007");
        return false;
    }
    if (!connect_within(r, &a, wait)) {
        message_error("cannot connect to %s: %s", address, strerror(errno));
        message_hint("unseen serve STORE --listen %s starts a server there", address);
        return false;
    }
    return read_greeting(r) && (!token || send_token(r, token));
}

void remote_close(struct remote *r)
{
    if (r->fd >= 0) {
        (void)close(r->fd); /* all answers have come */
    }
    text_release(&r->out);
    text_release(&r->in);
    *r = (struct remote){.fd = -1};
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* A key out of JSON may have any bytes. */
static bool report_newline(const struct remote *r, const struct unseen_bytes *items, size_t n)
{
    size_t i = 0;
    while (i < n && (items[i].len == 0 || !memchr(items[i].data, '\n', items[i].len))) {
        i++;
    }
    message_error("a key has a newline in it, which the server at %s cannot take: %.*s", r->address,
                  items[i].len < 100 ? (int)items[i].len : 100, items[i].data);
    return false;
}

/* The sums of short parts fit into bytes, so the compiler makes the loop wide. */
static size_t count_newlines(const char *data, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i += PART_BYTES) {
        const size_t end = len - i < PART_BYTES ? len : i + PART_BYTES;
        uint8_t sum = 0;
        for (size_t j = i; j < end; j++) {
            sum = (uint8_t)(sum + (data[j] == '\n'));
        }
        count += sum;
    }
    return count;
}

/* How many items from the first on stand behind each other as lines of the input, and how many bytes
 * they are without the last newline. */
static size_t count_neighbours(const struct unseen_bytes *items, size_t n, size_t *len_out)
{
    const char *end = items[0].data + items[0].len;
    size_t i = 1;
    while (i < n && items[i].data == end + 1 && *end == '\n') {
        end = items[i].data + items[i].len;
        i++;
    }
    *len_out = (size_t)(end - items[0].data);
    return i;
}

static bool put_batch(struct remote *r, bool adds, const struct unseen_bytes *items, size_t n)
{
    char head[32];
    const int head_len = snprintf(head, sizeof(head), "B %zu %c\n", n, adds ? 'A' : 'C');
    size_t size = (size_t)head_len;
    for (size_t i = 0; i < n; i++) {
        size += items[i].len + 1;
    }
    r->out.len = 0;
    if (!text_reserve(&r->out, size)) {
        return message_no_memory();
    }
    char *to = r->out.data;
    memcpy(to, head, (size_t)head_len);
    to += head_len;
    for (size_t i = 0; i < n;) {
        const char *from = items[i].data;
        size_t len;
        i += count_neighbours(items + i, n - i, &len);
        if (len > 0) {
            memcpy(to, from, len);
        }
        to += len;
        *to++ = '\n';
    }
    r->out.len = size;
    return count_newlines(r->out.data, size) == n + 1 || report_newline(r, items, n);
}

/* A URL that another worker has leased is not new, and not there yet. */
static bool read_marks(struct remote *r, bool adds, size_t n, uint8_t *verdicts)
{
    struct unseen_bytes line;
    if (!read_line(r, &line)) {
        return false;
    }
    if (line.len != n || is_error(line)) {
        return report_answer(r, line);
    }
    for (size_t i = 0; i < n; i++) {
        if (line.data[i] == 'E') {
            message_error("the server at %s could not take a line: it may be too long, or the "
                          "server only answers questions",
                          r->address);
            message_hint("--token-file FILE lets clients of a port change the store; -n only asks");
            return false;
        }
        const bool is_new = adds ? line.data[i] == '1' : line.data[i] != '1';
        verdicts[i] = is_new ? UNSEEN_NEW : UNSEEN_SEEN;
    }
    return true;
}

bool remote_ask(struct remote *r, bool adds, const struct unseen_bytes *items, size_t n,
                uint8_t *verdicts)
{
    return put_batch(r, adds, items, n) && send_all(r) && read_marks(r, adds, n, verdicts);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* The text behind "name": in a line of JSON without spaces; "" if it is not there. */
static const char *value_of(const char *json, const char *name)
{
    char wanted[40];
    snprintf(wanted, sizeof(wanted), "\"%s\":", name);
    const char *found = strstr(json, wanted);
    return found ? found + strlen(wanted) : "";
}

/* The answer to I is what `unseen info --json` prints. */
void remote_stats(struct remote *r, struct unseen_set_stats *stats_out)
{
    struct unseen_bytes line;
    char json[4096];
    r->out.len = 0;
    if (r->is_gone || r->fd < 0 || !put(r, "I\n", 2) || !send_all(r) || !read_line(r, &line) ||
        is_error(line) || line.len >= sizeof(json)) {
        return;
    }
    memcpy(json, line.data, line.len);
    json[line.len] = '\0';
    stats_out->nkeys = strtoull(value_of(json, "keys"), NULL, 10);
    stats_out->memory = strtoull(value_of(json, "memory_bytes"), NULL, 10);
    stats_out->fpr_promise = strtod(value_of(json, "fpr_promise"), NULL);
    stats_out->fpr_estimate = strtod(value_of(json, "fpr_estimate"), NULL);
    if (sscanf(value_of(json, "filter"), "\"%19[a-z-]", r->filter) == 1) {
        stats_out->filter = r->filter;
    }
}
