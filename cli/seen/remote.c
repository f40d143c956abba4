/* SPDX-License-Identifier: MIT */
#include "seen/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
#include "clock.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    READ_BYTES = 16 * 1024,
    PART_BYTES = 240,
    LINE_BYTES = 1 << 20,    /* a server's lines are shorter */
    SEND_BYTES = 512 * 1024, /* a whole question, as a rule; docs/decisions/serve.md */
    PAUSE_NS = 50 * 1000 * 1000
};

/* ---- Bytes ----------------------------------------------------------------------------------- */

static bool report_gone(struct remote *r)
{
    r->is_gone = true;
    message_error("the server at %s has gone away", r->address);
    message_hint("%srun this again when the server is back",
                 r->question == QUESTION_DEDUP ? "nothing is lost that was not printed: " : "");
    return false;
}

static void forget_pieces(struct remote *r)
{
    text_clear(&r->out);
    r->npieces = 0;
    r->nitems = 0;
}

/* Moves the front of n pieces by len bytes. */
static void take_sent(struct iovec *pieces, size_t n, size_t len)
{
    for (size_t i = 0; i < n && len > 0; i++) {
        const size_t here = len < pieces[i].iov_len ? len : pieces[i].iov_len;
        pieces[i].iov_base = (char *)pieces[i].iov_base + here;
        pieces[i].iov_len -= here;
        len -= here;
    }
}

/* Sends the head and all pieces, and forgets them. */
static bool remote_send_all(struct remote *r, const char *head)
{
    struct iovec pieces[1 + REMOTE_PIECES] = {{(char *)head, strlen(head)}};
    const size_t n = 1 + r->npieces;
    size_t left = pieces[0].iov_len;
    for (size_t i = 0; i < r->npieces; i++) {
        const struct remote_piece *p = &r->pieces[i];
        pieces[1 + i] = (struct iovec){p->data ? (char *)p->data : r->out.data + p->at, p->len};
        left += p->len;
    }
    while (left > 0) {
        const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = n};
        const ssize_t sent = sendmsg(r->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return report_gone(r);
        }
        if (sent > 0) {
            take_sent(pieces, n, (size_t)sent);
            left -= (size_t)sent;
        }
    }
    forget_pieces(r);
    return true;
}

static bool remote_receive(struct remote *r)
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
static bool remote_read_line(struct remote *r, struct unseen_bytes *line_out)
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
        if (known - r->at > LINE_BYTES) {
            message_error("what listens at %s is not unseen serve: its answer does not end",
                          r->address);
            r->is_gone = true;
            return false;
        }
        if (!remote_receive(r)) {
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

/* "unseen 1 profile=crawl/1 key=64 items=0" */
static bool read_greeting(struct remote *r)
{
    static const char start[] = "unseen 1 profile=";
    const size_t start_len = sizeof(start) - 1;
    struct unseen_bytes line;
    if (!remote_read_line(r, &line)) {
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
    const struct unseen_bytes text = {token, strlen(token)};
    return remote_put(r, &text, 1) && remote_send_all(r, "T ") && remote_read_line(r, &line) &&
           (line.len == 2 || report_answer(r, line));
}

/* A question that the socket cannot take at once costs a switch of processes for each part of
 * it. */
static void remote_widen(int fd)
{
    const int size = SEND_BYTES;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)); /* slower without */
}

