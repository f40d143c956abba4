/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "print/message.h"
#include "seen/stores.h"

/* ---- Whether keys can be compared ------------------------------------------------------------ */

struct settings {
    const char *path;
    const char *profile;
    uint64_t seed_id;
    unsigned key_bits;
};

static struct settings settings_of(struct unseen_store *store, const char *path)
{
    const struct unseen_store_info info = stores_info(store);
    return (struct settings){path, unseen_set_profile(unseen_store_set(store)), info.seed_id,
                             info.key_bits};
}

bool merge_check(struct unseen_store *to, const char *to_path, struct unseen_store *from,
                 const char *from_path)
{
    const struct settings out = settings_of(to, to_path);
    const struct settings in = settings_of(from, from_path);
    if (strcmp(in.profile, out.profile) != 0) {
        message_error("%s has the profile %s, %s has %s", in.path, in.profile, out.path,
                      out.profile);
        message_hint("only its URLs can be added: unseen add %s FILE", out.path);
        return false;
    }
    if (in.seed_id != out.seed_id) {
        message_error("%s has the seed id %016" PRIx64 ", %s has %016" PRIx64, in.path, in.seed_id,
                      out.path, out.seed_id);
        message_hint(
            "stores that will be merged are made with the same --seed-file; now only its URLs "
            "can be added: unseen add %s FILE",
            out.path);
        return false;
    }
    if (in.key_bits < out.key_bits) {
        message_error("%s keeps %u bits of each key, %s keeps %u", in.path, in.key_bits, out.path,
                      out.key_bits);
        message_hint("unseen compact --key-bits %u %s", in.key_bits, out.path);
        return false;
    }
    return true;
}

/* ---- Merging --------------------------------------------------------------------------------- */

static bool merge_one(struct unseen_store *out, const struct options *o, const char *path,
                      enum unseen_cpu cpu)
{
    struct unseen_store *in = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    uint64_t nnew = 0;
    if (!stores_open_to_read(&in, path, &o->seen, cpu)) {
        return false;
    }
    bool merged = merge_check(out, o->input.files[0], in, path);
    if (merged) {
        error.status = unseen_store_merge(out, in, &nnew, &error);
        merged = error.status == UNSEEN_OK;
        if (!merged) {
            stores_report(path, &o->seen, &error);
        }
    }
    (void)unseen_store_close(in, NULL); /* was only read */
    return merged;
}

/* A new store gets all settings of the first one that goes into it. */
static bool open_out(struct unseen_store **out, const struct options *o, enum unseen_cpu cpu)
{
    struct stat st;
    const char *path = o->input.files[0];
    if (stat(path, &st) == 0) {
        return stores_open(out, path, UNSEEN_STORE_WRITE, &o->seen, &o->profile, cpu);
    }
    struct unseen_store *first = NULL;
    if (!stores_open_to_read(&first, o->input.files[1], &o->seen, cpu)) {
        return false;
    }
    struct unseen_error error = {.status = UNSEEN_OK};
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_CREATE,
                                                 .like = first,
                                                 .cpu = cpu,
                                                 .file_mode = o->seen.file_mode};
    error.status = unseen_store_open(out, path, &options, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(path, &o->seen, &error);
    }
    (void)unseen_store_close(first, NULL); /* was only read */
    return error.status == UNSEEN_OK;
}

static bool check_names(const struct options *o)
{
    if (o->input.nfiles < 2) {
        message_error("nothing to merge into %s", o->input.files[0]);
        message_hint("unseen merge %s IN.unseen IN.unseen", o->input.files[0]);
        return false;
    }
    for (size_t i = 1; i < o->input.nfiles; i++) {
        if (stores_are_same(o->input.files[0], o->input.files[i])) {
            message_error("%s is what the others are merged into", o->input.files[i]);
            message_hint("unseen merge OUT IN...: name it once, in front; what it has stays in it");
            return false;
        }
    }
    return true;
}

int merge_run(const struct options *o, enum unseen_cpu cpu)
{
    struct unseen_store *out = NULL;
    if (!check_names(o) || !open_out(&out, o, cpu)) {
        return EXIT_TROUBLE;
    }
    bool merged = true;
    for (size_t i = 1; i < o->input.nfiles && merged; i++) {
        merged = merge_one(out, o, o->input.files[i], cpu);
    }
    return stores_close(out, o->input.files[0], &o->seen) && merged ? EXIT_DONE : EXIT_TROUBLE;
}
