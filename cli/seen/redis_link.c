/* SPDX-License-Identifier: MIT */
#include "seen/redis_link.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "clock.h"
#include "print/message.h"

enum {
    CONNECT_SECONDS = 10,
    PAUSE_NS = 50 * 1000 * 1000,
    REDIRECTS_MAX = 16
};

/* ---- Errors ---------------------------------------------------------------------------------- */

bool redis_link_is_error(const struct redisReply *reply, const char *start)
{
    return reply && reply->type == REDIS_REPLY_ERROR &&
           strncmp(reply->str, start, strlen(start)) == 0;
}

/* What to do about the errors of a server, by how they begin. */
static const char *way_out(const char *text)
{
    static const char *const ways[][2] = {
        {"ERR unknown command", "redis-server --loadmodule unseen.so starts a server that has it"},
        {"WRONGTYPE",
         "another key, or for a key of BF.* the commands BF.*: only UNSEEN.* know URLs"},
        {"NOAUTH",
         "redis://USER:PASSWORD@HOST/KEY, the password in the environment as REDISCLI_AUTH, "
         "or --token-file FILE with the password in it"},
        {"WRONGPASS",
         "redis://USER:PASSWORD@HOST/KEY, with / as %2F and @ as %40; without a password, "
         "REDISCLI_AUTH of the environment is taken"},
        {"ERR AUTH", "leave out the password: this server has none for this user"},
        {"NOPERM", "redis-cli ACL SETUSER USER ~KEY +unseen.add +unseen.exists +unseen.info "
                   "+unseen.remove +unseen.reserve"},
        {"OOM", "redis-cli CONFIG SET maxmemory BYTES; what was printed is remembered"},
        {"ERR the key has reached its MAXBYTES",
         "UNSEEN.RESERVE OTHER MAXBYTES MORE, then UNSEEN.MERGE OTHER KEY: a set with more room"},
        {"READONLY", "name the primary: this server is a replica of it"},
        {"LOADING", "--wait=60 waits for a server that is still loading"},
        {"MISCONF", "the server cannot save its data, and takes nothing more: see its log"},
        {"CLUSTERDOWN", "the cluster lacks a node: redis-cli CLUSTER INFO"},
        {"MASTERDOWN", "name the primary: this server has lost it"},
        {"NOREPLICAS", "the server wants more replicas than it has: see min-replicas-to-write"},
        {"ERR DB index", "redis://HOST/0/KEY: the number is that of a database"},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strncmp(text, ways[i][0], strlen(ways[i][0])) == 0) {
            return ways[i][1];
        }
    }
    return NULL;
}

bool redis_link_report(const struct redis_link *l, const struct redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ERROR) {
        message_error("the server at %s does not answer as the module of unseen does", l->shown);
        return false;
    }
    message_error("the server at %s answers: %.400s", l->shown, reply->str);
    const char *way = way_out(reply->str);
    if (way) {
        message_hint("%s", way);
    }
    return false;
}

static bool report_lost(const struct redis_link *l, struct redis_node *node)
{
    if (!node->is_lost && node->connection) {
        const bool is_foreign = node->connection->err == REDIS_ERR_PROTOCOL;
        message_error(is_foreign ? "what listens at %s is not a Redis or Valkey server: %s"
                                 : "the connection to %s is lost: %s",
                      l->shown, node->connection->errstr);
    }
    node->is_lost = true;
    return false;
}

/* ---- Connecting ------------------------------------------------------------------------------ */

/* A server that closes a connection while it is written to must not end the run by a signal.
 * Returns what was done with the signal. */
static struct sigaction ignore_pipe(void)
{
    struct sigaction old;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, &old); /* fails for a wrong number only */
    return old;
}

/* Sends one command that is about the connection. A server without passwords refuses a password,
 * which matters only if it was given for this server. */
static bool say(const struct redis_link *l, struct redis_node *node, int argc, const char **argv)
{
    struct redisReply *reply = redisCommandArgv(node->connection, argc, argv, NULL);
    if (!reply) {
        return report_lost(l, node);
    }
    const bool is_spare = l->is_general && redis_link_is_error(reply, "ERR AUTH");
    const bool done = reply->type != REDIS_REPLY_ERROR || is_spare ||
                      redis_link_report(l, reply); /* false then */
    freeReplyObject(reply);
    return done;
}

