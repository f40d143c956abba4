/* SPDX-License-Identifier: MIT
 *
 * Building a list, as users see it: options are checked and given their defaults, identities become
 * keys, and the rest is src/list. */
#include <stddef.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "list/build.h"
#include "list/key.h"

enum {
    KEYS_BATCH = 256, /* keys made at a time from bytes */
    FOLDER_MAX = 4096,
    THREADS_MAX = 256,
    MEMORY_MIN = 1 << 20
};

static const uint64_t MEMORY_DEFAULT = UINT64_C(1) << 30;
static const double FPR_MIN = 1e-9;
static const double FPR_MAX = 0.25;

struct unseen_list_build {
    struct unseen_allocator allocator;
    struct unseen__list_builder *builder;
    struct unseen__hasher hasher;
    bool finished;
};

/* The rate is that of a question, and each of the texts it may be has a share of that. */
static enum unseen_status check_rate(const struct unseen_list_build_options *options,
                                     const char *path, struct unseen_error *error)
{
    const double least = FPR_MIN * unseen_kind_texts_max(options->kind);
    if (options->fpr > 0 && options->fpr < least) {
        return unseen__error_setting(
            error, UNSEEN_ERR_FPR, UNSEEN_SETTING_FPR,
            "%s: a rate of %g is too low: the least for the kind \"%s\" is %.2g", path,
            options->fpr, unseen_kind_name(options->kind), least);
    }
    return options->fpr > 0 && options->fpr <= FPR_MAX
               ? UNSEEN_OK
               : unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FPR,
                                       "%s: a rate of %g is out of its range, %.2g to %g", path,
                                       options->fpr, least, FPR_MAX);
}

