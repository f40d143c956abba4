/* SPDX-License-Identifier: MIT */
#include "crash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void crash_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

void crash_require(bool ok, const char *what)
{
    if (!ok) {
        crash_die("%s: %s", what, strerror(errno));
    }
}

void crash_arguments(int argc, char **argv, const char **tool, const char **shim,
                     const char **plant)
{
    if (argc < 3) {
        crash_die("usage: %s TOOL SHIM [PLANT]", argv[0]);
    }
    *tool = argv[1];
    *shim = argv[2];
    *plant = argv[3];
}

int crash_status(const char *plant, uint64_t nwrong)
{
    if (!plant) {
        return nwrong > 0;
    }
    printf("planted: %s: %s\n", plant, nwrong > 0 ? "noticed" : "NOT noticed");
    return nwrong == 0;
}

uint64_t crash_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

bool crash_brief(void)
{
    return crash_setting("UNSEEN_TEST_BRIEF", 0) != 0;
}

uint64_t crash_scaled(uint64_t cases)
{
    return cases * crash_setting("UNSEEN_CRASH_SCALE", 1) / (crash_brief() ? 3 : 1);
}

/* ---- Folder and files ------------------------------------------------------------------------ */

static char folder[CRASH_PATH_MAX / 2];
static pid_t folder_owner;

static void empty(const char *path, bool own)
{
    DIR *dir = opendir(path);
    if (!dir) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && (own || name[0] != '_')) {
            crash_require(unlinkat(dirfd(dir), name, 0) == 0, name);
        }
    }
    closedir(dir);
}

static void remove_folder(void)
{
    if (getpid() == folder_owner) {
        empty(folder, true);
        (void)rmdir(folder);
    }
}

const char *crash_folder(void)
{
    if (!folder[0]) {
        const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof(folder), "%s/unseen-crash-XXXXXX", base);
        crash_require(mkdtemp(folder) != NULL, folder);
        folder_owner = getpid();
        crash_require(atexit(remove_folder) == 0, "atexit");
    }
    return folder;
}

const char *crash_path(const char *name)
{
    static char paths[8][CRASH_PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, CRASH_PATH_MAX, "%s/%s", crash_folder(), name);
    return path;
}

void crash_clear(void)
{
    empty(crash_folder(), false);
}

char *crash_read(const char *path, size_t *len_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        crash_require(errno == ENOENT, path);
        return NULL;
    }
    struct stat st;
    crash_require(fstat(fd, &st) == 0, path);
    const size_t len = (size_t)st.st_size;
    char *data = malloc(len + 1);
    crash_require(data != NULL, "malloc");
    crash_require(read(fd, data, len) == (ssize_t)len, path);
    crash_require(close(fd) == 0, path);
    *len_out = len;
    return data;
}

static void put(const char *path, int flags, const void *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    crash_require(fd >= 0, path);
    crash_require(write(fd, data, len) == (ssize_t)len, path);
    crash_require(close(fd) == 0, path);
}

void crash_write(const char *path, const void *data, size_t len)
{
    put(path, O_TRUNC, data, len);
}

void crash_append(const char *path, const void *data, size_t len)
{
    put(path, O_APPEND, data, len);
}

bool crash_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void crash_copy_all(const char *from, const char *to)
{
    empty(to, false);
    DIR *dir = opendir(from);
    crash_require(dir != NULL, from);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.' && entry->d_name[0] != '_') {
            char path[2 * CRASH_PATH_MAX];
            size_t len;
            snprintf(path, sizeof(path), "%s/%s", from, entry->d_name);
            char *data = crash_read(path, &len);
            crash_require(data != NULL, path);
            snprintf(path, sizeof(path), "%s/%s", to, entry->d_name);
            crash_write(path, data, len);
            free(data);
        }
    }
    closedir(dir);
}

/* ---- URLs ------------------------------------------------------------------------------------ */

size_t crash_url(uint32_t i, char buf[static CRASH_URL_MAX])
{
    int n = snprintf(buf, CRASH_URL_MAX, "http://h%u.example/%u/", i % 7, i);
    const size_t more = (i * 7) % 53;
    memset(buf + n, 'p', more);
    buf[(size_t)n + more] = '\n';
    return (size_t)n + more + 1;
}

void crash_write_urls(const char *path, uint32_t from, uint32_t to)
{
    char *text = malloc((size_t)(to - from) * CRASH_URL_MAX + CRASH_URL_MAX);
    crash_require(text != NULL, "malloc");
    size_t len = 0;
    for (uint32_t i = from; i < to; i++) {
        len += crash_url(i, text + len);
    }
    crash_write(path, text, len);
    free(text);
}

