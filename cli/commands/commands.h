/* SPDX-License-Identifier: MIT
 *
 * The contract between the command line and the commands: the struct of options, the table row of
 * a command, and the functions that run commands. Each concern has a struct of options of its own:
 * those that a folder below reads are declared there, the others here. */
#ifndef UNSEEN_CLI_COMMANDS_H
#define UNSEEN_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen_list.h>

#include "commands/plan_solve.h"
#include "lines/entries.h"
#include "lines/identity.h"
#include "lines/input.h"
#include "lines/profile.h"
#include "print/output.h"
#include "print/report.h"
#include "seen/seen_options.h"

enum {
    EXIT_DONE = 0,
    EXIT_NONE = 1,
    EXIT_TROUBLE = 2
};

/* Bits that say which commands have an option. */
enum {
    COMMAND_DEDUP = 1,
    COMMAND_CANON = 1 << 1,
    COMMAND_EXPLAIN = 1 << 2,
    COMMAND_CHECK = 1 << 3,
    COMMAND_ADD = 1 << 4,
    COMMAND_REMOVE = 1 << 5,
    COMMAND_MERGE = 1 << 6,
    COMMAND_INFO = 1 << 7,
    COMMAND_VERIFY = 1 << 8,
    COMMAND_REPAIR = 1 << 9,
    COMMAND_REWRITE = 1 << 10,
    COMMAND_IMPORT = 1 << 11,
    COMMAND_RECHECK = 1 << 12,
    COMMAND_SERVE = 1 << 13,
    COMMAND_PLAN = 1 << 14,
    COMMAND_SORT = 1 << 15,
    COMMAND_COUNT = 1 << 16,
    COMMAND_BUILD = 1 << 17,
    COMMAND_ALLOW = 1 << 18,
    COMMAND_UPDATE = 1 << 19,
    COMMAND_BITS = 1 << 20,
    /* commands that ask or change the store that is their first argument */
    COMMAND_ASKERS = COMMAND_CHECK | COMMAND_RECHECK,
    COMMAND_CHANGERS = COMMAND_ADD | COMMAND_REMOVE | COMMAND_IMPORT,
    /* commands whose first argument is a list */
    COMMAND_ON_LIST = COMMAND_BUILD | COMMAND_ALLOW | COMMAND_UPDATE,
    COMMAND_ON_STORE = COMMAND_ASKERS | COMMAND_CHANGERS | COMMAND_SERVE | COMMAND_ON_LIST,
    /* commands that may make a store */
    COMMAND_MAKERS = COMMAND_DEDUP | COMMAND_ADD | COMMAND_IMPORT | COMMAND_SERVE,
    /* commands that write to a store */
    COMMAND_WRITERS =
        COMMAND_MAKERS | COMMAND_REMOVE | COMMAND_MERGE | COMMAND_REPAIR | COMMAND_REWRITE,
    /* commands that take lines with URLs in them */
    COMMAND_LINES = COMMAND_DEDUP | COMMAND_CANON | COMMAND_ASKERS | COMMAND_ADD | COMMAND_REMOVE |
                    COMMAND_COUNT,
    COMMAND_PRINTERS = COMMAND_DEDUP | COMMAND_CANON | COMMAND_ASKERS,
    COMMAND_REPORTERS = COMMAND_DEDUP | COMMAND_CHECK | COMMAND_CHANGERS | COMMAND_MERGE,
    /* commands with -p and --rule; the others take the profile from the store */
    COMMAND_IDENTITY =
        COMMAND_MAKERS | COMMAND_CANON | COMMAND_EXPLAIN | COMMAND_COUNT | COMMAND_BUILD,
    /* commands that read standard input if no file is named */
    COMMAND_READERS = COMMAND_LINES | COMMAND_IMPORT | COMMAND_SORT | COMMAND_BUILD | COMMAND_ALLOW,
    COMMAND_ALL = (1 << 30) - 1
};

/* ---- Options --------------------------------------------------------------------------------- */

/* Which lines are printed, and where. */
struct print_options {
    const char *output;
    const char *repeats;
    bool tee;
    uint64_t limit; /* UINT64_MAX: no limit */
    bool invert;
    bool mark;
    bool count;
    bool unique;
    bool quiet;
    bool canonical;
    bool json;
    bool why;
    bool expressions;
    bool surt;
    bool keep_www; /* in SURT keys */
    bool fingerprint;
    bool line_buffered;
};

/* The options of unseen count: what is counted apart, and what together. */
struct group_options {
    const char *by;    /* as given; NULL: none */
    struct key by_key; /* of one part, unless by_host */
    bool by_host;
    bool returning;
    bool both;
};

