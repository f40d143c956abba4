/* SPDX-License-Identifier: MIT
 *
 * What the harnesses share: a scratch folder on a memory disk, numbered URLs and the count of them
 * in a file, and the tool as a child process, with the shim before it or not. A harness that cannot
 * do its work ends with status 2. */
#ifndef UNSEEN_CRASH_CRASH_H
#define UNSEEN_CRASH_CRASH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum {
    CRASH_PATH_MAX = 512,
    CRASH_URL_MAX = 256
};

/* Prints a line and ends the harness. */
__attribute__((noreturn, format(printf, 1, 2))) void crash_die(const char *format, ...);

/* The file system's answers that a harness relies on. */
void crash_require(bool ok, const char *what);

/* The tool, the shim and the plant (NULL: none) that the command line of a harness names. */
void crash_arguments(int argc, char **argv, const char **tool, const char **shim,
                     const char **plant);

/* The status with which a harness ends: 0 if nothing is wrong. With a plant, says whether it was
 * noticed, and the status is 0 if it was. */
int crash_status(const char *plant, uint64_t nwrong);

/* splitmix64 [Steele14]. */
static inline uint64_t crash_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number from an environment variable. UNSEEN_CRASH_SCALE multiplies the cases of a run,
 * UNSEEN_TEST_BRIEF (set by tools/test.sh without `all`) leaves a third of them, UNSEEN_CRASH_SEED
 * chooses others. */
uint64_t crash_setting(const char *name, uint64_t otherwise);
bool crash_brief(void);
uint64_t crash_scaled(uint64_t cases);

/* ---- Folder and files ------------------------------------------------------------------------ */

/* A new folder, removed at exit; ends in no slash. In /dev/shm where there is one. */
const char *crash_folder(void);

/* The path of a name in the folder; one of 8 buffers in turn. */
const char *crash_path(const char *name);

/* Removes the files of the folder whose names do not begin with '_': those are the harness's
 * own. */
void crash_clear(void);

char *crash_read(const char *path, size_t *len_out); /* NULL if there is no such file */
void crash_write(const char *path, const void *data, size_t len);
void crash_append(const char *path, const void *data, size_t len);
bool crash_exists(const char *path);

/* Copies all files of one folder that do not begin with '_' to another, which is emptied of
 * them. */
void crash_copy_all(const char *from, const char *to);

/* ---- URLs ------------------------------------------------------------------------------------ */

/* URL number i with its line end; its length. Lengths vary, so that lines and sectors do not fall
 * together. */
size_t crash_url(uint32_t i, char buf[static CRASH_URL_MAX]);

/* Writes the URLs from..to-1 to a file. */
void crash_write_urls(const char *path, uint32_t from, uint32_t to);

struct crash_tally {
    uint32_t n;        /* URLs that count: 0..n-1 */
    uint32_t *counts;  /* how often each is there */
    uint32_t nlost;    /* with count 0 */
    uint32_t nextra;   /* the sum of what is above 1 */
    uint32_t nforeign; /* lines that are none of them */
};

void crash_tally_init(struct crash_tally *tally, uint32_t n);
void crash_tally_clear(struct crash_tally *tally);
void crash_tally_add(struct crash_tally *tally, const char *text, size_t len);
void crash_tally_finish(struct crash_tally *tally);
void crash_tally_file(struct crash_tally *tally, const char *path);

/* ---- Processes ------------------------------------------------------------------------------- */

enum {
    CRASH_ARGS_MAX = 16,
    CRASH_ENV_MAX = 8
};

struct crash_job {
    const char *args[CRASH_ARGS_MAX]; /* [0]: the tool; NULL at the end */
    const char *env[CRASH_ENV_MAX];   /* NAME=VALUE beside the harness's own; NULL at the end */
    const char *shim;                 /* NULL: without */
    const char *in;                   /* NULL: /dev/null */
    int in_fd;                        /* if above 0, instead */
    const char *out;                  /* NULL: /dev/null; appended to */
    int out_fd;                       /* if above 0, instead */
};

pid_t crash_start(const struct crash_job *job);

/* The status as of a shell: 0..255, 128 + signal. A process that takes more than a minute is a
 * failure of the harness's. */
int crash_wait(pid_t pid);
int crash_run(const struct crash_job *job);

/* The program crash_parts_tool (parts_tool.c), which adds the lines of a file to the store s, a
 * store with a limit of memory, and the new ones to the file out. The first makes a store that fits
 * into memory, the second one lets a store of that kind sweep itself, behind 200 lines. */
struct crash_job crash_fill_parts(const char *lines);
struct crash_job crash_sweep_parts(const char *lines);

/* Makes the store s with URLs that crash_url has not, listed in the file _others: so many that a
 * few more make the tool write an image. */
void crash_prefill(const char *tool);

/* Makes the stores _store1 and _store2 with n URLs that no other file has, listed in the file
 * _more. */
void crash_write_more(const char *tool, unsigned n);

/* A store s that rewrites itself, because most of its log is dead. crash_dead_begin makes it with
 * the URLs of the files _dead and _dead_last; then the caller adds others. crash_dead_most removes
 * those of _dead; whoever removes those of _dead_last, too, rewrites the store. crash_dead_end
 * removes all of them, and is killed before the new log takes the name, so that the next writer
 * rewrites the store. */
void crash_dead_begin(const char *tool);
void crash_dead_most(const char *tool);
void crash_dead_end(const char *tool, const char *shim);

/* The number of lines of a file that the store s lacks; UINT_MAX if it cannot be asked. */
unsigned crash_missing(const char *tool, const char *list);

/* What the last job wrote to standard error: in the file _err. */
const char *crash_messages(void);

#endif