/* False if there is no server; errno has the cause. */
static bool remote_connect_once(struct remote *r, const struct address *a)
{
    r->fd = socket(a->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->fd >= 0 && connect(r->fd, (const struct sockaddr *)&a->bytes, a->len) == 0) {
        remote_widen(r->fd);
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
    while (!remote_connect_once(r, a)) {
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
        message_error("%s is not the address of a server", address);
        message_hint("unix:PATH, or 127.0.0.1:7007");
        return false;
    }
    if (!connect_within(r, &a, wait)) {
        message_error("cannot connect to %s: %s", address, strerror(errno));
        message_hint("to start a server there: unseen serve STORE --listen %s",
                     typed_quoted(address));
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
    while (i + 1 < n && (items[i].len == 0 || !memchr(items[i].data, '\n', items[i].len))) {
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

/* How many bytes the items are with their newlines if they stand behind each other as lines of the
 * input; 0 if they do not. */
static size_t size_of_neighbours(const struct unseen_bytes *items, size_t n)
{
    const char *end = items[0].data;
    for (size_t i = 0; i < n; i++) {
        if (items[i].data != end || end[items[i].len] != '\n') {
            return 0;
        }
        end += items[i].len + 1;
    }
    return (size_t)(end - items[0].data);
}

/* Copies the items, each with a newline, behind r->out. Returns how many bytes that are; 0 without
 * memory. */
static size_t copy_items(struct remote *r, const struct unseen_bytes *items, size_t n)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        size += items[i].len + 1;
    }
    if (!text_reserve(&r->out, size)) {
        return 0;
    }
    char *to = r->out.data + r->out.len;
    for (size_t i = 0; i < n; i++) {
        if (items[i].len > 0) {
            memcpy(to, items[i].data, items[i].len);
        }
        to += items[i].len;
        *to++ = '\n';
    }
    r->out.len += size;
    return size;
}

bool remote_put(struct remote *r, const struct unseen_bytes *items, size_t n)
{
    if (n == 0) {
        return true;
    }
    struct remote_piece *piece = &r->pieces[r->npieces++];
    *piece = (struct remote_piece){.data = items[0].data, .len = size_of_neighbours(items, n)};
    if (piece->len == 0) {
        *piece = (struct remote_piece){.at = r->out.len, .len = copy_items(r, items, n)};
    }
    if (piece->len == 0) {
        return message_no_memory();
    }
    r->nitems += n;
    const char *begin = piece->data ? piece->data : r->out.data + piece->at;
    return count_newlines(begin, piece->len) == n || report_newline(r, items, n);
}

/* A URL that another worker has leased is not new, and not there yet. */
static bool read_marks(struct remote *r, size_t n, uint8_t *verdicts)
{
    const bool adds = r->question == QUESTION_DEDUP || r->question == QUESTION_ADD;
    struct unseen_bytes line;
    size_t nrefused = 0;
    if (!remote_read_line(r, &line)) {
        return false;
    }
    if (line.len != n || is_error(line)) {
        return report_answer(r, line);
    }
    for (size_t i = 0; i < n; i++) {
        if (line.data[i] == '\0' || !strchr("01LE", line.data[i])) {
            r->is_gone = true; /* a line must not be taken for seen by mistake */
            return report_answer(r, line);
        }
        const bool is_refused = line.data[i] == 'E';
        const bool is_new = adds ? line.data[i] == '1' : line.data[i] != '1';
        verdicts[i] = is_refused ? REMOTE_NO_ANSWER : is_new ? UNSEEN_NEW : UNSEEN_SEEN;
        nrefused += is_refused;
    }
    if (nrefused > 0 && r->question == QUESTION_REMOVE) {
        message_error(
            "the server at %s could not remove a line: the filter of its store may not be "
            "able to, or the server only answers questions",
            r->address);
        message_hint("clients of a port change the store with --token-file FILE; for the filter: "
                     "unseen info %s",
                     r->address);
    } else if (nrefused > 0) {
        message_error("the server at %s could not take a line: it may be too long, or the server "
                      "only answers questions",
                      r->address);
        message_hint("--token-file FILE lets clients of a port change the store%s",
                     r->question == QUESTION_DEDUP ? "; -n only asks" : "");
    }
    return nrefused == 0;
}

bool remote_ask(struct remote *r, enum server_question question, uint8_t *verdicts)
{
    static const char letters[] = {
        [QUESTION_CHECK] = 'C',
        [QUESTION_DEDUP] = 'A',
        [QUESTION_ADD] = 'A',
        [QUESTION_REMOVE] = 'R',
    };
    char head[32];
    const size_t n = r->nitems;
    r->question = question;
    snprintf(head, sizeof(head), "B %zu %c\n", n, letters[question]);
    return remote_send_all(r, head) && read_marks(r, n, verdicts);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* The text behind "name": in a line of JSON without spaces; "" if it is not there. */
static const char *remote_value(const char *json, const char *name)
{
    char wanted[40];
    snprintf(wanted, sizeof(wanted), "\"%s\":", name);
    const char *found = strstr(json, wanted);
    return found ? found + strlen(wanted) : "";
}

bool remote_info(struct remote *r, struct unseen_bytes *json_out)
{
    forget_pieces(r);
    return remote_send_all(r, "I\n") && remote_read_line(r, json_out) &&
           (!is_error(*json_out) || report_answer(r, *json_out));
}

void remote_stats(struct remote *r, struct unseen_set_stats *stats_out)
{
    struct unseen_bytes line;
    char json[4096];
    if (r->is_gone || r->fd < 0 || !remote_info(r, &line) || line.len >= sizeof(json)) {
        return;
    }
    memcpy(json, line.data, line.len);
    json[line.len] = '\0';
    stats_out->nkeys = strtoull(remote_value(json, "keys"), NULL, 10);
    stats_out->memory = strtoull(remote_value(json, "memory_bytes"), NULL, 10);
    stats_out->fpr_promise = strtod(remote_value(json, "fpr_promise"), NULL);
    stats_out->fpr_estimate = strtod(remote_value(json, "fpr_estimate"), NULL);
    if (sscanf(remote_value(json, "filter"), "\"%19[a-z-]", r->filter) == 1) {
        stats_out->filter = r->filter;
    }
}
