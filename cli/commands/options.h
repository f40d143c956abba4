/* SPDX-License-Identifier: MIT
 *
 * The command line as a struct. */
#ifndef UNSEEN_CLI_OPTIONS_H
#define UNSEEN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "print/message.h"
#include "seen/seed.h"

enum {
    OPTIONS_MAX_LINE = 16 << 20 /* --max-line where it is not given */
};

enum format {
    FORMAT_AUTO,
    FORMAT_LINES,
    FORMAT_JSONL
};

enum stats {
    STATS_NONE,
    STATS_TEXT,
    STATS_JSON
};

/* What is imported. */
enum source {
    SOURCE_LINES,
    SOURCE_ANEW,
    SOURCE_REQUESTS_SEEN,
    SOURCE_REDIS_SET
};

/* A file of --add or --remove. */
struct edit_file {
    const char *name;
    bool removes;
};

struct command;

struct options {
    const struct command *command;

    /* memory */
    const char *store; /* of -s, or the first argument of a command on a store; NULL: none */
    const char **excludes;
    size_t nexcludes;
    bool dry_run;
    uint64_t shard; /* from 0; handled if nshards > 0 */
    uint64_t nshards;
    uint64_t capacity;
    double fpr;
    const char *filter;
    struct seed seed;
    const char *seed_file; /* NULL: none */
    unsigned key_bits;     /* 0: not given */
    bool no_log;
    unsigned file_mode; /* 0: not given */

    /* plan */
    double bits_per_key;
    uint64_t memory;
    unsigned hashes;
    enum when plot;
    const char *svg; /* NULL: none */

    /* lists */
    bool has_kind;
    enum unseen_kind kind;
    const char *from; /* NULL: none */
    const char **known_good;
    size_t nknown_good;
    bool force;
    bool restart;
    double checkpoint;       /* seconds; 0: not given */
    struct edit_file *edits; /* in the order given */
    size_t nedits;
    bool undo;          /* --remove of what is allowed */
    bool lists_allowed; /* --list */

    /* identity */
    const char *profile; /* NULL: the command's own default */
    const char **rules;
    size_t nrules;
    const char *base; /* NULL: none */
    const char *key;
    size_t field;          /* from 1; 0: none */
    const char *json_path; /* ".a.b"; NULL: none */
    const char *by;        /* as given; NULL: none */
    size_t by_field;       /* one of these three */
    const char *by_path;
    bool by_host;
    bool has_separator;
    char separator;
    enum format format;
    enum source source;

    /* print */
    bool invert;
    const char *repeats;
    bool mark;
    bool count;
    bool unique;
    bool quiet;
    bool canonical;
    bool json;
    bool expressions;
    bool has_limit;
    uint64_t limit;

    /* input and output */
    const char *output;
    char delimiter;
    bool line_buffered;
    uint64_t max_line; /* 0: any length */
    bool long_window;  /* of zstd */
    unsigned threads;  /* 0: as many as are of use */

    /* serve */
    const char *protocol; /* NULL: unseen's own */
    const char *listen;   /* NULL: standard input and output */
    const char *reply;
    const char *redirect;

    /* reports */
    enum stats stats;
    enum when progress;
    enum when color;

    const char *const *files; /* without the store */
    size_t nfiles;
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE, /* help or version was printed */
    OPTIONS_WRONG /* reported */
};

/* Parses argv[1..argc) for a command. The result points into argv, in which lists are split;
 * options_release frees the rest. */
enum options_result options_parse(struct options *o, const struct command *command, int argc,
                                  char **argv);
void options_release(struct options *o);

#endif
