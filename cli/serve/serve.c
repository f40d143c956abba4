/* SPDX-License-Identifier: MIT
 *
 * From the command line to a running server. Only this file of serve/ knows the options. */
#include "serve/serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "lines/profile.h"
#include "memory/stores.h"
#include "print/message.h"
#include "serve/connection.h"
#include "serve/list_service.h"
#include "serve/loop.h"
#include "serve/protocol.h"
#include "serve/store_service.h"
#include "stop.h"

struct serve {
    const struct options *o;
    enum unseen_cpu cpu;
    const struct protocol *protocol;
    struct list_service list;
    struct store_service store;
};

/* ---- What was asked for ---------------------------------------------------------------------- */

/* Whether there are options that only a new store has a use for. */
static bool makes_store(const struct options *o)
{
    return o->filter || o->fpr > 0 || o->capacity > 0 || o->seed.len || o->key_bits || o->no_log ||
           o->file_mode || o->profile || o->nrules > 0;
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

static bool check_line_protocol(const struct options *o)
{
    if (o->nfiles > 0) {
        message_error("one file is served, and requests come from standard input");
        message_hint("unseen serve %s < FILE", o->store);
        return false;
    }
    if (o->listen || o->reply || o->redirect || o->expressions) {
        message_error("--%s needs --protocol", o->listen     ? "listen"
                                               : o->reply    ? "reply"
                                               : o->redirect ? "redirect"
                                                             : "expressions");
        message_hint("unseen serve --protocol NAME %s", o->store);
        return false;
    }
    return true;
}

static bool check_protocol(const struct options *o, const struct protocol *protocol)
{
    const char *name = o->protocol;
    char names[256];
    if (o->nfiles > 0) {
        message_error("one file is served");
        message_hint("unseen serve --protocol %s %s", name, o->store);
    } else if (!protocol) {
        protocol_names(names, sizeof(names));
        message_error("unknown protocol %s", name);
        message_hint("one of %s", names);
    } else if (makes_store(o)) {
        message_error("--protocol only asks, and makes no store");
        message_hint("unseen build [OPTION]... %s FILE, then unseen serve --protocol %s %s",
                     o->store, name, o->store);
    } else if (o->redirect && !protocol->has_redirect) {
        message_error("--redirect is for --protocol squid-rewrite");
        message_hint("unseen serve --protocol %s %s", name, o->store);
    } else if (protocol->has_redirect && !o->redirect) {
        message_error("--protocol %s needs a page to show instead", name);
        message_hint("unseen serve --protocol %s --redirect http://127.0.0.1/blocked.html %s", name,
                     o->store);
    } else if (o->reply && !protocol->has_reply) {
        message_error("the protocol %s has no place for --reply", name);
        message_hint("unseen serve --protocol %s %s", name, o->store);
    } else {
        return check_text("reply", o->reply) && check_text("redirect", o->redirect);
    }
    return false;
}

/* ---- The file that is served ----------------------------------------------------------------- */

static bool open_to_read(const void *context, struct unseen_store **store_out)
{
    const struct serve *v = context;
    return stores_open_to_read(store_out, v->o->store, v->o, v->cpu);
}

static void report_commit(const void *context, const struct unseen_error *error)
{
    const struct serve *v = context;
    stores_report_commit(v->o->store, v->o, error);
}

/* A list, or a store that is only read: for another program's protocol. */
static bool open_to_find(struct serve *v)
{
    v->list.open_store = open_to_read;
    return (!v->o->expressions ||
            profile_create(&v->list.expressions, v->o, "safebrowsing", v->cpu)) &&
           list_service_open(&v->list);
}

/* A list only answers: no option is given that would make a store. */
static bool open_list(struct serve *v)
{
    if (makes_store(v->o)) {
        message_error("%s is a list: it is served as it was built", v->o->store);
        message_hint("unseen serve %s", v->o->store);
        return false;
    }
    v->store.list = &v->list;
    return list_service_open(&v->list);
}

static bool open_store(struct serve *v)
{
    struct store_service *s = &v->store;
    struct unseen_store_info info = {.size = sizeof(info)};
    const bool opened =
        v->o->dry_run ? open_to_read(v, &s->store)
                      : stores_open(&s->store, s->path, UNSEEN_STORE_CREATE, v->o, NULL, v->cpu);
    if (opened) {
        (void)unseen_store_info(s->store, &info); /* fails for a wrong size only */
        s->no_log = info.no_log;
    }
    return opened;
}

static bool open_file(struct serve *v)
{
    const struct options *o = v->o;
    v->list = (struct list_service){
        .path = o->store, .cpu = v->cpu, .protocol = v->protocol, .context = v};
    v->store = (struct store_service){
        .path = o->store, .read_only = o->dry_run, .report_commit = report_commit, .context = v};
    if (o->protocol) {
        return open_to_find(v);
    }
    return stores_kind_of(o->store) == STORES_LIST ? open_list(v) : open_store(v);
}

/* Changes whose answers were written become durable; the others are forgotten. */
static bool close_file(struct serve *v)
{
    struct unseen_store *store = v->store.store;
    list_service_close(&v->list);
    unseen_url_free(v->list.expressions);
    if (!store) {
        return true;
    }
    if (!store_service_commit_wait(&v->store)) {
        (void)unseen_store_close(store, NULL); /* the cause has been reported */
        return false;
    }
    return stores_close(store, v->o->store, v->o);
}

static bool close_output(void)
{
    if (close(STDOUT_FILENO) != 0 && errno != EINTR) {
        message_error("cannot write standard output: %s", strerror(errno));
        return false;
    }
    return true;
}

int serve_run(const struct options *o, enum unseen_cpu cpu)
{
    struct serve v = {.o = o, .cpu = cpu, .protocol = protocol_find(o->protocol)};
    int status = EXIT_TROUBLE;
    bool reader_gone = false;
    if (!(o->protocol ? check_protocol(o, v.protocol) : check_line_protocol(o))) {
        return status;
    }
    loop_block_signals();
    if (open_file(&v)) {
        const struct service service = {.protocol = v.protocol,
                                        .list = v.store.store ? NULL : &v.list,
                                        .store = o->protocol ? NULL : &v.store,
                                        .finder = list_service_finder(&v.list),
                                        .reply = o->reply ? o->reply : "REJECT listed",
                                        .redirect = o->redirect};
        const bool all_answered = loop_run(&service, o->listen, &reader_gone);
        /* The end of the output tells the client that all is durable: it comes last. */
        if (close_file(&v) && all_answered && (o->listen || close_output())) {
            status = EXIT_DONE;
        }
    } else {
        unseen_url_free(v.list.expressions);
    }
    stop_die(reader_gone);
    return status;
}
