/* SPDX-License-Identifier: MIT
 *
 * Opens and closes stores for the commands. If that fails, the library's sentence says what is
 * wrong, and this file adds a hint: the command that would work. */
#include "seen/stores.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "folder.h"
#include "lines/files.h"
#include "lines/profile.h"
#include "lines/times.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/filter_words.h"

enum {
    WAIT_PAUSE_NS = 20 * 1000 * 1000
};

#define LOWEST_RATE_OF_64_BITS 5.5e-10

/* ---- What a file is -------------------------------------------------------------------------- */

static bool has_magic(const unsigned char head[8], enum stores_type type)
{
    static const unsigned char letters[] = {
        [STORES_STORE] = 'L',  [STORES_IMAGE] = 'I', [STORES_LIST] = 'T',  [STORES_FOREIGN] = 'F',
        [STORES_BITMAP] = 'B', [STORES_SET] = 'S',   [STORES_LEASES] = 'E'};
    const unsigned char magic[8] = {0x89, 'U', 'N', letters[type], 0x0d, 0x0a, 0x1a, 0x0a};
    return memcmp(head, magic, sizeof(magic)) == 0;
}

/* False if the file ends before. */
static bool read_head(int fd, unsigned char head[8], off_t offset)
{
    for (size_t len = 0; len < 8;) {
        const ssize_t n = pread(fd, head + len, 8 - len, offset + (off_t)len);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        len += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Where each type may have its magic bytes (docs/format.md). A store has two copies of its header;
 * a foreign filter and a bitmap begin with the head of a chunk. */
static enum stores_type type_in(int fd)
{
    static const struct {
        off_t offset;
        enum stores_type type;
    } places[] = {{0, STORES_STORE}, {8192, STORES_STORE}, {0, STORES_IMAGE},
                  {0, STORES_LIST},  {24, STORES_FOREIGN}, {24, STORES_BITMAP},
                  {24, STORES_SET},  {0, STORES_LEASES}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        unsigned char head[8] = {0};
        if (read_head(fd, head, places[i].offset) && has_magic(head, places[i].type)) {
            return places[i].type;
        }
    }
    return STORES_NONE;
}

enum stores_type stores_type_of(const char *path)
{
    enum stores_type type = STORES_NONE;
    struct stat st;
    path = files_is_standard_input(path) ? "/dev/stdin" : path;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        return STORES_NONE;
    }
    const int fd = file_open(path, O_RDONLY);
    if (fd >= 0) {
        type = type_in(fd);
        (void)close(fd); /* was only read */
    }
    return type;
}

const char *stores_type_name(enum stores_type type)
{
    switch (type) {
    case STORES_LIST:
        return "list";
    case STORES_FOREIGN:
        return "foreign filter";
    case STORES_BITMAP:
        return "bitmap";
    case STORES_SET:
        return "saved set";
    case STORES_LEASES:
        return "file of leases";
    default:
        return "store";
    }
}

enum stores_type stores_refuse(const char *path)
{
    const enum stores_type type = stores_type_of(path);
    if (type != STORES_NONE) {
        message_error("%s is a %s, not a file of lines", files_shown(path), stores_type_name(type));
    }
    return type;
}

static bool are_same_files(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool stores_are_same(const char *a, const char *b)
{
    char image_of_a[4096];
    char image_of_b[4096];
    snprintf(image_of_a, sizeof(image_of_a), "%s.image", a);
    snprintf(image_of_b, sizeof(image_of_b), "%s.image", b);
    return are_same_files(a, b) || are_same_files(a, image_of_b) || are_same_files(image_of_a, b);
}

/* ---- What an output must not be -------------------------------------------------------------- */

/* Writes the absolute path of a file without links, which need not exist yet. */
static bool find_real_path(const char *path, char real[PATH_MAX])
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    if (realpath(path, real)) {
        return true;
    }
    const int len = snprintf(folder, sizeof(folder), "%.*s.", (int)(base - path), path);
    if (len < 0 || len >= (int)sizeof(folder) || !realpath(folder, real)) {
        return false;
    }
    const size_t end = strlen(real);
    return snprintf(real + end, PATH_MAX - end, "/%s", base) < (int)(PATH_MAX - end);
}

/* True if both names are one file, or would be. */
static bool are_same_names(const char *a, const char *b)
{
    char real_a[PATH_MAX];
    char real_b[PATH_MAX];
    return are_same_files(a, b) ||
           (find_real_path(a, real_a) && find_real_path(b, real_b) && strcmp(real_a, real_b) == 0);
}

/* True if the image of a store has that name, or will have it. */
static bool is_name_of_image(const char *name, const struct seen_options *o)
{
    static const char suffix[] = ".image";
    char store[PATH_MAX];
    const size_t len = strlen(name);
    if (len < sizeof(suffix) || len >= sizeof(store) ||
        strcmp(name + len - strlen(suffix), suffix) != 0) {
        return false;
    }
    snprintf(store, sizeof(store), "%.*s", (int)(len - strlen(suffix)), name);
    return stores_type_of(store) == STORES_STORE || (o->path && are_same_names(store, o->path));
}

bool stores_check_output(const char *name, const struct seen_options *o)
{
    static const char *const names[] = {[STORES_STORE] = "a store",
                                        [STORES_IMAGE] = "the image of a store",
                                        [STORES_LIST] = "a list",
                                        [STORES_FOREIGN] = "a foreign filter",
                                        [STORES_BITMAP] = "a bitmap",
                                        [STORES_SET] = "a saved set",
                                        [STORES_LEASES] = "a file of leases"};
    if (!name || files_is_standard_input(name)) {
        return true;
    }
    const char *what = names[stores_type_of(name)];
    if (!what && o->path && are_same_names(name, o->path)) {
        what = names[STORES_STORE]; /* which is made only now */
    } else if (!what && is_name_of_image(name, o)) {
        what = names[STORES_IMAGE];
    } else if (!what && o->seed_file && are_same_files(name, o->seed_file)) {
        what = "the file of the seed";
    } else if (!what && o->token_file && are_same_files(name, o->token_file)) {
        what = "the file of the token";
    }
    if (what) {
        message_error("%s is %s, it cannot be written to", name, what);
    }
    return !what;
}

/* ---- What is wrong --------------------------------------------------------------------------- */

/* Hints at the command that does with a list what the user wanted to do with a store. */
static void hint_list(const char *path, const struct seen_options *o)
{
    const char *input = typed_inputs();
    const char *quoted = typed_quoted(path);
    if (o->use->prints_new) {
        message_hint("%s", typed_changed(STORES_OPTIONS, "-x %s", quoted));
    } else if (o->use->list_option) { /* takes one file */
        const bool is_one = input[0] != '\0' && !strchr(input + 1, ' ');
        message_hint("%s%s%sunseen update %s --%s%s", is_one || input[0] == '\0' ? "" : "cat",
                     is_one ? "" : input, is_one || input[0] == '\0' ? "" : " | ", quoted,
                     o->use->list_option, is_one ? input : " -");
    } else if (o->use->list_hint) {
        message_hint(o->use->list_hint, quoted);
    } else {
        message_hint("unseen check %s%s", quoted, input);
    }
}

/* Hints at the command that does with a file of lines what the user wanted to do with a store. */
static void hint_lines(const char *path, const struct seen_options *o)
{
    const char *quoted = typed_quoted(path);
    if (o->use->prints_new) {
        message_hint("%s", typed_changed(STORES_OPTIONS, "-x %s", quoted));
        message_hint("to make a store of the lines: unseen import --format anew NEW.unseen %s",
                     quoted);
    } else if (o->use->asks_only) {
        message_hint("unseen -n%s%s%s -x %s%s", typed_has("invert") ? "" : " -v",
                     typed_has("count") ? " -c" : "", typed_has("quiet") ? " -q" : "", quoted,
                     typed_inputs());
    } else {
        message_hint("to make a store of a list of lines: unseen add NEW.unseen %s", quoted);
    }
}

static void hint_foreign(const char *path, const struct seen_options *o)
{
    struct stat st;
    const char *quoted = typed_quoted(path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        message_hint("it is a folder: name a file in it");
    } else if (stat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
        message_hint("it is the socket of a server: unix:%s", path);
    } else if (stores_type_of(path) == STORES_FOREIGN) {
        message_hint("it is a foreign filter, which takes no lines: unseen -p none -x %s%s", quoted,
                     typed_inputs());
    } else if (stores_type_of(path) == STORES_BITMAP) {
        message_hint("it is a bitmap: unseen bits list %s", quoted);
    } else if (stores_type_of(path) == STORES_IMAGE) {
        const size_t len = strlen(path);
        const size_t end = len > 6 && strcmp(path + len - 6, ".image") == 0 ? len - 6 : len;
        message_hint("it is the image of a store; name the store: %.*s", (int)end, path);
    } else if (stores_type_of(path) == STORES_NONE) {
        hint_lines(path, o);
    }
}

/* The store, or the folder of a store that is to be made, is missing. */
static void hint_missing(const char *path, const struct seen_options *o)
{
    const char *quoted = typed_quoted(path);
    const char *folder = typed_folder(path);
    if (o->use->makes_store && !o->dry_run && folder) {
        message_hint("%s", folder);
    } else if (o->takes_list) {
        message_hint("to make a list: unseen build %s FILE, or a store: unseen add %s FILE", quoted,
                     quoted);
    } else {
        message_hint("to make it: unseen add %s FILE", quoted);
    }
}

/* The owner decides who may open the store. Its image is another file. */
static void hint_mode(const char *why, const char *path, unsigned wanted)
{
    char image[PATH_MAX];
    snprintf(image, sizeof(image), "%s.image", path);
    const bool has_image = access(image, F_OK) == 0;
    message_hint("%schmod %03o %s%s%s", why, wanted, typed_quoted(path), has_image ? " " : "",
                 has_image ? typed_quoted(image) : "");
}

static void hint_io(const char *path, const struct seen_options *o)
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    if (access(path, R_OK) != 0 && errno == EACCES) {
        hint_mode("its owner can let a group read it: ", path, 0640);
        return;
    }
    if (!o->use->prints_new || o->dry_run) {
        return;
    }
    if (stat(path, &st) == 0) {
        message_hint("a copy in another folder can be written; this only asks: %s",
                     typed_with("--dry-run"));
    } else {
        message_hint("%s",
                     typed_with("--store OTHER-FOLDER/%s", typed_quoted(slash ? slash + 1 : path)));
    }
}

