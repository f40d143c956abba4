/* SPDX-License-Identifier: MIT
 *
 * Damage of every kind to the two files of a store: each bit turned over, each length cut to,
 * blocks of 512 and of 4,096 bytes exchanged. Four stores: a log alone, one with an image of all
 * of it, one with an image of its first records, and the same with a window, whose last record
 * says that the first has left.
 *
 * A damaged store must be refused with a message that names the file, or answer rightly for every
 * key. `verify` must find the damage. After `repair` the store is open to work again and has every
 * key of an intact record. One thing is allowed beside that: damage in the last record, or a
 * shorter file, is the same as a torn commit (docs/format.md, "The end"). Then exactly the records
 * from there on must be gone, and that is counted apart.
 *
 *     crash_flips [PLANT]
 *
 * With the plant `reseal` the checksum of a damaged record is made right again, which must be
 * noticed; with `reseal-time` only bits of times are turned over, in the store with a window. */
#include "crash.h"

#include <unistd.h>

#include "pair.h"

enum {
    CASES_CI = 5000,
    SCALE_ALL = 100, /* from this UNSEEN_CRASH_SCALE on: all of them */
    WRITE_EVERY = 16,
    REPAIR_EVERY = 8,
    FAILURES_SHOWN = 20,
    NPARTS = PAIR_NRECORDS + 1, /* of the log: the records, and the one without keys that ends it */
    ALL_RECORDS = (1 << NPARTS) - 1
};

enum damage_kind {
    DAMAGE_FLIP,     /* bit number `at` */
    DAMAGE_CUT,      /* to length `at` */
    DAMAGE_EXCHANGE, /* blocks at and at2, of len bytes */
};

struct damage {
    enum damage_kind kind;
    bool image;
    uint64_t at;
    uint64_t at2;
    size_t len;
};

static struct {
    const char *plant;
    bool only_time;
    struct pair pair;
    int image_after;
    uint64_t ncases;
    uint64_t nrefused;
    uint64_t nharmless;
    uint64_t ntorn;
    uint64_t nrepaired;
    uint64_t nwrong;
} flips;

static const char *log_path(void)
{
    return crash_path("s");
}

static void wrong(const struct damage *d, const char *what, const char *detail)
{
    static const char *const kinds[] = {"bit", "cut to", "blocks"};
    if (flips.nwrong++ < FAILURES_SHOWN) {
        fprintf(stderr, "image of %d records, %s %s %llu (%llu, %zu): %s: %s\n", flips.image_after,
                d->image ? "image" : "log", kinds[d->kind], (unsigned long long)d->at,
                (unsigned long long)d->at2, d->len, what, detail);
    }
}

/* ---- Damaging -------------------------------------------------------------------------------- */

