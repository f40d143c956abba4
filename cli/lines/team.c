/* SPDX-License-Identifier: MIT
 *
 * One lock is enough: a piece takes ten thousand times as long as taking it. Any thread does any
 * piece, so a thread that got no processor for a while delays the round by one piece at most. */
#include "lines/team.h"

#include <signal.h>

/* True if a piece can begin now. */
static bool has_piece(const struct team *t)
{
    return t->nbegun < t->nfirst || (t->nbegun < t->npieces && t->ndone >= t->nfirst);
}

/* Does pieces until there is nothing more to do for this member. The lock is held. */
static void work_on(struct team *t, size_t member)
{
    for (;;) {
        if (has_piece(t)) {
            const size_t piece = t->nbegun++;
            pthread_mutex_unlock(&t->lock);
            t->work(t->context, member, piece);
            pthread_mutex_lock(&t->lock);
            t->ndone++;
            if (t->ndone == t->nfirst || t->ndone == t->npieces) {
                pthread_cond_broadcast(&t->changed);
            }
        } else if (member == 0 ? t->ndone == t->npieces : t->stopping) {
            return;
        } else {
            pthread_cond_wait(&t->changed, &t->lock);
        }
    }
}

static void *run_member(void *context)
{
    struct team *t = context;
    pthread_mutex_lock(&t->lock);
    work_on(t, ++t->nmembers);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

bool team_start(struct team *t, size_t n)
{
    sigset_t all;
    sigset_t old;
    if (pthread_mutex_init(&t->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&t->changed, NULL) != 0) {
        pthread_mutex_destroy(&t->lock);
        return false;
    }
    /* Signals are for the captain. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (t->nthreads < n && t->nthreads < TEAM_MAX - 1 &&
           pthread_create(&t->threads[t->nthreads], NULL, run_member, t) == 0) {
        t->nthreads++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (t->nthreads == 0) {
        team_stop(t);
    }
    return t->nthreads > 0;
}

void team_begin(struct team *t, size_t nfirst, size_t nsecond)
{
    pthread_mutex_lock(&t->lock);
    t->nfirst = nfirst;
    t->npieces = nfirst + nsecond;
    t->nbegun = 0;
    t->ndone = 0;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void team_end(struct team *t)
{
    pthread_mutex_lock(&t->lock);
    work_on(t, 0);
    pthread_mutex_unlock(&t->lock);
}

void team_stop(struct team *t)
{
    pthread_mutex_lock(&t->lock);
    t->stopping = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    for (size_t i = 0; i < t->nthreads; i++) {
        pthread_join(t->threads[i], NULL);
    }
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
}