void stores_report(const char *path, const struct seen_options *o, const struct unseen_error *error)
{
    if (filters_report(o, error)) {
        return;
    }
    if (error->status == UNSEEN_ERR_FOREIGN && stores_type_of(path) == STORES_LIST) {
        message_error("%s is a list, not a store", path);
        hint_list(path, o);
        return;
    }
    if (error->status == UNSEEN_ERR_FPR) {
        message_error("--fpr %g: %s", o->fpr, unseen_status_string(error->status));
    } else if (error->text[0] != '\0') {
        message_error("%s", error->text);
    } else {
        message_error("%s: %s", path, unseen_status_string(error->status));
    }
    switch (error->status) {
    case UNSEEN_ERR_MISSING:
        hint_missing(path, o);
        break;
    case UNSEEN_ERR_FOREIGN:
        hint_foreign(path, o);
        break;
    case UNSEEN_ERR_VERSION:
        message_hint(
            "this is unseen %s; use the version that wrote it, or make a new one from its URLs: "
            "unseen add NEW FILE",
            unseen_version());
        break;
    case UNSEEN_ERR_CORRUPT:
        message_hint("unseen repair %s", typed_quoted(path));
        break;
    case UNSEEN_ERR_BUSY:
        message_hint("to wait until it has ended: %s", typed_with("--wait"));
        break;
    case UNSEEN_ERR_IO:
        hint_io(path, o);
        break;
    case UNSEEN_ERR_NOMEM:
        if (o->capacity > 0) {
            message_hint("the set grows as needed: %s", typed_without("capacity"));
        }
        break;
    case UNSEEN_ERR_UNSUPPORTED:
        if (o->memory > 0) {
            message_hint("%s", typed_without("memory"));
        }
        break;
    case UNSEEN_ERR_FPR:
        message_hint("%s", typed_with("--fpr 1e-12%s", o->key_bits == 64 ? " --key-bits 96" : ""));
        break;
    default:
        break;
    }
}

