/* SPDX-License-Identifier: MIT
 *
 * The settings of a store. A new store gets them from the caller's options, and its header keeps
 * them. When a store is opened again, the options may name only the settings that it has. */
#include "store/store.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/sized.h"
#include "set/set.h"

static const unsigned OTHERS_MAY = 0066;

/* With less, the smallest set of recent keys would soon be too large, and be swept by each
 * commit. */
#define MEMORY_MIN ((uint64_t)1 << 20)

enum unseen_status unseen__store_options(const struct unseen_store_options *given,
                                         struct unseen_store_options *options_out,
                                         struct unseen_error *error)
{
    struct unseen_store_options options = {.size = sizeof(options)};
    const enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_store_options", error);
    if (status != UNSEEN_OK) {
        return status;
    }
    bool counts = false; /* a store has each key once */
    unseen__filter_resolve(&options.filter, &counts, &options.fpr);
    *options_out = options;
    if (options.mode != UNSEEN_STORE_READ && options.mode != UNSEEN_STORE_WRITE &&
        options.mode != UNSEEN_STORE_CREATE && options.mode != UNSEEN_STORE_DRAFT) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_MODE,
                                     "%d is not a mode of a store", (int)options.mode);
    }
    if (options.key_bits != 0 && !unseen__key_bits_are_valid(options.key_bits)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_KEY_BITS,
                                     "keys have 64, 96 or 128 bits, not %u", options.key_bits);
    }
    if (!(options.fpr >= 0 && options.fpr < 1)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FPR,
                                     "a rate of %g is not above 0 and below 1", options.fpr);
    }
    if (options.file_mode != 0 && (options.file_mode & ~OTHERS_MAY) != UNSEEN__STORE_FILE_MODE) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FILE_MODE,
                                     "a file mode of %03o is not 0600 and some of 0066",
                                     options.file_mode);
    }
    if (options.window != 0 && options.window != UNSEEN_NO_WINDOW &&
        (options.window < UNSEEN__LOG_WINDOW_MIN || options.window > UNSEEN__LOG_WINDOW_MAX)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_WINDOW,
                                     "a window of %.15g s is not from 1 s to 100 years",
                                     (double)options.window / 1000);
    }
    if (options.memory != 0 && options.memory < MEMORY_MIN) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "a limit of memory of %llu bytes is below 1 MiB",
                             (unsigned long long)options.memory);
    }
    return unseen__shape_check(options.fpr, options.bits_per_key, error);
}

/* ---- URL identity ---- */

/* Makes store->url for a profile, given by name or id. For "none", store->url is NULL. */
static enum unseen_status make_url(struct unseen_store *store, const char *profile,
                                   struct unseen_error *error)
{
    return unseen__set_url_make(&store->url, profile, store->cpu, &store->allocator, error);
}

enum unseen_status unseen__store_url_make(struct unseen_store *store, struct unseen_error *error)
{
    const char *profile = store->log.header.profile;
    if (store->url || strcmp(profile, unseen__profile_of(NULL)) == 0) {
        return UNSEEN_OK;
    }
    const enum unseen_status status = make_url(store, profile, error);
    return status == UNSEEN_ERR_NAME || status == UNSEEN_ERR_ARGUMENT ||
                   status == UNSEEN_ERR_VERSION
               ? unseen__error_setting(
                     error, UNSEEN_ERR_VERSION, UNSEEN_SETTING_PROFILE,
                     "%s has the profile %s, which this version of unseen does not know",
                     store->log.path, profile)
               : status;
}

/* ---- the header ---- */