static void exchange(uint8_t *a, uint8_t *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const uint8_t t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static int record_at(uint64_t offset)
{
    int record = 0;
    while (record < NPARTS && offset >= flips.pair.offsets[record + 1]) {
        record++;
    }
    return offset < PAIR_RECORDS_OFFSET ? -1 : record;
}

static void write_damaged(const struct damage *d)
{
    const uint8_t *original = d->image ? flips.pair.image : flips.pair.log;
    size_t len = d->image ? flips.pair.image_len : flips.pair.log_len;
    uint8_t *bytes = malloc(len);
    crash_require(bytes != NULL, "malloc");
    memcpy(bytes, original, len);
    switch (d->kind) {
    case DAMAGE_FLIP:
        bytes[d->at / 8] ^= (uint8_t)(1u << d->at % 8);
        if (flips.plant && !d->image && record_at(d->at / 8) >= 0) {
            const uint64_t *offset = &flips.pair.offsets[record_at(d->at / 8)];
            pair_reseal(bytes, offset[0], offset[1] - offset[0]);
        }
        break;
    case DAMAGE_CUT:
        len = (size_t)d->at;
        break;
    case DAMAGE_EXCHANGE:
        exchange(bytes + d->at, bytes + d->at2, d->len);
        break;
    }
    crash_write(d->image ? crash_path("s.image") : log_path(), bytes, len);
    free(bytes);
}

static void write_intact(bool image)
{
    if (image) {
        crash_write(crash_path("s.image"), flips.pair.image, flips.pair.image_len);
    } else {
        crash_write(log_path(), flips.pair.log, flips.pair.log_len);
    }
}

static void write_both_intact(void)
{
    crash_clear();
    write_intact(false);
    if (flips.pair.image) {
        write_intact(true);
    }
}

/* The records that the damage does not touch: a repair must keep them. */
static unsigned intact(const struct damage *d)
{
    unsigned records = ALL_RECORDS;
    if (d->image) {
        return records;
    }
    for (int i = 0; i < NPARTS; i++) {
        const uint64_t start = flips.pair.offsets[i];
        const uint64_t end = flips.pair.offsets[i + 1];
        const uint64_t at = d->kind == DAMAGE_FLIP ? d->at / 8 : d->at;
        const bool hit = d->kind == DAMAGE_CUT    ? end > at
                         : d->kind == DAMAGE_FLIP ? at >= start && at < end
                                                  : (at < end && at + d->len > start) ||
                                                        (d->at2 < end && d->at2 + d->len > start);
        records &= hit ? ~(1u << i) : ~0u;
    }
    return records;
}

/* Those that can be known: what the image covers need not be in the log. */
static unsigned known(const struct damage *d)
{
    return d->image ? ALL_RECORDS : intact(d) | ((1u << flips.image_after) - 1);
}

static bool is_end_missing(unsigned records)
{
    return records != ALL_RECORDS && (records & (records + 1)) == 0;
}

/* Whether the damage leaves what a torn commit would: nothing intact follows it. A log that ends in
 * its headers cannot be what a crash has left, as it gets its name with both. */
static bool may_be_torn(const struct damage *d)
{
    const bool in_headers = d->kind == DAMAGE_CUT && d->at < PAIR_RECORDS_OFFSET;
    return !d->image && !in_headers && is_end_missing(known(d));
}

/* Whether it is nothing but that. */
static bool is_only_torn(const struct damage *d)
{
    return may_be_torn(d) && is_end_missing(intact(d)) &&
           (d->kind != DAMAGE_EXCHANGE || d->at >= PAIR_RECORDS_OFFSET);
}

/* ---- Judging --------------------------------------------------------------------------------- */

static bool is_refusal(enum unseen_status status)
{
    return status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_FOREIGN ||
           status == UNSEEN_ERR_VERSION;
}

static void judge_error(const struct damage *d, enum unseen_status status,
                        const struct unseen_error *error, const char *what)
{
    if (!is_refusal(status)) {
        wrong(d, what, unseen_status_string(status));
    } else if (error->status != status || !strstr(error->text, log_path())) {
        wrong(d, "the message does not name the file", error->text);
    }
}

/* What an open store says; true if it is a torn one. */
static bool judge_answers(const struct damage *d, struct unseen_store *store)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    crash_require(unseen_store_info(store, &info) == UNSEEN_OK, "info");
    if (pair_answers(&flips.pair, unseen_store_set(store), ALL_RECORDS)) {
        return false;
    }
    if (!may_be_torn(d) || !pair_answers(&flips.pair, unseen_store_set(store), known(d))) {
        wrong(d, "a wrong answer", "");
    } else if (info.torn_bytes == 0 &&
               (d->kind != DAMAGE_CUT || flips.pair.offsets[record_at(d->at)] != d->at)) {
        wrong(d, "a torn end is not reported", ""); /* but where whole records are gone */
    }
    return true;
}

/* Opens it and looks at all answers. */
static void judge_open(const struct damage *d, enum unseen_store_mode mode)
{
    const struct unseen_store_options options = {.size = sizeof(options), .mode = mode};
    struct unseen_store *store = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    const enum unseen_status status = unseen_store_open(&store, log_path(), &options, &error);
    if (status != UNSEEN_OK) {
        judge_error(d, status, &error, "open fails otherwise");
        flips.nrefused += mode == UNSEEN_STORE_READ;
        return;
    }
    const bool torn = judge_answers(d, store);
    flips.ntorn += torn && mode == UNSEEN_STORE_READ;
    flips.nharmless += !torn && mode == UNSEEN_STORE_READ;
    if (unseen_store_close(store, &error) != UNSEEN_OK) {
        wrong(d, "close fails", error.text);
    }
}