void stores_report_commit(const char *path, const struct seen_options *o,
                          const struct unseen_error *error)
{
    message_error("cannot remember: %s", message_of(error));
    if (error->status == UNSEEN_ERR_CORRUPT) {
        message_hint("unseen repair %s", typed_quoted(path));
    } else if (o->use->prints_new) {
        message_hint("nothing is lost: when the disk can be written to again, the next run with -s "
                     "%s prints the lines since the last commit again",
                     path);
    } else {
        message_hint("nothing is lost: do the same again when the cause is gone");
    }
}

/* ---- Another setting than the store's -------------------------------------------------------- */

/* Hints at a rewrite with another filter, another rate or keys of 64 bits. Such keys cannot promise
 * any rate, and those of a store do not get longer. */
static void hint_rewrite(const char *path, const struct seen_options *o,
                         enum unseen_setting setting)
{
    struct unseen_store *store = NULL;
    const struct unseen_store_options wanted = {.size = sizeof(wanted)};
    const char *quoted = typed_quoted(path);
    if (unseen_store_open(&store, path, &wanted, NULL) != UNSEEN_OK) {
        return;
    }
    const struct unseen_store_info info = stores_info(store);
    if (setting == UNSEEN_SETTING_FILTER) {
        filters_hint_rewrite(o, unseen_store_set(store), info.fpr);
    } else if (setting == UNSEEN_SETTING_KEY_BITS) {
        message_hint("unseen rewrite --key-bits 64%s %s", stores_rate_for(store, 64), quoted);
    } else if (info.key_bits == 64 && o->fpr < LOWEST_RATE_OF_64_BITS) {
        message_hint("%s", typed_without("fpr"));
    } else {
        message_hint("unseen rewrite --fpr %g %s", o->fpr, quoted);
    }
    (void)unseen_store_close(store, NULL); /* was only read */
}

