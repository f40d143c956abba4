/* SPDX-License-Identifier: MIT
 *
 * The ring with which the kernels of the filters keep memory and processor busy at the same time.
 * While key i is worked on, the lines of key i + KERNEL_AHEAD are found and fetched, and with
 * groups the group of key i + 2 * KERNEL_AHEAD. A kernel includes this header and defines before:
 *
 *     KERNEL(name), KERNEL_TARGET      as in its own head
 *     KERNEL_FILTER, KERNEL_PROBE      the types of the filter and of the place of a key
 *     KERNEL_GROUP                     the type of a group
 *     KERNEL_HAS_GROUPS                0 if there are no groups
 *     KERNEL(find_group)(filter, key)  finds and fetches the group of a key
 *     KERNEL(find_lines)(filter, variant, key, group, probe)
 *                                      finds and fetches the lines of a key
 *
 * variant is a constant of the filter's own, for which a kernel is compiled. Keys are worked on in
 * order:
 *
 *     KERNEL(look_anew)(filter, variant, keys, n, 0, 0, &ring);
 *     for (size_t i = 0; i < n; i++) {
 *         ... ring.probe[i % KERNEL_AHEAD] ...
 *         KERNEL(look_ahead)(filter, variant, keys, n, i, &ring);
 *     } */

#define KERNEL_AHEAD 32 /* a power of two */

/* The probe of key i and the group of key i + KERNEL_AHEAD are at i % KERNEL_AHEAD. */
struct KERNEL(ring) {
    KERNEL_PROBE probe[KERNEL_AHEAD];
    KERNEL_GROUP *group[KERNEL_AHEAD];
};

UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_far)(const KERNEL_FILTER *filter,
                                                  const struct unseen_key *keys, size_t n, size_t i,
                                                  struct KERNEL(ring) * ring)
{
    if (KERNEL_HAS_GROUPS && i < n) {
        ring->group[i % KERNEL_AHEAD] = KERNEL(find_group)(filter, keys[i]);
    }
}

/* Needs the group of key i in the ring. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_near)(const KERNEL_FILTER *filter, unsigned variant,
                                                   const struct unseen_key *keys, size_t n,
                                                   size_t i, struct KERNEL(ring) * ring)
{
    if (i < n) {
        KERNEL_GROUP *group = KERNEL_HAS_GROUPS ? ring->group[i % KERNEL_AHEAD] : NULL;
        KERNEL(find_lines)(filter, variant, keys[i], group, &ring->probe[i % KERNEL_AHEAD]);
    }
}

/* Fills the ring for the keys from `first` on. After a group has grown, `first` is the next key,
 * and skip is 1: look_ahead has yet to fill the slot of the key just worked on. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_anew)(const KERNEL_FILTER *filter, unsigned variant,
                                                   const struct unseen_key *keys, size_t n,
                                                   size_t first, size_t skip,
                                                   struct KERNEL(ring) * ring)
{
    /* Cut to n: 32 steps for nothing would double the time of a single key. */
    const size_t end = first + KERNEL_AHEAD - skip;
    const size_t near_end = end < n ? end : n;
    const size_t far_end = end + KERNEL_AHEAD < n ? end + KERNEL_AHEAD : n;
    for (size_t i = first; i < near_end; i++) {
        KERNEL(look_far)(filter, keys, n, i, ring);
    }
    for (size_t i = first; i < near_end; i++) {
        KERNEL(look_near)(filter, variant, keys, n, i, ring);
    }
    for (size_t i = end; i < far_end; i++) {
        KERNEL(look_far)(filter, keys, n, i, ring);
    }
}

/* After key i: its slot of the ring goes to key i + KERNEL_AHEAD. */
UNSEEN_INLINE KERNEL_TARGET void KERNEL(look_ahead)(const KERNEL_FILTER *filter, unsigned variant,
                                                    const struct unseen_key *keys, size_t n,
                                                    size_t i, struct KERNEL(ring) * ring)
{
    KERNEL(look_near)(filter, variant, keys, n, i + KERNEL_AHEAD, ring);
    KERNEL(look_far)(filter, keys, n, i + 2 * (size_t)KERNEL_AHEAD, ring);
}