static void judge_verify(const struct damage *d)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    const enum unseen_status status = unseen_store_verify(log_path(), &health, NULL, NULL, &error);
    if (status == UNSEEN_OK && !is_only_torn(d)) {
        wrong(d, "verify does not find it", "");
    } else if (status != UNSEEN_OK && !is_refusal(status)) {
        wrong(d, "verify fails", unseen_status_string(status));
    }
}

/* The repaired store has what was intact, takes more, and keeps it. */
static void judge_repaired(const struct damage *d)
{
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_WRITE};
    struct unseen_store *store = NULL;
    struct unseen_error error;
    enum unseen_verdict verdict = UNSEEN_SEEN;
    if (unseen_store_open(&store, log_path(), &options, &error) != UNSEEN_OK) {
        wrong(d, "not open to work after repair", error.text);
        return;
    }
    /* A record that counts as damaged may be there all the same: exchanged zeros, for one. */
    const unsigned records = intact(d);
    uint8_t verdicts[PAIR_NKEYS];
    crash_require(unseen_set_contains_keys(unseen_store_set(store), flips.pair.keys, PAIR_NKEYS,
                                           verdicts, NULL) == UNSEEN_OK,
                  "contains");
    for (uint32_t i = 0; i < PAIR_NKEYS; i++) {
        if (pair_has(i, records) && i >= PAIR_NREMOVED && verdicts[i] != UNSEEN_SEEN) {
            wrong(d, "a key of an intact record is lost in the repair", "");
            break;
        }
    }
    crash_require(pair_tell_time(store, PAIR_NRECORDS - 1) == UNSEEN_OK, "expire");
    const bool added = test_store_add(store, "one more", 8, &verdict) == UNSEEN_OK &&
                       verdict == UNSEEN_NEW && unseen_store_commit(store, NULL) == UNSEEN_OK;
    if (!added || unseen_store_close(store, NULL) != UNSEEN_OK) {
        wrong(d, "nothing can be added after repair", "");
    }
    if (unseen_store_open(&store, log_path(), NULL, &error) != UNSEEN_OK) {
        wrong(d, "cannot be opened again after repair", error.text);
        return;
    }
    crash_require(test_set_contains(unseen_store_set(store), "one more", 8, &verdict) == UNSEEN_OK,
                  "contains");
    if (verdict != UNSEEN_SEEN) {
        wrong(d, "what was added after repair is lost", "");
    }
    (void)unseen_store_close(store, NULL);
}

/* Without any header nothing can be repaired: that is said, too. */
static void judge_repair(const struct damage *d)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    const enum unseen_status status = unseen_store_repair(log_path(), &health, NULL, NULL, &error);
    /* One of the copies of the header will do. */
    const bool both_hit = d->kind == DAMAGE_EXCHANGE && d->at < PAIR_HEADER &&
                          d->at2 >= PAIR_HEADER && d->at2 < PAIR_RECORDS_OFFSET;
    const bool has_header =
        d->image || (!both_hit && (d->kind != DAMAGE_CUT || d->at >= PAIR_HEADER));
    flips.nrepaired += status == UNSEEN_OK;
    if (status == UNSEEN_OK) {
        judge_repaired(d);
    } else if (has_header) {
        wrong(d, "repair fails", error.text);
    }
}