/* The command that changes the setting, or else the command at hand without it. */
static void hint_setting(const char *path, const struct seen_options *o,
                         enum unseen_setting setting)
{
    char shape[FILTERS_SHAPE_CAP];
    char window[STORES_WINDOW_CAP];
    switch (setting) {
    case UNSEEN_SETTING_PROFILE:
        if (o->profile_hint) {
            message_hint("%s", o->profile_hint);
            return;
        }
        break;
    case UNSEEN_SETTING_FILTER:
        hint_rewrite(path, o, setting);
        return;
    case UNSEEN_SETTING_FPR:
        if (o->fpr > 0) { /* --filter exact names a rate, too */
            hint_rewrite(path, o, setting);
            return;
        }
        break;
    case UNSEEN_SETTING_BITS_PER_KEY:
    case UNSEEN_SETTING_HASHES:
        filters_shape(o, shape);
        message_hint("unseen rewrite%s %s", shape, typed_quoted(path));
        return;
    case UNSEEN_SETTING_KEY_BITS:
        if (o->key_bits == 64) { /* shorter than any other */
            hint_rewrite(path, o, setting);
            return;
        }
        break;
    case UNSEEN_SETTING_WINDOW:
        stores_window_text(o->window, window);
        message_hint("unseen rewrite --window %s %s", window, typed_quoted(path));
        return;
    case UNSEEN_SETTING_FILE_MODE:
        hint_mode("", path, o->file_mode);
        return;
    default:
        break;
    }
    message_hint("%s", typed_without(STORES_SETTINGS));
}

/* ---- Opening --------------------------------------------------------------------------------- */

bool stores_wait(const struct seen_options *o, double *start, const struct unseen_error *error)
{
    const struct timespec pause = {0, WAIT_PAUSE_NS};
    if (error->status != UNSEEN_ERR_BUSY) {
        return false;
    }
    const double now = clock_now();
    if (*start <= 0) {
        *start = now;
        if (isinf(o->wait)) {
            message_plain("unseen: waiting: %s", error->text);
        }
    }
    if (now - *start >= o->wait) {
        return false;
    }
    (void)nanosleep(&pause, NULL); /* a signal makes it shorter */
    return true;
}

/* Keys would stay seen for so much longer than their window. */
static void report_clock(const char *path, const struct unseen_store_info *info)
{
    char ahead[TIMES_TEXT_MAX];
    char day[TIMES_TEXT_MAX];
    const uint64_t now = clock_since_1970();
    const uint64_t slack = info->window / 1000 > 1000 ? info->window / 1000 : 1000;
    if (info->window == 0 || info->clock <= now + slack) {
        return;
    }
    times_put(info->clock, ahead);
    times_put(now, day);
    message_warning("%s: its clock is at %s, but the time of day is %s: until then nothing is "
                    "forgotten",
                    path, ahead, day);
    message_hint("to set it to the time of day: unseen rewrite --reset-clock %s",
                 typed_quoted(path));
}