void crash_tally_init(struct crash_tally *tally, uint32_t n)
{
    *tally = (struct crash_tally){.n = n, .counts = calloc(n, sizeof(uint32_t))};
    crash_require(tally->counts != NULL, "calloc");
}

void crash_tally_clear(struct crash_tally *tally)
{
    memset(tally->counts, 0, tally->n * sizeof(uint32_t));
    tally->nforeign = 0;
}

/* A line of a file: one of the URLs, exactly, or foreign. */
static void count_line(struct crash_tally *tally, const char *line, size_t len)
{
    char url[CRASH_URL_MAX];
    static const char before[] = ".example/";
    const char *p = memmem(line, len, before, sizeof(before) - 1);
    const char *end = line + len;
    uint64_t i = 0;
    p = p ? p + sizeof(before) - 1 : end;
    const char *digits = p;
    while (p < end && *p >= '0' && *p <= '9' && i < UINT32_MAX) {
        i = i * 10 + (uint64_t)(*p++ - '0');
    }
    if (p > digits && i < tally->n && crash_url((uint32_t)i, url) == len &&
        memcmp(url, line, len) == 0) {
        tally->counts[i]++;
    } else {
        tally->nforeign++;
    }
}

void crash_tally_add(struct crash_tally *tally, const char *text, size_t len)
{
    for (const char *end; len > 0; len -= (size_t)(end - text), text = end) {
        end = memchr(text, '\n', len);
        end = end ? end + 1 : text + len;
        count_line(tally, text, (size_t)(end - text));
    }
}

void crash_tally_finish(struct crash_tally *tally)
{
    tally->nlost = 0;
    tally->nextra = 0;
    for (uint32_t i = 0; i < tally->n; i++) {
        tally->nlost += tally->counts[i] == 0;
        tally->nextra += tally->counts[i] > 1 ? tally->counts[i] - 1 : 0;
    }
}

void crash_tally_file(struct crash_tally *tally, const char *path)
{
    size_t len = 0;
    char *text = crash_read(path, &len);
    crash_tally_clear(tally);
    crash_tally_add(tally, text, len);
    crash_tally_finish(tally);
    free(text);
}

/* ---- Processes ------------------------------------------------------------------------------- */

enum {
    PATIENCE_SECONDS = 60
};

static volatile sig_atomic_t waited_for;

static void lose_patience(int signal_number)
{
    (void)signal_number;
    (void)kill((pid_t)waited_for, SIGKILL);
}

static void redirect(posix_spawn_file_actions_t *actions, int to, int fd, const char *path,
                     int flags)
{
    const int rc = fd > 0 ? posix_spawn_file_actions_adddup2(actions, fd, to)
                          : posix_spawn_file_actions_addopen(actions, to, path ? path : "/dev/null",
                                                             flags, 0600);
    crash_require(rc == 0, "posix_spawn_file_actions");
}

pid_t crash_start(const struct crash_job *job)
{
    char *env[256];
    char preload[CRASH_PATH_MAX];
    char dir[CRASH_PATH_MAX];
    size_t n = 0;
    for (size_t i = 0; environ[i] && n < 200; i++) {
        env[n++] = environ[i];
    }
    if (job->shim) {
        snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", job->shim);
        snprintf(dir, sizeof(dir), "UNSEEN_CRASH_DIR=%s", crash_folder());
        env[n++] = preload;
        env[n++] = dir;
    }
    for (size_t i = 0; job->env[i]; i++) {
        env[n++] = (char *)(uintptr_t)job->env[i];
    }
    env[n] = NULL;
    posix_spawn_file_actions_t actions;
    crash_require(posix_spawn_file_actions_init(&actions) == 0, "posix_spawn_file_actions");
    redirect(&actions, 0, job->in_fd, job->in, O_RDONLY);
    redirect(&actions, 1, job->out_fd, job->out, O_WRONLY | O_CREAT | O_APPEND);
    redirect(&actions, 2, -1, crash_path("_err"), O_WRONLY | O_CREAT | O_TRUNC);
    /* A harness may ignore SIGPIPE; the tool must not start so. */
    posix_spawnattr_t attributes;
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    crash_require(posix_spawnattr_init(&attributes) == 0 &&
                      posix_spawnattr_setsigdefault(&attributes, &defaults) == 0 &&
                      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF) == 0,
                  "posix_spawnattr");
    pid_t pid = -1;
    errno =
        posix_spawn(&pid, job->args[0], &actions, &attributes, (char **)(uintptr_t)job->args, env);
    crash_require(errno == 0, job->args[0]);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

