/* SPDX-License-Identifier: MIT
 *
 * The public functions of kinds (unseen_list.h): each finds the kind and calls its struct. The
 * numbers of kinds stand in the interface, and their ids in the headers of lists: neither ever
 * changes. */
#include "kind/kind.h"

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

static const struct unseen__kind *const kinds[] = {
    [UNSEEN_KIND_URL] = &unseen__kind_url,
    [UNSEEN_KIND_EXPRESSIONS] = &unseen__kind_expressions,
    [UNSEEN_KIND_MAIL] = &unseen__kind_mail,
    [UNSEEN_KIND_IP] = &unseen__kind_ip,
    [UNSEEN_KIND_PHONE] = &unseen__kind_phone,
};

enum {
    NKINDS = sizeof(kinds) / sizeof(*kinds)
};

/* NULL if the kind is unknown. */
static const struct unseen__kind *find_kind(enum unseen_kind kind)
{
    return (unsigned)kind < NKINDS ? kinds[kind] : NULL;
}

const char *unseen_kind_name(enum unseen_kind kind)
{
    const struct unseen__kind *const k = find_kind(kind);
    return k ? k->name : NULL;
}

const char *unseen__kind_id(enum unseen_kind kind)
{
    const struct unseen__kind *const k = find_kind(kind);
    return k ? k->id : NULL;
}

bool unseen__kind_takes_url(enum unseen_kind kind)
{
    const struct unseen__kind *const k = find_kind(kind);
    return k && (k->needs_url || k == &unseen__kind_url);
}

enum unseen_status unseen__kind_of_id(const char *id, enum unseen_kind *kind_out)
{
    for (unsigned i = 0; i < NKINDS; i++) {
        if (strcmp(kinds[i]->id, id) == 0) {
            *kind_out = (enum unseen_kind)i;
            return UNSEEN_OK;
        }
    }
    return UNSEEN_ERR_NAME;
}

unsigned unseen_kind_texts_max(enum unseen_kind kind)
{
    const struct unseen__kind *const k = find_kind(kind);
    return k ? k->texts_max : 0;
}

size_t unseen_kind_bound(enum unseen_kind kind, size_t len)
{
    const struct unseen__kind *const k = find_kind(kind);
    size_t bound;
    if (!k || !size_mul(len, k->bound_factor, &bound) || bound > SIZE_MAX - k->bound_extra) {
        return 0;
    }
    return bound + k->bound_extra;
}

const char *unseen_kind_complaint(enum unseen_kind kind, enum unseen_entry fitness)
{
    const struct unseen__kind *const k = find_kind(kind);
    switch (fitness) {
    case UNSEEN_ENTRY_EMPTY:
        return "is empty";
    case UNSEEN_ENTRY_INVALID:
        return k ? k->invalid : "is of an unknown kind";
    case UNSEEN_ENTRY_DANGEROUS:
        return k ? k->dangerous : "is of an unknown kind";
    case UNSEEN_ENTRY_FINE:
        break;
    }
    return "";
}

enum unseen_status unseen_kind_entry(enum unseen_kind kind, const struct unseen_url *url,
                                     const void *data, size_t len, void *buf, size_t cap,
                                     struct unseen_bytes *entry_out, enum unseen_entry *fitness_out)
{
    const struct unseen__kind *const k = find_kind(kind);
    if (!k || (k->needs_url && !url)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const struct unseen_bytes in = {data, len};
    if (without_blanks(in).len == 0) {
        return refuse_entry(UNSEEN_ENTRY_EMPTY, entry_out, fitness_out);
    }
    return k->entry(url, in, buf, cap, entry_out, fitness_out);
}

enum unseen_status unseen_kind_texts(enum unseen_kind kind, const struct unseen_url *url,
                                     const void *data, size_t len, void *buf, size_t cap,
                                     struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX],
                                     size_t *n_out)
{
    const struct unseen__kind *const k = find_kind(kind);
    if (!k || (k->needs_url && !url)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    const struct unseen_bytes in = {data, len};
    if (without_blanks(in).len == 0) {
        *n_out = 0;
        return UNSEEN_OK;
    }
    return k->texts(url, in, buf, cap, texts, n_out);
}
