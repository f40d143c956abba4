/* SPDX-License-Identifier: MIT
 *
 * From the command line to a running server. Only this file of serve/ knows the options. */
#include "commands/commands.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lines/profile.h"
#include "print/message.h"
#include "print/suggest.h"
#include "print/typed.h"
#include "seen/beyond.h"
#include "seen/filter_words.h"
#include "seen/stores.h"
#include "seen/token.h"
#include "serve/loop.h"
#include "stop.h"

enum {
    CLIENTS_MAX = 1000, /* unless --max-clients says something else */
    LOCAL_MODE = 0600
};

/* ---- What was asked for ---------------------------------------------------------------------- */

/* Whether there are options that only a new store has a use for. */
static bool makes_store(const struct options *o)
{
    return o->seen.filter || o->seen.fpr > 0 || o->seen.bits_per_key > 0 || o->seen.hashes ||
           o->seen.capacity > 0 || o->seen.seed.len || o->seen.key_bits || o->seen.no_log ||
           o->seen.window > 0 || (o->seen.file_mode && !o->serve.listen) || o->profile.name ||
           o->profile.nrules > 0;
}

/* No byte may end a line, a string or a message of some protocol. */
static bool check_text(const char *option, const char *text)
{
    bool is_plain = true;
    for (const char *c = text; c && *c; c++) {
        is_plain = is_plain && (unsigned char)*c >= 0x20 && !strchr("\x7f\"\\", *c);
    }
    if (text && (!is_plain || !*text || strlen(text) > 1024)) {
        message_error("--%s must be one line of at most 1024 bytes, without quotes and backslashes",
                      option);
        return false;
    }
    return true;
}

/* Without a token, anybody who reaches the port could change the store. */
static bool check_reach(const struct options *o)
{
    const char *where = o->serve.listen;
    if (where && !o->seen.token_file && listener_is_remote(where)) {
        message_error("%s accepts connections from other machines without a token", where);
        message_hint("behind a firewall: %s", typed_with("--token-file FILE"));
        return false;
    }
    return true;
}

/* Checks the options that are about clients that connect. */
static bool check_clients(const struct options *o)
{
    static const char prefix[] = "unix:";
    const char *where = o->serve.listen;
    const bool is_local = where && strncmp(where, prefix, sizeof(prefix) - 1) == 0;
    const bool is_asked_only =
        o->serve.protocol || (o->seen.dry_run && !(where && listener_is_remote(where)));
    if (o->serve.group && !is_local) {
        message_error("--group is for a unix: socket, and %s is not one", where);
        message_hint("%s", typed_with("--listen unix:PATH"));
    } else if (o->seen.token_file && is_local) {
        message_error(
            "--token-file is for a port: who may open a unix: socket may change the store");
        message_hint("%s", typed_changed("token-file", "--mode 660 --group GROUP"));
    } else if (o->seen.token_file && is_asked_only) {
        message_error("--token-file lets clients change the store, which %s never does",
                      o->serve.protocol ? "--protocol" : "-n");
        message_hint("%s", typed_without("token-file"));
    } else {
        return true;
    }
    return false;
}

static bool check_line_protocol(const struct options *o)
{
    if (o->input.nfiles > 0) {
        message_error("one file is served, and requests come from standard input");
        message_hint("unseen serve %s < %s", typed_quoted(o->seen.path),
                     typed_quoted(o->input.files[0]));
        return false;
    }
    if (o->seen.dry_run && makes_store(o)) {
        message_error("-n only reads, and makes no store");
        message_hint("options of a store belong to the command that makes it: %s",
                     typed_without(STORES_SETTINGS));
        return false;
    }
    return check_reach(o);
}