int crash_wait(pid_t pid)
{
    int status = 0;
    waited_for = (sig_atomic_t)pid;
    (void)signal(SIGALRM, lose_patience);
    (void)alarm(PATIENCE_SECONDS);
    while (waitpid(pid, &status, 0) < 0) {
        crash_require(errno == EINTR, "waitpid");
    }
    crash_require(alarm(0) > 0, "the tool has not ended within a minute");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int crash_run(const struct crash_job *job)
{
    return crash_wait(crash_start(job));
}

enum {
    NPREFILLED = 65400, /* of the 65,536 changes that are worth an image */
    NDEAD = 32300,      /* keys of 16 bytes, added and removed: a little less than 1 MiB */
    NDEAD_LAST = 500
};

static void write_list(const char *path, const char *host, unsigned n)
{
    FILE *file = fopen(path, "w");
    crash_require(file != NULL, path);
    for (unsigned i = 0; i < n; i++) {
        fprintf(file, "http://%s.example/%u\n", host, i);
    }
    crash_require(fclose(file) == 0, path);
}

static void require_run(const struct crash_job *job)
{
    if (crash_run(job) != 0) {
        crash_die("%s fails: %s", job->args[1], crash_messages());
    }
}

static struct crash_job parts_job(const char *lines, const char *nkeys, const char *first)
{
    const char *program = getenv("UNSEEN_CRASH_PARTS");
    crash_require(program != NULL, "UNSEEN_CRASH_PARTS: the program crash_parts_tool");
    return (struct crash_job){
        .args = {program, crash_path("s"), crash_path("out"), lines, nkeys, first}};
}

struct crash_job crash_fill_parts(const char *lines)
{
    return parts_job(lines, "7000", "0");
}

struct crash_job crash_sweep_parts(const char *lines)
{
    return parts_job(lines, "16000", "1000000");
}

void crash_prefill(const char *tool)
{
    crash_clear();
    write_list(crash_path("_others"), "other", NPREFILLED);
    require_run(&(struct crash_job){
        .args = {tool, "add", "--seed", "7", crash_path("s"), crash_path("_others")}});
}

void crash_write_more(const char *tool, unsigned n)
{
    write_list(crash_path("_some"), "more", n / 2);
    write_list(crash_path("_more"), "more", n);
    for (unsigned i = 0; i < 2; i++) {
        require_run(&(struct crash_job){.args = {tool, "add", "--seed", "7",
                                                 crash_path(i ? "_store2" : "_store1"),
                                                 crash_path(i ? "_more" : "_some")}});
    }
}

void crash_dead_begin(const char *tool)
{
    write_list(crash_path("_dead"), "dead", NDEAD);
    write_list(crash_path("_dead_last"), "last", NDEAD_LAST);
    require_run(&(struct crash_job){.args = {tool, "add", "--seed", "7", "--key-bits", "128",
                                             crash_path("s"), crash_path("_dead"),
                                             crash_path("_dead_last")}});
}

void crash_dead_most(const char *tool)
{
    require_run(
        &(struct crash_job){.args = {tool, "remove", crash_path("s"), crash_path("_dead")}});
}

void crash_dead_end(const char *tool, const char *shim)
{
    crash_dead_most(tool);
    const struct crash_job remove = {
        .args = {tool, "remove", crash_path("s"), crash_path("_dead_last")},
        .env = {"UNSEEN_CRASH_FAULT=rename s.unseen-new 1:DIE"},
        .shim = shim,
    };
    if (crash_run(&remove) != 128 + SIGKILL) {
        crash_die("a removal rewrites nothing: %s", crash_messages());
    }
}

unsigned crash_missing(const char *tool, const char *list)
{
    const char *out = crash_path("_missing");
    const struct crash_job check = {
        .args = {tool, "check", "-v", crash_path("s"), crash_path(list)}, .out = out};
    size_t len = 0;
    unsigned n = 0;
    (void)unlink(out);
    if (crash_run(&check) > 1) {
        return UINT_MAX;
    }
    char *text = crash_read(out, &len);
    for (size_t i = 0; text && i < len; i++) {
        n += text[i] == '\n';
    }
    free(text);
    return n;
}

const char *crash_messages(void)
{
    static char *text;
    size_t len = 0;
    free(text);
    text = crash_read(crash_path("_err"), &len);
    if (!text) {
        return "";
    }
    text[len] = 0;
    return text;
}