/* The connection starts with the user and the database of the address. */
static bool introduce(const struct redis_link *l, struct redis_node *node)
{
    char db[16];
    const char *user[] = {"AUTH", l->url.user, l->password};
    const char *password[] = {"AUTH", l->password};
    const char *select[] = {"SELECT", db};
    snprintf(db, sizeof(db), "%u", l->url.db);
    if (node->host[0] && redisEnableKeepAlive(node->connection) != REDIS_OK) {
        return report_lost(l, node);
    }
    if (l->password && !(l->url.user[0] ? say(l, node, 3, user) : say(l, node, 2, password))) {
        return false;
    }
    return l->url.db == 0 || say(l, node, 2, select);
}

static struct redisContext *link_connect_once(const struct redis_link *l,
                                              const struct redis_node *node)
{
    const struct timeval limit = {CONNECT_SECONDS, 0};
    return node->host[0] ? redisConnectWithTimeout(node->host, (int)node->port, limit)
                         : redisConnectUnixWithTimeout(l->url.path, limit);
}

static bool node_connect(const struct redis_link *l, struct redis_node *node)
{
    const struct timespec pause = {0, PAUSE_NS};
    const double start = clock_now();
    for (;;) {
        errno = 0;
        node->connection = link_connect_once(l, node);
        if (!node->connection) {
            return message_no_memory();
        }
        const int error = errno;
        if (node->connection->err == 0) {
            return introduce(l, node);
        }
        if ((error != ECONNREFUSED && error != ENOENT) || clock_now() - start >= l->wait) {
            break;
        }
        redisFree(node->connection);
        (void)nanosleep(&pause, NULL); /* a signal makes it shorter */
    }
    message_error("cannot connect to %s: %s", l->shown, node->connection->errstr);
    if (l->hint) {
        message_hint("%s", l->hint);
    }
    node->is_lost = true;
    return false;
}

/* The number of the node at that place; SIZE_MAX if there are too many. */
static size_t find_node(struct redis_link *l, const char *host, unsigned port)
{
    size_t i = 0;
    while (i < l->nnodes && (l->nodes[i].port != port || strcmp(l->nodes[i].host, host) != 0)) {
        i++;
    }
    if (i == l->nnodes && l->nnodes < REDIS_NODES_MAX) {
        struct redis_node *node = &l->nodes[l->nnodes++];
        *node = (struct redis_node){.port = port};
        snprintf(node->host, sizeof(node->host), "%s", host);
    }
    return i < l->nnodes ? i : SIZE_MAX;
}

bool redis_link_open(struct redis_link *l, const char *shown, const char *password, double wait,
                     const char *hint)
{
    const char *why = "";
    *l = (struct redis_link){.shown = shown, .password = password, .hint = hint, .wait = wait};
    if (!password) {
        l->password = getenv("REDISCLI_AUTH");
        l->password = l->password && l->password[0] ? l->password : NULL;
        l->is_general = l->password != NULL;
    }
    if (!redis_url_read(&l->url, shown, &why)) {
        message_error("%s: %s", shown, why);
        return false;
    }
    (void)find_node(l, l->url.host, l->url.port);
    const struct sigaction old = ignore_pipe();
    const bool done = node_connect(l, &l->nodes[0]);
    (void)sigaction(SIGPIPE, &old, NULL);
    return done;
}

