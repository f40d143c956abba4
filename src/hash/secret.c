/* SPDX-License-Identifier: MIT
 *
 * Secrets by libsodium: BLAKE2b with a personalisation string, and overwriting that compilers
 * keep. */
#include "base/posix.h"

#include "hash/secret.h"

#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"

enum {
    BLOCK = 64, /* BLAKE2b's longest output */
    ID_LEN = 16 /* the shortest output that libsodium promises; 8 bytes of it are used */
};

#define PERSON_LEN crypto_generichash_blake2b_PERSONALBYTES

static const uint8_t for_seed[PERSON_LEN] = "unseen seed";
static const uint8_t for_keys[PERSON_LEN] = "unseen keys";
static const uint8_t for_id[PERSON_LEN] = "unseen id";

/* BLAKE2b of data, keyed if secret is not NULL. It fails only for lengths that are not used
 * here. */
static void blake2b(uint8_t *out, size_t out_len, const void *data, size_t len,
                    const struct unseen__secret *secret, const uint8_t person[PERSON_LEN])
{
    (void)crypto_generichash_blake2b_salt_personal(out, out_len, data, len,
                                                   secret ? secret->bytes : NULL,
                                                   secret ? UNSEEN__SECRET_LEN : 0, NULL, person);
}

enum unseen_status unseen__secret_make(const void *seed, size_t seed_len,
                                       struct unseen__secret *secret_out,
                                       struct unseen_error *error)
{
    if (!seed != (seed_len == 0)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_SEED,
                                     "a seed needs at least one byte");
    }
    if (!seed && getentropy(secret_out->bytes, UNSEEN__SECRET_LEN) != 0) {
        return unseen__error_plain(error, UNSEEN_ERR_RANDOM);
    }
    if (!seed) {
        return UNSEEN_OK;
    }
    blake2b(secret_out->bytes, UNSEEN__SECRET_LEN, seed, seed_len, NULL, for_seed);
    return UNSEEN_OK;
}

void unseen__secret_expand(const struct unseen__secret *secret, uint8_t *out, size_t len)
{
    uint8_t block[BLOCK];
    for (uint64_t i = 0; len > 0; i++) {
        uint8_t number[8];
        const size_t n = len < BLOCK ? len : BLOCK;
        store_le64(number, i);
        blake2b(block, BLOCK, number, sizeof(number), secret, for_keys);
        memcpy(out, block, n);
        out += n;
        len -= n;
    }
    sodium_memzero(block, sizeof(block));
}

uint64_t unseen__secret_id(const struct unseen__secret *secret)
{
    uint8_t id[ID_LEN] = {0};
    blake2b(id, ID_LEN, NULL, 0, secret, for_id);
    return load_le64(id);
}

void unseen__secret_forget(struct unseen__secret *secret)
{
    sodium_memzero(secret, sizeof(*secret));
}

bool unseen__secret_equals(const struct unseen__secret *a, const struct unseen__secret *b)
{
    return sodium_memcmp(a->bytes, b->bytes, UNSEEN__SECRET_LEN) == 0;
}