/* A file of --add or --remove. */
struct edit_file {
    const char *name;
    bool removes;
};

/* Building and changing a list. Its path, rate, capacity and seed are in seen_options. */
struct list_options {
    bool has_kind;
    enum unseen_kind kind;
    bool expressions;
    unsigned country; /* the code of national phone numbers; 0: not given */
    const char *from; /* NULL: none */
    const char **known_good;
    size_t nknown_good;
    struct entry_options entries;
    bool force; /* build a list that looks like a mistake */
    uint64_t memory;
    struct edit_file *edits; /* in the order of the command line */
    size_t nedits;
    bool undo;          /* --remove of what is allowed */
    bool lists_allowed; /* --list */
};

struct merge_options {
    const char *into; /* the store that exists and is added to; NULL: a new one is made */
};

struct plan_options {
    struct question question;
    const char *filter; /* NULL: all */
    enum when plot;
    const char *svg; /* NULL: none */
};

struct serve_options {
    const char *protocol; /* NULL: unseen's own */
    const char *listen;   /* NULL: standard input and output */
    const char *group;    /* of a local socket */
    unsigned max_clients; /* 0: not given */
    const char *reply;
    const char *redirect;
    bool expressions;
};

/* The format of an import. */
enum source {
    SOURCE_LINES,
    SOURCE_ANEW,
    SOURCE_REQUESTS_SEEN,
    SOURCE_REDIS_SET,
    SOURCE_GUAVA,
    SOURCE_DCSO,
    SOURCE_REDIS_BITMAP,
    SOURCE_JAVA_BITSET
};

/* The names of the formats, by enum source; NULL behind the last. cmd_import.c has a row for
 * each. */
extern const char *const import_formats[];

/* What Guava's filter hashed of a text. */
enum funnel {
    FUNNEL_NONE, /* not given */
    FUNNEL_BYTES,
    FUNNEL_UTF8,
    FUNNEL_UTF16
};

struct command;

struct options {
    const struct command *command;
    struct profile_options profile;
    struct key_options key;
    struct input_options input;
    struct seen_options seen;
    struct print_options print;
    struct report_options report;
    struct group_options group;
    struct list_options list;
    struct merge_options merge;
    struct plan_options plan;
    struct serve_options serve;
    enum source source;
    enum funnel funnel;
    const char *from_redis; /* a server with RedisBloom, in place of a file; NULL: none */
};

/* ---- Commands -------------------------------------------------------------------------------- */

struct command {
    const char *name;
    const char *called; /* how a corrected command starts */
    unsigned bit;
    struct store_use use;
    const char *summary; /* what it does, for lists of commands: no capital, no full stop */
    const char *brief;   /* the options that the short help has, by name; NULL: none */
    const char *usage;
    const char *usage_too; /* another form of it; NULL: there is one only */
    const char *about;
    const char *examples;
    const char *ending;   /* more sentences of the help; NULL: none */
    const char *statuses; /* the exit statuses; NULL: "0 done, 2 trouble" */
    int (*run)(const struct options *o, enum unseen_cpu cpu); /* the exit status */
};

/* Each runs a command, or two or three that differ little, and returns the exit status. */
int dedup_run(const struct options *o, enum unseen_cpu cpu);
int canon_run(const struct options *o, enum unseen_cpu cpu);
int explain_run(const struct options *o, enum unseen_cpu cpu);
int change_run(const struct options *o, enum unseen_cpu cpu);
int merge_run(const struct options *o, enum unseen_cpu cpu);
int info_run(const struct options *o, enum unseen_cpu cpu);
int verify_run(const struct options *o, enum unseen_cpu cpu);
int repair_run(const struct options *o, enum unseen_cpu cpu);
int rewrite_run(const struct options *o, enum unseen_cpu cpu);
int import_run(const struct options *o, enum unseen_cpu cpu);
int recheck_run(const struct options *o, enum unseen_cpu cpu);
int allow_run(const struct options *o, enum unseen_cpu cpu);
int update_run(const struct options *o, enum unseen_cpu cpu);
int sort_run(const struct options *o, enum unseen_cpu cpu);
int serve_run(const struct options *o, enum unseen_cpu cpu);
int count_run(const struct options *o, enum unseen_cpu cpu);
int build_run(const struct options *o, enum unseen_cpu cpu);
int plan_run(const struct options *o, enum unseen_cpu cpu);
int bits_run(const struct options *o, enum unseen_cpu cpu);

/* The i'th verb of `unseen bits`; NULL past the last. */
const char *bits_verb_at(size_t i);

#endif