/* Reports an unknown protocol. Programs have other names than the protocols that they speak. */
static void report_protocol(const char *name)
{
    static const struct {
        const char *program;
        const char *protocol;
    } speaks[] = {
        {"nginx", "http-auth"},       {"http", "http-auth"},     {"postfix", "postfix-policy"},
        {"policy", "postfix-policy"}, {"sendmail", "socketmap"}, {"tcp", "tcp-table"},
    };
    struct suggestion n = {.wanted = name};
    const struct protocol *protocol = NULL;
    for (size_t i = 0; (protocol = protocol_at(i)); i++) {
        if (protocol->name) {
            suggest_try(&n, protocol->name);
        }
    }
    for (size_t i = 0; i < sizeof(speaks) / sizeof(speaks[0]); i++) {
        n.best = strcmp(speaks[i].program, name) == 0 ? speaks[i].protocol : n.best;
    }
    message_error("unknown protocol %s: it is one of %s", name, protocol_names);
    message_hint("%s", typed_with("--protocol %s", n.best ? n.best : "NAME"));
}

/* Reports that the service has no answers of the kind that an option sets, or lacks the option. */
static bool check_answers(const struct options *o, const struct protocol *protocol)
{
    const char *name = o->serve.protocol;
    if (o->serve.redirect && !protocol->has_redirect) {
        message_error("--redirect is for --protocol squid-rewrite");
        message_hint("%s", typed_with("--protocol squid-rewrite"));
        return false;
    }
    if (protocol->has_redirect && !o->serve.redirect) {
        message_error("--protocol %s needs a page to show instead", name);
        message_hint("%s", typed_with("--redirect http://127.0.0.1/blocked.html"));
        return false;
    }
    if (o->serve.reply && !protocol->has_reply) {
        message_error("the protocol %s has no place for --reply", name);
        message_hint("%s", typed_without("reply"));
        return false;
    }
    return check_text("reply", o->serve.reply) && check_text("redirect", o->serve.redirect);
}

static bool check_protocol(const struct options *o, const struct protocol *protocol)
{
    const char *name = o->serve.protocol;
    if (o->input.nfiles > 0) {
        message_error("one file is served");
        message_hint("unseen serve --protocol %s %s", name, typed_quoted(o->seen.path));
        return false;
    }
    if (!protocol) {
        report_protocol(name);
        return false;
    }
    if (makes_store(o)) {
        message_error("--protocol only asks, and makes no store");
        message_hint("options of a store belong to the command that makes it: %s",
                     typed_without(STORES_SETTINGS));
        return false;
    }
    if (!check_answers(o, protocol)) {
        return false;
    }
    if (o->serve.listen && listener_is_remote(o->serve.listen)) {
        message_warning("%s accepts connections from other machines, and nothing is encrypted: "
                        "use a firewall",
                        o->serve.listen);
    }
    return true;
}

/* ---- The file that is served ----------------------------------------------------------------- */

static bool serve_open_store(struct service *s, const struct options *o)
{
    struct seen_options seen = o->seen;
    if (seen.memory > 0 && !s->read_only) {
        message_error("--memory is for a server that only asks: while a new image is written, "
                      "nobody would get an answer");
        message_hint("%s", typed_with("-n"));
        return false;
    }
    if (o->serve.listen) {
        seen.file_mode = 0; /* --mode is the socket's */
    }
    s->notify_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (s->notify_fd < 0) {
        s->notify_fd = 0;
        message_error("cannot make an event descriptor: %s", strerror(errno));
        return false;
    }
    seen.notify_fd = s->notify_fd;
    if (s->read_only
            ? !stores_open_to_read(&s->store, s->path, s->seen, s->cpu)
            : !stores_open(&s->store, s->path, UNSEEN_STORE_CREATE, &seen, &o->profile, s->cpu)) {
        return false;
    }
    s->may_change = !s->read_only;
    const struct unseen_store_info info = stores_info(s->store);
    s->no_log = info.no_log;
    /* Leases that cannot be opened are reported now, and not when somebody asks for one. */
    return s->read_only || info.note == 0 || service_open_leases(s);
}

static bool open_service(struct service *s, const struct options *o)
{
    const bool is_list = stores_type_of(s->path) == STORES_LIST;
    if (!s->protocol->finds && !is_list) {
        return serve_open_store(s, o);
    }
    if (!s->protocol->finds && makes_store(o)) {
        message_error("%s is a list: it is served as it was built", s->path);
        message_hint("%s", typed_without(STORES_SETTINGS));
        return false;
    }
    return (!o->serve.expressions ||
            profile_create(&s->expressions, &o->profile, "safebrowsing", s->cpu)) &&
           service_open_list(s);
}

