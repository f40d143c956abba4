/* SPDX-License-Identifier: MIT
 *
 * What another user of the same machine has put in place of our work files is neither followed, nor
 * waited for, nor written to; and nobody but the owner reads what holds a seed or keys.
 *
 * Label: threads */
#include "folder_check.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unseen_list.h>

enum {
    PATH_CAP = 300,
    NKEYS = 70000, /* so many that a store gets an image */
    NOBODY = 65534
};

static const char VICTIM[] = "precious\n";

static char folder[PATH_CAP - 100];
static struct unseen_error error;

/* ---- traps ---- */

enum trap {
    SYMBOLIC_LINK,
    DEAD_LINK,
    HARD_LINK,
    FIFO,
    DIRECTORY,
    FOREIGN_FILE, /* only root can make one */
    NTRAPS
};

static const char *const reasons[] = {"symbolic link",      "symbolic link", "hard link",
                                      "not a regular file", "not a regular", "another user"};

static const char *name_of(const char *name)
{
    static char names[4][PATH_CAP];
    static unsigned next;
    char *to = names[next++ % 4];
    snprintf(to, PATH_CAP, "%s/%s", folder, name);
    return to;
}

static void write_file(const char *name, const char *text)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static bool is_untouched(const char *name)
{
    char text[64] = "";
    const int fd = open(name, O_RDONLY);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : -1;
    return fd >= 0 && close(fd) == 0 && n == (ssize_t)strlen(VICTIM) &&
           memcmp(text, VICTIM, strlen(VICTIM)) == 0;
}

/* False if this trap cannot be set here. */
static bool set_trap(enum trap trap, const char *at)
{
    const char *victim = name_of("victim");
    write_file(victim, VICTIM);
    switch (trap) {
    case SYMBOLIC_LINK:
        return symlink(victim, at) == 0;
    case DEAD_LINK:
        return symlink(name_of("nothing"), at) == 0;
    case HARD_LINK:
        return link(victim, at) == 0;
    case FIFO:
        return mkfifo(at, 0666) == 0;
    case DIRECTORY:
        return mkdir(at, 0777) == 0;
    default:
        write_file(at, VICTIM);
        return chmod(at, 0666) == 0 && chown(at, NOBODY, NOBODY) == 0;
    }
}

static void remove_trap(const char *at)
{
    CHECK(unlink(at) == 0 || rmdir(at) == 0);
}

static void check_refused(enum unseen_status status, enum trap trap, const char *at)
{
    struct stat st;
    if (!CHECK(status == UNSEEN_ERR_FOREIGN) || !CHECK(strstr(error.text, at) != NULL) ||
        !CHECK(strstr(error.text, reasons[trap]) != NULL)) {
        fprintf(stderr, "trap %d: %d, %s\n", (int)trap, (int)status, error.text);
    }
    CHECK(is_untouched(name_of("victim")) && stat(name_of("nothing"), &st) != 0);
    CHECK(trap != FOREIGN_FILE || is_untouched(at));
}

static unsigned mode_of(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? st.st_mode & 0777 : 0;
}

/* ---- lists ---- */

