/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "commands/commands.h"
#include "print/message.h"
#include "seen/stores.h"

/* Says what can be done about two stores that have different keys for a line. */
static void hint_setting(enum unseen_setting setting, const char *out, struct unseen_store *in)
{
    if (setting == UNSEEN_SETTING_KEY_BITS) {
        message_hint("unseen compact --key-bits %u %s", stores_info(in).key_bits, out);
    } else if (setting == UNSEEN_SETTING_SEED) {
        message_hint(
            "stores that will be merged are made with the same --seed-file; now only its URLs "
            "can be added: unseen add %s FILE",
            out);
    } else {
        message_hint("only its URLs can be added: unseen add %s FILE", out);
    }
}

static bool merge_one(struct unseen_store *out, const struct options *o, const char *path,
                      enum unseen_cpu cpu)
{
    struct unseen_store *in = NULL;
    struct unseen_error error;
    uint64_t nnew = 0;
    if (!stores_open_to_read(&in, path, &o->seen, cpu)) {
        return false;
    }
    const enum unseen_status status = unseen_store_merge(out, in, &nnew, &error);
    if (status != UNSEEN_OK) {
        stores_report(path, &o->seen, &error);
    }
    if (status == UNSEEN_ERR_MISMATCH) {
        hint_setting(error.setting, o->input.files[0], in);
    }
    (void)unseen_store_close(in, NULL); /* was only read */
    return status == UNSEEN_OK;
}

/* Opens OUT. If it is new, it gets the settings of the first IN. */
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
            message_error("%s is both the output and an input", o->input.files[i]);
            message_hint("unseen merge OUT IN...: name OUT once, in front: it keeps its URLs");
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
