/* SPDX-License-Identifier: MIT */
#include "serve/asking.h"

#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "serve/listed.h"
#include "serve/listen.h"
#include "print/message.h"
#include "serve/session.h"
#include "stop.h"
#include "serve/talk.h"

/* ---- What was asked for ---------------------------------------------------------------------- */

bool asking_makes_store(const struct options *o)
{
    return o->seen.filter || o->seen.fpr > 0 || o->seen.capacity > 0 || o->seen.seed.len ||
           o->seen.key_bits || o->seen.no_log || o->seen.file_mode || o->profile.name ||
           o->profile.nrules > 0;
}

/* Bytes that would end a line, a string or a message of some protocol. */
static bool is_plain(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f || *text == '"' || *text == '\\') {
            return false;
        }
    }
    return true;
}

static bool check_text(const char *option, const char *text)
{
    if (text && (!is_plain(text) || !*text || strlen(text) > 1024)) {
        message_error("--%s must be one line of at most 1024 bytes, without quotes and backslashes",
                      option);
        return false;
    }
    return true;
}

static bool check_options(const struct options *o, const struct dialect *dialect)
{
    const char *name = dialect ? dialect->name : "";
    if (o->input.nfiles > 0) {
        message_error("one file is served");
        message_hint("unseen serve --protocol %s %s", o->serve.protocol, o->seen.path);
    } else if (!dialect) {
        message_error("unknown protocol %s", o->serve.protocol);
        message_hint(
            "one of squid, squid-rewrite, postfix-policy, tcp-table, socketmap, http-auth");
    } else if (asking_makes_store(o)) {
        message_error("--protocol only asks, and makes no store");
        message_hint("unseen build [OPTION]... %s FILE, then unseen serve --protocol %s %s",
                     o->seen.path, name, o->seen.path);
    } else if (o->serve.redirect && !dialect->has_redirect) {
        message_error("--redirect is for --protocol squid-rewrite");
        message_hint("unseen serve --protocol %s %s", name, o->seen.path);
    } else if (dialect->has_redirect && !o->serve.redirect) {
        message_error("--protocol %s needs a page to show instead", name);
        message_hint("unseen serve --protocol %s --redirect http://127.0.0.1/blocked.html %s", name,
                     o->seen.path);
    } else if (o->serve.reply && !dialect->has_reply) {
        message_error("the protocol %s has no place for --reply", name);
        message_hint("unseen serve --protocol %s %s", name, o->seen.path);
    } else {
        return check_text("reply", o->serve.reply) && check_text("redirect", o->serve.redirect);
    }
    return false;
}

/* ---- Standard input and output --------------------------------------------------------------- */

struct asking {
    struct talk talk;
    struct listed listed;
};

static size_t take(struct session *s, const char *data, size_t len, bool at_end)
{
    struct asking *a = s->state;
    struct talk *t = &a->talk;
    size_t at = 0;
    size_t n;
    listed_refresh(&a->listed);
    do {
        n = talk_take(t, data + at, len - at, at_end);
        at += n;
        if (t->out.len > 0) {
            output_write(&s->out, t->out.data, t->out.len);
        }
        text_clear(&t->out);
    } while (n > 0 && !t->over && !t->failed);
    if (t->failed) {
        message_error("out of memory for answers");
        s->failed = true;
    }
    if (t->over) {
        session_end(s);
    }
    return at;
}

static int run_on_pipes(struct asking *a)
{
    static const struct face face = {.take = take};
    struct session s = {.face = &face, .state = a, .in = STDIN_FILENO};
    int status = EXIT_TROUBLE;
    if (output_open(&s.out, NULL) && session_run(&s) && output_close(&s.out)) {
        status = EXIT_DONE;
    }
    const bool reader_gone = s.out.reader_gone;
    output_abandon(&s.out);
    session_release(&s);
    stop_die(reader_gone);
    return status;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static int run_on_socket(struct asking *a, const struct options *o)
{
    const bool listened = listen_run(o->serve.listen, &a->talk, &a->listed);
    stop_die(false);
    return listened ? EXIT_DONE : EXIT_TROUBLE;
}

int asking_run(const struct options *o, enum unseen_cpu cpu)
{
    const struct dialect *dialect = talk_dialect(o->serve.protocol);
    struct asking a = {
        .talk = {.dialect = dialect, .reply = o->serve.reply, .redirect = o->serve.redirect},
        .listed = {.o = o, .cpu = cpu}};
    int status = EXIT_TROUBLE;
    if (!check_options(o, dialect)) {
        return status;
    }
    a.listed.asks = dialect->asks;
    session_listen();
    if (listed_open(&a.listed)) {
        const struct lookup lookup = listed_lookup(&a.listed);
        a.talk.lookup = &lookup;
        status = o->serve.listen ? run_on_socket(&a, o) : run_on_pipes(&a);
    }
    talk_release(&a.talk);
    listed_close(&a.listed);
    return status;
}