static enum unseen_status build_options(const struct unseen_list_build_options *given,
                                        const char *path,
                                        struct unseen_list_build_options *options_out,
                                        struct unseen_error *error)
{
    struct unseen_list_build_options options = {.size = sizeof(options)};
    const enum unseen_status status =
        unseen__sized_take(&options, sizeof(options), given, "unseen_list_build_options", error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    options.fpr = options.fpr == 0 ? UNSEEN_LIST_FPR_DEFAULT : options.fpr;
    options.memory = options.memory ? options.memory : MEMORY_DEFAULT;
    options.memory = options.memory < MEMORY_MIN ? MEMORY_MIN : options.memory;
    options.memory = options.memory > SIZE_MAX / 4 ? SIZE_MAX / 4 : options.memory;
    options.threads = options.threads ? options.threads : 1;
    options.profile = options.profile ? options.profile : "none/1";
    *options_out = options;
    if (options.threads > THREADS_MAX || strlen(options.profile) >= UNSEEN__LIST_PROFILE_LEN ||
        !unseen_kind_name(options.kind)) {
        return unseen__error_status(error, UNSEEN_ERR_ARGUMENT, path);
    }
    return check_rate(&options, path, error);
}

/* The folder of path. */
static bool folder_of(const char *path, char folder[FOLDER_MAX])
{
    const char *slash = strrchr(path, '/');
    const size_t len = !slash || slash == path ? 1 : (size_t)(slash - path);
    if (len >= FOLDER_MAX) {
        return false;
    }
    memcpy(folder, slash ? path : ".", len);
    folder[len] = '\0';
    return true;
}

/* What src/list makes of the options; folder is memory for the default one. */
static enum unseen_status make_plan(const char *path,
                                    const struct unseen_list_build_options *options,
                                    char folder[FOLDER_MAX], struct unseen__list_plan *plan_out,
                                    struct unseen_error *error)
{
    *plan_out = (struct unseen__list_plan){
        .path = path,
        .folder = options->folder ? options->folder : folder,
        .keep = options->keep,
        .fpr = options->fpr,
        .ntexts = unseen_kind_texts_max(options->kind),
        .capacity = options->capacity,
        .memory = (size_t)options->memory,
        .threads = options->threads,
        .profile = options->profile,
        .kind = unseen_kind_name(options->kind),
        .allocator = unseen__allocator(options->allocator),
    };
    if (!options->folder && (options->keep || !folder_of(path, folder))) {
        return unseen__error_setting(
            error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FOLDER, "%s: %s", path,
            options->keep ? "a build that is kept needs a folder" : "the path is too long");
    }
    return unseen__error_prefix(error, unseen__cpu_select(options->cpu, &plan_out->cpu, error),
                                path);
}

/* Begins a build, or goes on with one. secret is NULL, or that of the keys. */
static enum unseen_status start_with(struct unseen_list_build **build_out, const char *path,
                                     const struct unseen_list_build_options *options, bool anew,
                                     const struct unseen__secret *secret,
                                     struct unseen_error *error)
{
    char folder[FOLDER_MAX];
    struct unseen__list_plan plan;
    enum unseen_status status = make_plan(path, options, folder, &plan, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    plan.secret = secret;
    struct unseen_list_build *build =
        unseen__alloc(&plan.allocator, sizeof(*build), _Alignof(max_align_t));
    if (!build) {
        return unseen__error_status(error, UNSEEN_ERR_NOMEM, path);
    }
    *build = (struct unseen_list_build){.allocator = plan.allocator};
    status = anew ? unseen__list_builder_create(&build->builder, &plan, error)
                  : unseen__list_builder_resume(&build->builder, &plan, error);
    if (status != UNSEEN_OK) {
        unseen__free(&plan.allocator, build, sizeof(*build));
        return status;
    }
    unseen__hasher_init(&build->hasher, unseen__list_builder_secret(build->builder), plan.cpu);
    *build_out = build;
    return UNSEEN_OK;
}

static enum unseen_status start_build(struct unseen_list_build **build_out, const char *path,
                                      const struct unseen_list_build_options *options, bool anew,
                                      struct unseen_error *error)
{
    struct unseen__secret secret;
    if (!anew && !options->seed) {
        return start_with(build_out, path, options, anew, NULL, error);
    }
    enum unseen_status status =
        unseen__secret_make(options->seed, options->seed_len, &secret, error);
    if (status != UNSEEN_OK) {
        return unseen__error_prefix(error, status, path);
    }
    status = start_with(build_out, path, options, anew, &secret, error);
    unseen__secret_forget(&secret);
    return status;
}

enum unseen_status unseen_list_build_create(struct unseen_list_build **build_out, const char *path,
                                            const struct unseen_list_build_options *given,
                                            struct unseen_error *error)
{
    struct unseen_list_build_options options;
    const enum unseen_status status = build_options(given, path, &options, error);
    return status == UNSEEN_OK ? start_build(build_out, path, &options, true, error) : status;
}

enum unseen_status unseen_list_build_resume(struct unseen_list_build **build_out, const char *path,
                                            const struct unseen_list_build_options *given,
                                            struct unseen_bytes *note_out,
                                            struct unseen_error *error)
{
    struct unseen_list_build_options options;
    enum unseen_status status = build_options(given, path, &options, error);
    options.keep = true;
    if (status == UNSEEN_OK) {
        status = start_build(build_out, path, &options, false, error);
    }
    if (status == UNSEEN_OK) {
        *note_out = unseen__list_builder_note((*build_out)->builder);
    }
    return status;
}

void unseen_list_build_keep(struct unseen_list_build *build)
{
    unseen__list_builder_keep(build->builder);
}

void unseen_list_build_free(struct unseen_list_build *build)
{
    if (build) {
        const struct unseen_allocator allocator = build->allocator;
        unseen__list_builder_free(build->builder);
        unseen__hasher_release(&build->hasher);
        unseen__free(&allocator, build, sizeof(*build));
    }
}

uint64_t unseen_list_build_key(const struct unseen_list_build *build, const void *data, size_t len)
{
    return unseen__list_key(&build->hasher, data, len);
}

enum unseen_status unseen_list_build_add(struct unseen_list_build *build,
                                         const struct unseen_bytes *items, size_t n,
                                         struct unseen_error *error)
{
    uint64_t keys[KEYS_BATCH];
    enum unseen_status status = UNSEEN_OK;
    for (size_t at = 0; at < n && status == UNSEEN_OK; at += KEYS_BATCH) {
        const size_t count = n - at < KEYS_BATCH ? n - at : KEYS_BATCH;
        unseen__list_keys(&build->hasher, items + at, count, keys);
        status = unseen__list_builder_add(build->builder, keys, count, error);
    }
    return status;
}

enum unseen_status unseen_list_build_add_keys(struct unseen_list_build *build, const uint64_t *keys,
                                              size_t n, struct unseen_error *error)
{
    return unseen__list_builder_add(build->builder, keys, n, error);
}

enum unseen_status unseen_list_build_checkpoint(struct unseen_list_build *build, const void *note,
                                                size_t note_len, struct unseen_error *error)
{
    return unseen__list_builder_checkpoint(build->builder, note, note_len, error);
}

bool unseen_list_build_complete(const struct unseen_list_build *build)
{
    return unseen__list_builder_is_complete(build->builder);
}

enum unseen_status unseen_list_build_finish(struct unseen_list_build *build,
                                            bool (*progress)(void *context, uint64_t ndone,
                                                             uint64_t n),
                                            void *context, struct unseen_error *error)
{
    if (build->finished) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "the list was finished before");
    }
    build->finished = true;
    return unseen__list_builder_finish(build->builder, progress, context, error);
}