enum unseen_status unseen__header_change(struct unseen__log_header *header,
                                         const struct unseen_store_options *options,
                                         const struct unseen__filter_ops **ops_out,
                                         struct unseen_error *error)
{
    const char *name = options->filter ? options->filter : header->filter;
    const enum unseen_status status = unseen__filter_named(name, false, ops_out, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    name = (*ops_out)->name;
    if (options->fpr > 0 || strcmp(name, header->filter) != 0) {
        header->bits_per_key = 0;
        header->hashes = 0;
    }
    memset(header->filter, 0, sizeof(header->filter));
    memcpy(header->filter, name, strlen(name));
    header->fpr = options->fpr > 0 ? options->fpr : header->fpr;
    header->key_bits = options->key_bits ? options->key_bits : header->key_bits;
    header->capacity = options->capacity ? options->capacity : header->capacity;
    header->bits_per_key = options->bits_per_key > 0 ? options->bits_per_key : header->bits_per_key;
    header->hashes = options->hashes ? options->hashes : header->hashes;
    header->window = options->window == UNSEEN_NO_WINDOW ? 0
                     : options->window                   ? options->window
                                                         : header->window;
    if (header->window > 0 && (options->no_log || !((*ops_out)->abilities & UNSEEN_CAN_REMOVE))) {
        return unseen__error_setting(error, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW,
                                     options->no_log ? "a store without a log has no window"
                                                     : "the filter %s cannot remove, so it has no "
                                                       "window; compact and counting have",
                                     name);
    }
    return UNSEEN_OK;
}

struct unseen_set_options unseen__header_set_options(const struct unseen__log_header *header)
{
    return (struct unseen_set_options){
        .size = sizeof(struct unseen_set_options),
        .fpr = header->bits_per_key > 0 ? 0 : header->fpr,
        .capacity = header->capacity,
        .filter = header->filter,
        .key_bits = header->key_bits,
        .bits_per_key = header->bits_per_key,
        .hashes = header->hashes,
    };
}

void unseen__header_take_rate(struct unseen__log_header *header, const struct unseen_set *set)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    if (header->bits_per_key > 0 && unseen_set_stats(set, &stats) == UNSEEN_OK) {
        header->fpr = stats.fpr_promise;
    }
}

/* ---- a new store ---- */