static struct unseen_list_build *begin(void)
{
    const uint64_t seed = 42;
    const uint64_t keys[] = {1, 2, 3};
    struct unseen_list_build *b = NULL;
    const struct unseen_list_build_options options = {
        .size = sizeof(options), .seed = &seed, .seed_len = sizeof(seed), .cpu = test_cpu};
    CHECK(unseen_list_build_create(&b, name_of("a.list"), &options, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_add_keys(b, keys, 3, &error) == UNSEEN_OK);
    return b;
}

static void test_new_list(void)
{
    char at[PATH_CAP];
    snprintf(at, sizeof(at), "%s/a.list.new", folder);
    for (int trap = 0; trap < NTRAPS; trap++) {
        if (!set_trap((enum trap)trap, at)) {
            test_skip("only root can make another user's file");
            (void)unlink(at);
            continue;
        }
        struct unseen_list_build *b = begin();
        check_refused(unseen_list_build_finish(b, NULL, NULL, &error), (enum trap)trap, at);
        unseen_list_build_free(b);
        remove_trap(at);
    }
}

/* While a list is made only its owner may read it. */
static bool look_at_work(void *context, uint64_t ndone, uint64_t n)
{
    unsigned *mode = context;
    (void)ndone;
    (void)n;
    *mode |= mode_of(name_of("a.list.new"));
    return true;
}

static void test_list_modes(void)
{
    static const struct {
        mode_t mask;
        unsigned mode;
    } cases[] = {{0, 0644}, {022, 0644}, {027, 0640}, {077, 0600}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned mode = 0;
        const mode_t before = umask(cases[i].mask);
        struct unseen_list_build *b = begin();
        uint64_t keys[2000];
        uint64_t state = i;
        for (size_t k = 0; k < 2000; k++) {
            keys[k] = test_random(&state);
        }
        CHECK(unseen_list_build_add_keys(b, keys, 2000, &error) == UNSEEN_OK);
        CHECK(unseen_list_build_finish(b, look_at_work, &mode, &error) == UNSEEN_OK);
        unseen_list_build_free(b);
        CHECK_EQ(mode, 0600);
        CHECK_EQ(mode_of(name_of("a.list")), cases[i].mode);
        (void)umask(before);
    }
    /* What an earlier builder has left, with whatever rights, is no file to go on with. */
    write_file(name_of("a.list.new"), "old");
    CHECK(chmod(name_of("a.list.new"), 0666) == 0);
    const int held = open(name_of("a.list.new"), O_RDWR);
    struct unseen_list_build *b = begin();
    CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_OK);
    unseen_list_build_free(b);
    struct stat st;
    CHECK(fstat(held, &st) == 0 && st.st_size == 3 && st.st_nlink == 0 && close(held) == 0);
    CHECK(unlink(name_of("a.list")) == 0);
}

/* ---- stores ---- */

static enum unseen_status open_store(struct unseen_store **store_out, unsigned file_mode)
{
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_CREATE,
                                                 .profile = "none",
                                                 .file_mode = file_mode,
                                                 .cpu = test_cpu};
    *store_out = NULL;
    return unseen_store_open(store_out, name_of("s"), &options, &error);
}

static void add(struct unseen_store *store, uint32_t n)
{
    enum unseen_verdict verdict;
    for (uint32_t i = 0; i < n; i++) {
        CHECK(test_store_add(store, &i, sizeof(i), &verdict) == UNSEEN_OK);
    }
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
}

static void test_store_modes(void)
{
    static const struct {
        mode_t mask;
        unsigned given;
        unsigned mode;
    } cases[] = {{0, 0, 0600}, {022, 0, 0600}, {077, 0640, 0640}, {022, 0666, 0666}};
    struct unseen_store *store = NULL;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const mode_t before = umask(cases[i].mask);
        CHECK(open_store(&store, cases[i].given) == UNSEEN_OK);
        add(store, NKEYS);
        CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
        CHECK_EQ(mode_of(name_of("s")), cases[i].mode);
        CHECK_EQ(mode_of(name_of("s.image")), cases[i].mode);
        CHECK(unseen_store_rewrite(name_of("s"), NULL, &error) == UNSEEN_OK);
        CHECK_EQ(mode_of(name_of("s")), cases[i].mode);

        CHECK(open_store(&store, cases[i].mode) == UNSEEN_OK);
        CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
        CHECK(open_store(&store, 0) == UNSEEN_OK);
        CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
        CHECK(open_store(&store, 0604) == UNSEEN_ERR_MISMATCH);
        CHECK(strstr(error.text, "not 604"));
        (void)unlink(name_of("s.image"));
        CHECK(unlink(name_of("s")) == 0);
        (void)umask(before);
    }
    static const unsigned wrong[] = {0400, 0060, 0700, 0601, 01600, 0100600};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK(open_store(&store, wrong[i]) == UNSEEN_ERR_ARGUMENT);
        CHECK(access(name_of("s"), F_OK) != 0);
    }
}