static void report_mended(const char *path, enum unseen_store_mode mode, struct unseen_store *store)
{
    const struct unseen_store_info info = stores_info(store);
    report_clock(path, &info);
    if (info.torn_bytes > 0 && mode == UNSEEN_STORE_READ) {
        message_warning("%s: an unfinished commit of %" PRIu64
                        " bytes at its end is not read: another process writes it, or was "
                        "interrupted",
                        path, info.torn_bytes);
    } else if (info.torn_bytes > 0) {
        message_warning("%s: an unfinished commit of %" PRIu64
                        " bytes was cut off; its lines will be new again",
                        path, info.torn_bytes);
    }
    if (info.header_damaged) {
        message_warning("%s: one of its two headers %s damaged, the other is good", path,
                        mode == UNSEEN_STORE_READ ? "is" : "was");
    }
    if (info.image_damaged) {
        message_warning("%s.image is damaged or cannot be read; the log was read in its place",
                        path);
    }
}

static bool open_with(struct unseen_store **store_out, const char *path,
                      const struct unseen_store_options *wanted, const struct seen_options *o)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    enum unseen_status status = UNSEEN_OK;
    double start = 0;
    do {
        status = unseen_store_open(store_out, path, wanted, &error);
        error.status = status;
    } while (stores_wait(o, &start, &error));
    if (status == UNSEEN_OK) {
        report_mended(path, wanted->mode, *store_out);
        if (!o->has_line_times) {
            (void)stores_tell_time(*store_out, STORES_LEAVING); /* the next call fails as well */
        }
        return true;
    }
    stores_report(path, o, &error);
    if (status == UNSEEN_ERR_MISMATCH) {
        hint_setting(path, o, error.setting);
    }
    return false;
}

bool stores_open_to_read(struct unseen_store **store_out, const char *path,
                         const struct seen_options *o, enum unseen_cpu cpu)
{
    const struct unseen_store_options wanted = {
        .size = sizeof(wanted), .cpu = cpu, .memory = o->memory};
    return open_with(store_out, path, &wanted, o);
}

bool stores_open_for_keys(struct unseen_store **store_out, const char *path,
                          const struct seen_options *o, enum unseen_cpu cpu)
{
    const struct unseen_store_options wanted = {
        .size = sizeof(wanted), .cpu = cpu, .memory = o->memory, .keys_only = true};
    return open_with(store_out, path, &wanted, o);
}

bool stores_refresh(struct unseen_store *store, struct unseen_error *error)
{
    *error = (struct unseen_error){.status = UNSEEN_OK};
    error->status = unseen_store_refresh(store, error);
    return error->status == UNSEEN_OK || error->status == UNSEEN_ERR_MISSING;
}

/* As open_with; a new store gets the settings of --like. */
static bool open_like(struct unseen_store **store_out, const char *path,
                      struct unseen_store_options *wanted, const struct seen_options *o)
{
    struct unseen_store *like = NULL;
    if (o->like && !stores_open_to_read(&like, o->like, o, wanted->cpu)) {
        return false;
    }
    wanted->like = like;
    const bool opened = open_with(store_out, path, wanted, o);
    (void)unseen_store_close(like, NULL); /* was only read */
    return opened;
}

bool stores_open(struct unseen_store **store_out, const char *path, enum unseen_store_mode mode,
                 const struct seen_options *o, const struct profile_options *profile,
                 enum unseen_cpu cpu)
{
    struct unseen_url *url = NULL;
    struct unseen_store_options wanted = {
        .size = sizeof(wanted),
        .mode = mode,
        .filter = o->filter,
        .fpr = o->fpr,
        .bits_per_key = o->bits_per_key,
        .hashes = o->hashes,
        .key_bits = o->key_bits,
        .seed = seed_bytes(&o->seed),
        .seed_len = o->seed.len,
        .capacity = o->capacity,
        .no_log = o->no_log,
        .cpu = cpu,
        .file_mode = o->file_mode,
        .notify_fd = o->notify_fd,
        .window = o->window,
        .memory = o->memory,
    };
    if (profile->name || profile->nrules > 0 || o->profile) {
        if (!profile_create(&url, profile, o->profile, cpu)) {
            return false;
        }
        wanted.profile = unseen_url_id(url);
    }
    const bool opened = open_like(store_out, path, &wanted, o);
    unseen_url_free(url);
    return opened;
}