void redis_link_close(struct redis_link *l)
{
    for (size_t i = 0; i < l->nnodes; i++) {
        if (l->nodes[i].connection) {
            redisFree(l->nodes[i].connection);
        }
    }
    l->nnodes = 0;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool is_pending(const struct redis_link *l, const struct redis_command *c)
{
    return !c->reply && !l->nodes[*c->node].is_lost;
}

/* Puts a command behind those that the connection will send. */
static bool link_append(const struct redis_link *l, struct redis_command *c)
{
    redisContext *connection = l->nodes[*c->node].connection;
    if (l->nodes[*c->node].is_asked && redisAppendCommand(connection, "ASKING") != REDIS_OK) {
        return false;
    }
    c->is_sent = true;
    return redisAppendCommandArgv(connection, (int)c->argc, c->argv, c->lens) == REDIS_OK;
}

static bool link_send_all(const struct redis_link *l, struct redis_command *commands, size_t n,
                          size_t i)
{
    const struct redis_node *node = &l->nodes[i];
    bool is_any = false;
    for (size_t k = 0; k < n; k++) {
        if (*commands[k].node == i && is_pending(l, &commands[k])) {
            is_any = true;
            if (!link_append(l, &commands[k])) {
                return false;
            }
        }
    }
    for (int done = !is_any; !done;) {
        if (redisBufferWrite(node->connection, &done) != REDIS_OK) {
            return false;
        }
    }
    return true;
}

static bool link_receive(struct redis_node *node, struct redis_command *c)
{
    void *reply = NULL;
    if (node->is_asked) {
        if (redisGetReply(node->connection, &reply) != REDIS_OK) {
            return false;
        }
        freeReplyObject(reply);
    }
    if (redisGetReply(node->connection, &reply) != REDIS_OK) {
        return false;
    }
    c->reply = reply;
    return true;
}

/* "MOVED 866 127.0.0.1:7001", "ASK 866 [host]:7001". A missing host is that of the node that says
 * it. Returns false if the reply is something else. */
static bool read_redirect(const struct redis_link *l, const struct redis_command *c, char host[256],
                          unsigned *port_out, bool *asks_out)
{
    *asks_out = redis_link_is_error(c->reply, "ASK ");
    if (!*asks_out && !redis_link_is_error(c->reply, "MOVED ")) {
        return false;
    }
    const char *space = strrchr(c->reply->str, ' ');
    const char *colon = strrchr(space, ':');
    const size_t len = colon ? (size_t)(colon - space) - 1 : 0;
    char *end = NULL;
    const unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (port == 0 || port > 65535 || *end || len >= 256) {
        return false;
    }
    snprintf(host, 256, "%.*s", len > 0 ? (int)len : 255,
             len > 0 ? space + 1 : l->nodes[*c->node].host);
    *port_out = (unsigned)port;
    return true;
}

/* Follows a reply that says where the key is. Returns true if the command has to be sent again. */
static bool link_follow(struct redis_link *l, struct redis_command *c)
{
    char host[256];
    unsigned port = 0;
    bool asks = false;
    if (!c->reply || !read_redirect(l, c, host, &port, &asks)) {
        return false;
    }
    const size_t node = find_node(l, host, port);
    if (node == SIZE_MAX) {
        return false;
    }
    l->nodes[node].is_asked = l->nodes[node].is_asked || asks;
    *c->node = node;
    freeReplyObject(c->reply);
    c->reply = NULL;
    c->is_sent = false; /* it was refused */
    return true;
}

/* One round: each command that has no reply is sent, and its reply is read. */
static void exchange(struct redis_link *l, struct redis_command *commands, size_t n)
{
    for (size_t i = 0; i < l->nnodes; i++) {
        struct redis_node *node = &l->nodes[i];
        bool is_used = false;
        for (size_t k = 0; k < n && !is_used; k++) {
            is_used = *commands[k].node == i && is_pending(l, &commands[k]);
        }
        if (is_used && !node->connection && !node_connect(l, node)) {
            node->is_lost = true; /* reported */
        } else if (is_used && !link_send_all(l, commands, n, i)) {
            (void)report_lost(l, node);
        }
    }
    for (size_t k = 0; k < n; k++) {
        struct redis_node *node = &l->nodes[*commands[k].node];
        if (is_pending(l, &commands[k]) && !link_receive(node, &commands[k])) {
            (void)report_lost(l, node);
        }
    }
}

bool redis_link_ask(struct redis_link *l, struct redis_command *commands, size_t n)
{
    bool is_again = true;
    bool has_all = true;
    const struct sigaction old = ignore_pipe();
    for (int round = 0; is_again && round < REDIRECTS_MAX; round++) {
        exchange(l, commands, n);
        is_again = false;
        for (size_t k = 0; k < n; k++) {
            is_again = link_follow(l, &commands[k]) || is_again;
        }
    }
    (void)sigaction(SIGPIPE, &old, NULL);
    if (is_again) {
        message_error("the nodes of the cluster at %s name each other in circles", l->shown);
        message_hint("wait until redis-cli CLUSTER INFO says cluster_state:ok");
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        has_all = has_all && commands[k].reply;
    }
    return has_all;
}

void redis_link_release(struct redis_command *commands, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (commands[k].reply) {
            freeReplyObject(commands[k].reply);
        }
        commands[k].reply = NULL;
    }
}