enum unseen_status unseen__store_header_make(struct unseen_store *store,
                                             const struct unseen_store_options *options,
                                             struct unseen_error *error)
{
    struct unseen__log_header *h = &store->log.header;
    *h =
        (struct unseen__log_header){.key_bits = 64, .fpr = UNSEEN_FPR_DEFAULT, .filter = "compact"};
    if (options->like) {
        *h = options->like->log.header;
        h->read_features = 0;
        h->write_features = 0;
    }
    enum unseen_status status = unseen__log_new_id(h->id);
    if (status != UNSEEN_OK) {
        return unseen__error_plain(error, status);
    }
    if (!options->like) {
        status = unseen__secret_make(options->seed, options->seed_len, &h->secret, error);
        if (status != UNSEEN_OK) {
            return status;
        }
    }
    const char *profile =
        options->like && !options->profile ? options->like->log.header.profile : options->profile;
    status = make_url(store, profile, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const char *id = unseen__profile_of(store->url);
    memset(h->profile, 0, sizeof(h->profile));
    memcpy(h->profile, id, strlen(id));
    const struct unseen__filter_ops *ops = NULL;
    status = unseen__header_change(h, options, &ops, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (!options->like && options->key_bits == 0) {
        h->key_bits = unseen__key_bits_for(ops, h->bits_per_key > 0 ? 1 : h->fpr);
    }
    h->read_features |= options->no_log ? UNSEEN__FEATURE_NO_LOG : 0;
    return UNSEEN_OK;
}

/* ---- an existing store ---- */

#define differs(error, setting, ...)                                                               \
    unseen__error_setting(error, UNSEEN_ERR_MISMATCH, setting, __VA_ARGS__)

/* Checks the shape of the filter. */
static enum unseen_status check_shape(const struct unseen__log_header *h, const char *path,
                                      const struct unseen_store_options *options,
                                      struct unseen_error *error)
{
    const double bits = options->bits_per_key;
    const unsigned hashes = options->hashes;
    if (bits > 0 && h->bits_per_key == 0) {
        return differs(error, UNSEEN_SETTING_BITS_PER_KEY,
                       "%s was made for the rate %g, not with %g bits per key", path, h->fpr, bits);
    }
    if (bits > 0 && (bits < h->bits_per_key || bits > h->bits_per_key)) {
        return differs(error, UNSEEN_SETTING_BITS_PER_KEY, "%s has %g bits per key, not %g", path,
                       h->bits_per_key, bits);
    }
    if (hashes && h->hashes == 0) {
        return differs(error, UNSEEN_SETTING_HASHES,
                       "%s was made with the best number of hashes, not with %u", path, hashes);
    }
    if (hashes && hashes != h->hashes) {
        return differs(error, UNSEEN_SETTING_HASHES, "%s has the number of hashes %u, not %u", path,
                       h->hashes, hashes);
    }
    return UNSEEN_OK;
}

static enum unseen_status check_window(const struct unseen__log_header *h, const char *path,
                                       uint64_t window, struct unseen_error *error)
{
    window = window == UNSEEN_NO_WINDOW ? 0 : window;
    if (window == h->window) {
        return UNSEEN_OK;
    }
    return h->window == 0 ? differs(error, UNSEEN_SETTING_WINDOW, "%s has no window", path)
           : window == 0
               ? differs(error, UNSEEN_SETTING_WINDOW, "%s has a window of %.15g s", path,
                         (double)h->window / 1000)
               : differs(error, UNSEEN_SETTING_WINDOW, "%s has a window of %.15g s, not of %.15g s",
                         path, (double)h->window / 1000, (double)window / 1000);
}

static enum unseen_status check_seed(const struct unseen_store *store, const void *seed,
                                     size_t seed_len, struct unseen_error *error)
{
    struct unseen__secret secret;
    const enum unseen_status status = unseen__secret_make(seed, seed_len, &secret, error);
    const bool same =
        status == UNSEEN_OK && unseen__secret_equals(&secret, &store->log.header.secret);
    unseen__secret_forget(&secret);
    if (status == UNSEEN_OK && !same) {
        return differs(error, UNSEEN_SETTING_SEED, "%s was made with another seed",
                       store->log.path);
    }
    return status;
}

/* Checks what makes the keys, against another store. */
static enum unseen_status check_like(const struct unseen_store *store,
                                     const struct unseen_store *other, struct unseen_error *error)
{
    const struct unseen__log_header *h = &store->log.header;
    const struct unseen__log_header *like = &other->log.header;
    if (!unseen__secret_equals(&like->secret, &h->secret) || like->key_bits != h->key_bits ||
        strcmp(like->profile, h->profile) != 0) {
        return differs(error, UNSEEN_SETTING_SEED,
                       "%s exists and is not made like %s: seed, profile or key bits differ",
                       store->log.path, other->log.path);
    }
    return UNSEEN_OK;
}

static enum unseen_status check_profile(struct unseen_store *store, const char *profile,
                                        struct unseen_error *error)
{
    const struct unseen__log_header *h = &store->log.header;
    const enum unseen_status status = make_url(store, profile, error);
    const char *id = unseen__profile_of(store->url);
    if (status == UNSEEN_OK && strcmp(id, h->profile) != 0) {
        return differs(error, UNSEEN_SETTING_PROFILE, "%s has the profile %s, not %s",
                       store->log.path, h->profile, id);
    }
    return status;
}

static enum unseen_status check_file_mode(const struct unseen_store *store, unsigned file_mode,
                                          struct unseen_error *error)
{
    const char *path = store->log.path;
    struct stat st;
    if (fstat(store->log.fd, &st) != 0) {
        return unseen__error_io(error, "read", path, errno);
    }
    if ((st.st_mode & 0777) != file_mode) {
        return differs(error, UNSEEN_SETTING_FILE_MODE, "%s has the mode %03o, not %03o", path,
                       st.st_mode & 0777u, file_mode);
    }
    return UNSEEN_OK;
}

enum unseen_status unseen__store_check_settings(struct unseen_store *store,
                                                const struct unseen_store_options *options,
                                                struct unseen_error *error)
{
    const struct unseen__log_header *h = &store->log.header;
    const char *path = store->log.path;
    enum unseen_status status = UNSEEN_OK;
    if (options->profile) {
        status = check_profile(store, options->profile, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    if (options->filter && strcmp(options->filter, h->filter) != 0) {
        return differs(error, UNSEEN_SETTING_FILTER, "%s has the filter %s, not %s", path,
                       h->filter, options->filter);
    }
    if (options->fpr > 0 && (options->fpr < h->fpr || options->fpr > h->fpr)) {
        return differs(error, UNSEEN_SETTING_FPR, "%s has the rate %g, not %g", path, h->fpr,
                       options->fpr);
    }
    if (options->key_bits && options->key_bits != h->key_bits) {
        return differs(error, UNSEEN_SETTING_KEY_BITS, "%s keeps %u bits of each key, not %u", path,
                       h->key_bits, options->key_bits);
    }
    status = check_shape(h, path, options, error);
    if (status == UNSEEN_OK && options->window) {
        status = check_window(h, path, options->window, error);
    }
    if (status == UNSEEN_OK && options->seed) {
        status = check_seed(store, options->seed, options->seed_len, error);
    }
    if (status == UNSEEN_OK && options->like) {
        status = check_like(store, options->like, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    if (options->no_log && !(h->read_features & UNSEEN__FEATURE_NO_LOG)) {
        return differs(error, UNSEEN_SETTING_NO_LOG, "%s has a log", path);
    }
    return options->file_mode ? check_file_mode(store, options->file_mode, error) : UNSEEN_OK;
}
