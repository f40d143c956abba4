/* SPDX-License-Identifier: MIT */
#include "commands/commands.h"

#include <unistd.h>

#include "serve/asking.h"
#include "commands/commands.h"
#include "serve/coprocess.h"
#include "print/message.h"
#include "serve/served.h"
#include "serve/session.h"
#include "stop.h"
#include "seen/stores.h"

struct serve {
    const struct options *o;
    struct served served;
    struct listed listed;
    struct session session;
    struct coprocess *coprocess;
};

static bool open_store(struct served *d, enum unseen_cpu cpu)
{
    const struct options *o = d->o;
    struct unseen_store_info info = {.size = sizeof(info)};
    const bool opened =
        o->seen.dry_run
            ? stores_open_to_read(&d->store, o->seen.path, &o->seen, cpu)
            : stores_open(&d->store, o->seen.path, UNSEEN_STORE_CREATE, &o->seen, &o->profile, cpu);
    if (opened) {
        (void)unseen_store_info(d->store, &info); /* fails for a wrong size only */
        d->no_log = info.no_log;
    }
    return opened;
}

/* A list only answers: nothing is chosen that would make a store. */
static bool open_list(struct serve *v, enum unseen_cpu cpu)
{
    const struct options *o = v->o;
    if (asking_makes_store(o)) {
        message_error("%s is a list: it is served as it was built", o->seen.path);
        message_hint("unseen serve %s", o->seen.path);
        return false;
    }
    v->listed = (struct listed){.o = o, .cpu = cpu, .lists_only = true};
    v->served.listed = &v->listed;
    return listed_open(&v->listed);
}

static bool prepare(struct serve *v, enum unseen_cpu cpu)
{
    struct session *s = &v->session;
    if (v->o->input.nfiles > 0) {
        message_error("one file is served, and requests come from standard input");
        message_hint("unseen serve %s < FILE", v->o->seen.path);
        return false;
    }
    if (v->o->serve.listen || v->o->serve.reply || v->o->serve.redirect ||
        v->o->serve.expressions) {
        message_error("--%s needs --protocol", v->o->serve.listen     ? "listen"
                                               : v->o->serve.reply    ? "reply"
                                               : v->o->serve.redirect ? "redirect"
                                                                      : "expressions");
        message_hint("unseen serve --protocol NAME %s", v->o->seen.path);
        return false;
    }
    v->coprocess = coprocess_create();
    if (!v->coprocess) {
        message_error("out of memory");
        return false;
    }
    session_listen();
    const bool is_list = stores_kind_of(v->o->seen.path) == STORES_LIST;
    if (!output_open(&s->out, NULL) ||
        !(is_list ? open_list(v, cpu) : open_store(&v->served, cpu))) {
        return false;
    }
    s->face = &coprocess_face;
    s->state = v->coprocess;
    s->served = &v->served;
    s->in = STDIN_FILENO;
    return true;
}

/* What was handed over becomes durable; what was not is forgotten. */
static bool close_store(struct serve *v)
{
    const bool committed = served_commit_wait(&v->served);
    if (v->served.listed) {
        listed_close(&v->listed);
        return true;
    }
    if (!committed) {
        (void)unseen_store_close(v->served.store, NULL); /* the cause has been reported */
        return false;
    }
    return stores_close(v->served.store, v->o->seen.path, &v->o->seen);
}

int serve_run(const struct options *o, enum unseen_cpu cpu)
{
    if (o->serve.protocol) {
        return asking_run(o, cpu);
    }
    struct serve v = {.o = o, .served = {.o = o}};
    struct output *out = &v.session.out;
    int status = EXIT_TROUBLE;
    if (prepare(&v, cpu)) {
        const bool all_said = session_run(&v.session);
        /* The end of the output tells the other side that all is durable: it comes last. */
        if (close_store(&v) && all_said && output_close(out)) {
            status = EXIT_DONE;
        }
    }
    const bool reader_gone = out->reader_gone;
    output_abandon(out);
    session_release(&v.session);
    coprocess_free(v.coprocess);
    stop_die(reader_gone);
    return status;
}
