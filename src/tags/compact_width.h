/* SPDX-License-Identifier: MIT
 *
 * The operations of compact_kernel.h for one width of tags. That file includes this one for each
 * width, and defines
 *
 *     WIDTH(name)   the name with the width and the level
 *     WIDTH_NUMBER  the width
 *
 * A batch is worked on in a function of its own, so that a single key needs no frame on the
 * stack. */

static UNSEEN_NOINLINE KERNEL_TARGET enum unseen_status
WIDTH(add_batch)(struct compact *c, const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                 size_t *ndone_out)
{
    return KERNEL(add)(c, WIDTH_NUMBER, keys, n, verdicts, ndone_out);
}

static KERNEL_TARGET enum unseen_status WIDTH(add)(struct compact *c, const struct unseen_key *keys,
                                                   size_t n, uint8_t *verdicts, size_t *ndone_out)
{
    struct compact_probe probe;
    if (KERNEL(is_single)(c, WIDTH_NUMBER, keys, n, &probe) &&
        KERNEL(add_one)(c, WIDTH_NUMBER, keys, &probe, verdicts)) {
        *ndone_out = 1;
        return UNSEEN_OK;
    }
    return WIDTH(add_batch)(c, keys, n, verdicts, ndone_out);
}

static UNSEEN_NOINLINE KERNEL_TARGET void WIDTH(contains_batch)(const struct compact *c,
                                                                const struct unseen_key *keys,
                                                                size_t n, uint8_t *verdicts)
{
    KERNEL(contains)(c, WIDTH_NUMBER, keys, n, verdicts);
}

static KERNEL_TARGET void WIDTH(contains)(const struct compact *c, const struct unseen_key *keys,
                                          size_t n, uint8_t *verdicts)
{
    struct compact_probe probe;
    if (KERNEL(is_single)(c, WIDTH_NUMBER, keys, n, &probe)) {
        *verdicts = KERNEL(find)(WIDTH_NUMBER, &probe) ? UNSEEN_SEEN : UNSEEN_NEW;
        return;
    }
    WIDTH(contains_batch)(c, keys, n, verdicts);
}

static UNSEEN_NOINLINE KERNEL_TARGET void
WIDTH(remove_batch)(struct compact *c, const struct unseen_key *keys, size_t n, uint8_t *verdicts)
{
    KERNEL(remove)(c, WIDTH_NUMBER, keys, n, verdicts);
}

static KERNEL_TARGET void WIDTH(remove)(struct compact *c, const struct unseen_key *keys, size_t n,
                                        uint8_t *verdicts)
{
    struct compact_probe probe;
    if (KERNEL(is_single)(c, WIDTH_NUMBER, keys, n, &probe)) {
        *verdicts = KERNEL(remove_one)(c, WIDTH_NUMBER, &probe);
        return;
    }
    WIDTH(remove_batch)(c, keys, n, verdicts);
}

static KERNEL_TARGET size_t WIDTH(leaving)(const uint8_t *page, unsigned first, unsigned count,
                                           uint16_t *slots, uint16_t *places)
{
    return KERNEL(leaving)(WIDTH_NUMBER, page, first, count, slots, places);
}

const struct compact_kernel WIDTH(unseen__compact) = {
    WIDTH(add), WIDTH(contains), WIDTH(remove), WIDTH(leaving), KERNEL(erase), KERNEL(compare_line),
};

#undef WIDTH
#undef WIDTH_NUMBER