/* Root writes a user's store anew, and it stays that user's. */
static void test_owner(void)
{
    struct unseen_store *store = NULL;
    struct stat st;
    if (getuid() != 0) {
        test_skip("only root can give a file away");
        return;
    }
    CHECK(open_store(&store, 0640) == UNSEEN_OK);
    CHECK(chown(name_of("s"), NOBODY, 7) == 0);
    add(store, NKEYS);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(stat(name_of("s.image"), &st) == 0 && st.st_uid == NOBODY && st.st_gid == 7);
    CHECK(unseen_store_rewrite(name_of("s"), NULL, &error) == UNSEEN_OK);
    CHECK(stat(name_of("s"), &st) == 0 && st.st_uid == NOBODY && st.st_gid == 7);
    CHECK_EQ(st.st_mode & 0777, 0640);

    /* Its owner, who is not in that group, must not let another group read it. */
    CHECK(chown(folder, NOBODY, NOBODY) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool dropped = setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
        _exit(dropped && unseen_store_rewrite(name_of("s"), NULL, &error) == UNSEEN_OK ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(chown(folder, 0, 0) == 0);
    CHECK(stat(name_of("s"), &st) == 0 && st.st_uid == NOBODY && st.st_gid == NOBODY);
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK(unlink(name_of("s")) == 0);
}

/* A run was interrupted: the end of its output goes to NAME.cut. */
static enum unseen_status cut_output(struct unseen_store **store_out, int *fd_out)
{
    struct unseen_store *store = NULL;
    const char *output = name_of("out");
    uint64_t len = 0;
    *fd_out = open(output, O_RDWR | O_CREAT, 0644);
    CHECK(open_store(&store, 0) == UNSEEN_OK);
    CHECK(unseen_store_output(store, *fd_out, output, &len, &error) == UNSEEN_OK);
    add(store, 10);
    CHECK(write(*fd_out, "behind", 6) == 6);
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(open_store(store_out, 0) == UNSEEN_OK);
    return unseen_store_output(*store_out, *fd_out, output, &len, &error);
}

static void end_output(struct unseen_store *store, int fd)
{
    CHECK(unseen_store_close(store, &error) == UNSEEN_OK);
    CHECK(close(fd) == 0 && unlink(name_of("out")) == 0 && unlink(name_of("s")) == 0);
}

static void test_cut(void)
{
    const char *at = name_of("out.cut");
    struct unseen_store *store = NULL;
    struct stat st;
    char name[PATH_CAP];
    int fd = -1;
    snprintf(name, sizeof(name), "%s", at);
    for (int trap = 0; trap < NTRAPS; trap++) {
        if (!set_trap((enum trap)trap, name)) {
            (void)unlink(name);
            continue;
        }
        check_refused(cut_output(&store, &fd), (enum trap)trap, name);
        CHECK(fstat(fd, &st) == 0 && st.st_size == 6); /* nothing is cut then */
        end_output(store, fd);
        remove_trap(name);
    }
    const mode_t before = umask(0);
    CHECK(cut_output(&store, &fd) == UNSEEN_OK);
    end_output(store, fd);
    CHECK_EQ(mode_of(name), 0600);
    CHECK(cut_output(&store, &fd) == UNSEEN_OK);
    end_output(store, fd);
    CHECK(stat(name, &st) == 0 && st.st_size == 12);
    CHECK(unlink(name) == 0);
    (void)umask(before);
}

int main(void)
{
    test_start();
    test_folder_make(folder, sizeof(folder), "own");
    test_new_list();
    test_list_modes();
    test_store_modes();
    test_owner();
    test_cut();
    (void)unlink(name_of("victim"));
    CHECK(rmdir(folder) == 0);
    return test_end();
}