/* True if the store's filter answers as promised; if not, that is reported. */
static bool serve_check_fill(const struct service *s)
{
    return !s->store ||
           filters_check_full(s->seen, unseen_store_set(s->store), s->counts.nnew, s->counts.nseen);
}

/* Changes whose answers were written become durable; the others are forgotten. *good_out: the store
 * answered as promised. */
static bool close_service(struct service *s, bool run_failed, bool *good_out)
{
    bool durable = !s->leases_broken;
    bool good = true;
    if (!s->protocol->finds && s->store) {
        (void)service_commit_wait(s);
        service_poll(s); /* notes the leases that have ended */
        service_close_leases(s);
        good = serve_check_fill(s);
        durable = service_commit_wait(s) && stores_close(s->store, s->path, s->seen, run_failed) &&
                  durable;
        if (s->broken) {
            (void)unseen_store_close(s->store, NULL); /* the cause has been reported */
        }
        s->store = NULL;
    }
    good = good && serve_check_fill(s);
    service_close_list(s);
    unseen_url_free(s->expressions);
    if (s->notify_fd > 0) {
        (void)close(s->notify_fd); /* only wakes us */
    }
    *good_out = good;
    return durable;
}

static bool close_output(void)
{
    if (close(STDOUT_FILENO) != 0 && errno != EINTR) {
        message_error("cannot write standard output: %s", strerror(errno));
        return false;
    }
    return true;
}

static bool read_token(struct service *s, char token[TOKEN_MAX + 2])
{
    const char *name = s->seen->token_file;
    static const char hint[] =
        "(umask 077; head -c 24 /dev/urandom | base64 > NEW.token) makes one";
    if (name && !token_read(name, TOKEN_MIN, hint, token)) {
        return false;
    }
    s->token = (struct unseen_bytes){token, name ? strlen(token) : 0};
    return true;
}

static bool serve_loop(struct service *s, const struct options *o, bool *reader_gone_out)
{
    const struct listen_options where = {
        .address = o->serve.listen,
        .mode = o->seen.file_mode ? o->seen.file_mode : LOCAL_MODE,
        .group = o->serve.group,
        .max_clients = o->serve.max_clients ? (size_t)o->serve.max_clients : CLIENTS_MAX};
    return loop_run(s, o->serve.listen ? &where : NULL, reader_gone_out);
}

int serve_run(const struct options *o, enum unseen_cpu cpu)
{
    char token[TOKEN_MAX + 2] = "";
    struct service s = {.seen = &o->seen,
                        .protocol = protocol_find(o->serve.protocol),
                        .path = o->seen.path,
                        .cpu = cpu,
                        .reply = o->serve.reply ? o->serve.reply : "REJECT listed",
                        .redirect = o->serve.redirect,
                        .read_only = o->seen.dry_run,
                        .find = service_find};
    bool reader_gone = false;
    if (!check_clients(o) || (o->seen.memory > 0 && !beyond_check(o->seen.memory)) ||
        !(o->serve.protocol ? check_protocol(o, s.protocol) : check_line_protocol(o)) ||
        !read_token(&s, token)) {
        return EXIT_TROUBLE;
    }
    s.needs_token = o->serve.listen && listener_is_open(o->serve.listen);
    loop_block_signals(o->serve.listen != NULL);
    bool done = open_service(&s, o);
    if (done) {
        service_watch_fill(&s);
        done = serve_loop(&s, o, &reader_gone);
    }
    bool good = true;
    const bool closed = close_service(&s, !done, &good);
    done = closed && done;
    /* The end of the output tells the client that all is durable: it comes last. */
    done = done && (o->serve.listen || close_output());
    if (closed) {
        stop_die(reader_gone); /* a failed commit must not look like an end in order */
    }
    return done && good ? EXIT_DONE : EXIT_TROUBLE;
}