/* All changes are committed, but the image could not be written, or damage was met; or without a
 * log nothing is. */
static void report_untidy(const char *path, const struct seen_options *o,
                          const struct unseen_error *error, bool no_log)
{
    const bool is_damage = error->status == UNSEEN_ERR_CORRUPT;
    if (no_log || (error->status != UNSEEN_ERR_IMAGE && !is_damage)) {
        stores_report_commit(path, o, error); /* without a log, the image is all that there is */
        return;
    }
    message_error("%s", message_of(error));
    if (is_damage) {
        message_hint("unseen repair %s", typed_quoted(path));
        return;
    }
    message_hint("nothing is lost: %s has everything, the next run only takes longer to open it",
                 path);
}

/* The lock is still held, so nobody else has added anything; whoever waits for the lock sees that
 * the name is gone, as after a rewrite. */
static void remove_unused(struct unseen_store *store, const char *path, uint64_t ndurable)
{
    if (stores_info(store).is_new && ndurable == 0) {
        (void)unlink(path); /* if this fails, the store stays, empty */
    }
}

bool stores_close(struct unseen_store *store, const char *path, const struct seen_options *o,
                  bool run_failed)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    if (!store) {
        return true;
    }
    uint64_t ndurable = 0;
    error.status = unseen_store_commit_poll(store, true, &ndurable, &error);
    if (error.status != UNSEEN_OK && error.status != UNSEEN_ERR_READONLY) {
        stores_report_commit(path, o, &error);
        (void)unseen_store_close(store, NULL); /* the cause has just been reported */
        return false;
    }
    const bool no_log = stores_info(store).no_log;
    if (run_failed) {
        remove_unused(store, path, ndurable);
    }
    error.status = unseen_store_close(store, &error);
    if (error.status != UNSEEN_OK) {
        report_untidy(path, o, &error, no_log);
    }
    return error.status == UNSEEN_OK;
}

/* Warns if the time of day was set ahead by more than the window of the store since the last call:
 * then all is forgotten at once. */
static void report_jump(struct unseen_store *store, uint64_t now)
{
    static uint64_t last; /* time of day */
    static uint64_t last_up;
    const uint64_t up = clock_milliseconds();
    const uint64_t expected = last > 0 ? last + (up - last_up) : now;
    const uint64_t least = 1000; /* of windows */
    last = now;
    last_up = up;
    if (now <= expected + least || stores_info(store).window == 0 ||
        now <= expected + stores_info(store).window) {
        return;
    }
    char from[TIMES_TEXT_MAX];
    char to[TIMES_TEXT_MAX];
    times_put(expected, from);
    times_put(now, to);
    message_warning(
        "the time of day was set from %s to %s, which is more than the window: what was "
        "seen before is forgotten",
        from, to);
}

enum unseen_status stores_tell_time(struct unseen_store *store, size_t max)
{
    const uint64_t now = clock_since_1970();
    report_jump(store, now);
    return unseen_store_expire(store, now, max, NULL);
}

void stores_window_text(uint64_t window, char text[STORES_WINDOW_CAP])
{
    static const struct {
        uint64_t ms;
        const char *name;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}};
    size_t i = 0;
    while (i < 3 && window % units[i].ms != 0) {
        i++;
    }
    if (window == 0 || window == UNSEEN_NO_WINDOW) {
        (void)snprintf(text, STORES_WINDOW_CAP, "none");
        return;
    }
    (void)snprintf(text, STORES_WINDOW_CAP, "%.15g%s", (double)window / (double)units[i].ms,
                   units[i].name);
}

struct unseen_store_info stores_info(struct unseen_store *store)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    (void)unseen_store_info(store, &info); /* fails for a wrong size only */
    return info;
}

const char *stores_rate_for(struct unseen_store *store, unsigned key_bits)
{
    const bool grows = stores_stats(unseen_store_set(store)).abilities & UNSEEN_CAN_GROW;
    return key_bits == 64 && grows && stores_info(store).fpr < LOWEST_RATE_OF_64_BITS
               ? STORES_RATE_OF_64_BITS
               : "";
}

struct unseen_set_stats stores_stats(const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats), .filter = "", .cpu = ""};
    (void)unseen_set_stats(set, &stats); /* fails for a wrong size only */
    return stats;
}
