/* SPDX-License-Identifier: MIT */
#include "seen/merge_check.h"

#include <inttypes.h>
#include <string.h>

#include "print/message.h"

struct settings {
    const char *path;
    const char *profile;
    uint64_t seed_id;
    unsigned key_bits;
};

static struct settings settings_of(struct unseen_store *store, const char *path)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    (void)unseen_store_info(store, &info); /* fails for a wrong size only */
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