static void run_case(const struct damage *d)
{
    const uint64_t number = flips.ncases++;
    write_damaged(d);
    judge_open(d, UNSEEN_STORE_READ);
    judge_verify(d);
    bool changed = false;
    if (number % WRITE_EVERY == 0) {
        judge_open(d, UNSEEN_STORE_WRITE);
        changed = true;
    }
    if (number % REPAIR_EVERY == 0 && !flips.plant) {
        write_both_intact();
        write_damaged(d);
        judge_repair(d);
        changed = true;
    }
    if (changed) {
        write_both_intact();
    } else {
        write_intact(d->image);
    }
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static bool is_time(uint64_t offset)
{
    const int record = record_at(offset);
    const uint64_t at = record < 0 ? 0 : offset - flips.pair.offsets[record];
    return at >= PAIR_RECORD_TIME && at < PAIR_RECORD_HEAD;
}

static void run_flips(bool image, uint64_t step, uint64_t *random)
{
    const uint64_t nbits = 8 * (uint64_t)(image ? flips.pair.image_len : flips.pair.log_len);
    for (uint64_t at = step > 1 ? crash_random(random) % step : 0;
         at<nbits; at += step> 1 ? 1 + crash_random(random) % (2 * step - 1) : 1) {
        if (!flips.only_time || is_time(at / 8)) {
            run_case(&(struct damage){.kind = DAMAGE_FLIP, .image = image, .at = at});
        }
    }
}

static void run_cuts(bool image, uint64_t step, uint64_t *random)
{
    const uint64_t len = image ? flips.pair.image_len : flips.pair.log_len;
    for (uint64_t at = 0; at<len; at += step> 1 ? 1 + crash_random(random) % (2 * step - 1) : 1) {
        run_case(&(struct damage){.kind = DAMAGE_CUT, .image = image, .at = at});
    }
}

static void run_exchanges(bool image, size_t block, uint64_t step)
{
    const uint8_t *bytes = image ? flips.pair.image : flips.pair.log;
    const uint64_t nblocks = (image ? flips.pair.image_len : flips.pair.log_len) / block;
    uint64_t number = 0;
    for (uint64_t a = 0; a < nblocks; a++) {
        for (uint64_t b = a + 1; b < nblocks; b++) {
            /* The two copies of the header are equal, and so are blocks of zeros. */
            if (memcmp(bytes + a * block, bytes + b * block, block) != 0 && number++ % step == 0) {
                run_case(&(struct damage){.kind = DAMAGE_EXCHANGE,
                                          .image = image,
                                          .at = a * block,
                                          .at2 = b * block,
                                          .len = block});
            }
        }
    }
}

static void run_file(bool image, uint64_t step, uint64_t *random)
{
    run_flips(image, step, random);
    if (!flips.plant) {
        run_cuts(image, step > 1 ? step / 2 : 1, random);
        run_exchanges(image, 512, step > 1 ? 50 : 1);
        run_exchanges(image, PAIR_HEADER, 1);
    }
}

int main(int argc, char **argv)
{
    static const int images_after[] = {0, 3, PAIR_NRECORDS, 3};
    const size_t nstores = sizeof(images_after) / sizeof(images_after[0]);
    uint64_t random = crash_setting("UNSEEN_CRASH_SEED", 1);
    const uint64_t seed = random;
    flips.plant = argc > 1 ? argv[1] : NULL;
    flips.only_time = flips.plant && strcmp(flips.plant, "reseal-time") == 0;
    for (size_t i = flips.only_time ? nstores - 1 : 0; i < nstores; i++) {
        pair_window = i + 1 == nstores ? PAIR_WINDOW : 0;
        flips.image_after = images_after[i];
        pair_make(&flips.pair, log_path(), images_after[i]);
        const uint64_t nbits = 8 * (uint64_t)(flips.pair.log_len + flips.pair.image_len);
        const bool all = crash_setting("UNSEEN_CRASH_SCALE", 1) >= SCALE_ALL;
        const uint64_t step =
            all || flips.only_time ? 1 : nstores * nbits / crash_scaled(CASES_CI) + 1;
        write_both_intact();
        run_file(false, step, &random);
        if (flips.pair.image && !flips.only_time) {
            run_file(true, step, &random);
        }
        printf("image of %d records%s: log of %zu bytes, image of %zu\n", images_after[i],
               pair_window ? ", window" : "", flips.pair.log_len,
               flips.pair.image ? flips.pair.image_len : 0);
        pair_free(&flips.pair);
    }
    printf(
        "seed %llu: %llu cases of damage: %llu refused, %llu harmless, %llu as a torn commit; %llu "
        "repaired; %llu failed\n",
        (unsigned long long)seed, (unsigned long long)flips.ncases,
        (unsigned long long)flips.nrefused, (unsigned long long)flips.nharmless,
        (unsigned long long)flips.ntorn, (unsigned long long)flips.nrepaired,
        (unsigned long long)flips.nwrong);
    return crash_status(flips.plant, flips.nwrong);
}
