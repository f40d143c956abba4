/* SPDX-License-Identifier: MIT
 *
 * The public functions of kinds (unseen_list.h): each finds the kind and calls its struct. The
 * numbers of kinds stand in the interface, and their ids in the headers of lists: neither ever
 * changes. */
#include "kind/kind.h"

#include <stdint.h>
#include <stdio.h>
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
    NKINDS = sizeof(kinds) / sizeof(*kinds),
    DOMAIN_LONGEST = 253, /* as text: RFC 1035, section 2.3.4 */
    LABEL_LONGEST = 63,
    COUNTRY_MAX = 999
};

/* NULL if the kind is unknown. Only phone numbers have a country. */
static const struct unseen__kind *find_kind(enum unseen_kind kind)
{
    const unsigned i = UNSEEN_KIND_GROUP(kind);
    const unsigned country = UNSEEN_KIND_COUNTRY(kind);
    return i < NKINDS && (country == 0 || (i == UNSEEN_KIND_PHONE && country <= COUNTRY_MAX))
               ? kinds[i]
               : NULL;
}

const char *unseen_kind_name(enum unseen_kind kind)
{
    const struct unseen__kind *const k = find_kind(kind);
    return k ? k->name : NULL;
}

void unseen__kind_id(enum unseen_kind kind, char id[UNSEEN__KIND_ID_MAX + 1])
{
    const unsigned country = UNSEEN_KIND_COUNTRY(kind);
    const char *const kind_id = kinds[UNSEEN_KIND_GROUP(kind)]->id;
    (void)snprintf(id, UNSEEN__KIND_ID_MAX + 1, country > 0 ? "%s+%u" : "%s", kind_id, country);
}

bool unseen__kind_takes_url(enum unseen_kind kind)
{
    const struct unseen__kind *const k = find_kind(kind);
    return k && (k->needs_url || k == &unseen__kind_url);
}

enum unseen_status unseen__kind_of_id(const char *id, enum unseen_kind *kind_out)
{
    const size_t len = strcspn(id, "+");
    unsigned country = 0;
    const char *const code = id + len + 1; /* if there is a + */
    if (id[len] == '+' &&
        (*code == '0' || !ascii_read_number(code, strlen(code), COUNTRY_MAX, &country) ||
         country == 0)) {
        return UNSEEN_ERR_NAME;
    }
    for (unsigned i = 0; i < NKINDS; i++) {
        const enum unseen_kind kind = (enum unseen_kind)(i | country << 8);
        if (strlen(kinds[i]->id) == len && memcmp(kinds[i]->id, id, len) == 0 && find_kind(kind)) {
            *kind_out = kind;
            return UNSEEN_OK;
        }
    }
    return UNSEEN_ERR_NAME;
}

bool unseen__is_domain(struct unseen_bytes domain)
{
    size_t label_len = 0;
    if (domain.len > DOMAIN_LONGEST) {
        return false;
    }
    for (size_t i = 0; i < domain.len; i++) {
        const char c = domain.data[i];
        const bool dot = c == '.';
        const bool in_name = is_ascii_alnum(c) || c == '-' || c == '_';
        if (dot ? label_len == 0 : !in_name || label_len == LABEL_LONGEST) {
            return false;
        }
        label_len = dot ? 0 : label_len + 1;
    }
    return label_len > 0;
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
    const enum unseen_status status = k->entry(url, in, buf, cap, entry_out, fitness_out);
    const unsigned country = UNSEEN_KIND_COUNTRY(kind);
    if (status == UNSEEN_OK && country > 0 && entry_out->len > 0 &&
        !unseen__phone_set_country(country, buf, entry_out)) {
        return refuse_entry(UNSEEN_ENTRY_INVALID, entry_out, fitness_out);
    }
    return status;
}

enum unseen_status unseen__kind_texts(enum unseen_kind kind, const struct unseen_url *url,
                                      struct unseen_bytes in, char *buf, size_t cap,
                                      struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX],
                                      uint16_t readings_out[UNSEEN_KIND_TEXTS_MAX], size_t *n_out)
{
    const struct unseen__kind *const k = find_kind(kind);
    if (!k || (k->needs_url && !url)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (without_blanks(in).len == 0) {
        *n_out = 0;
        return UNSEEN_OK;
    }
    const enum unseen_status status = k->texts(url, in, buf, cap, texts, readings_out, n_out);
    const unsigned country = UNSEEN_KIND_COUNTRY(kind);
    if (status == UNSEEN_OK && country > 0 && *n_out > 0 &&
        !unseen__phone_set_country(country, buf, &texts[0])) {
        *n_out = 0;
    }
    return status;
}

enum unseen_status unseen_kind_texts(enum unseen_kind kind, const struct unseen_url *url,
                                     const void *data, size_t len, void *buf, size_t cap,
                                     struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX],
                                     size_t *n_out)
{
    uint16_t readings[UNSEEN_KIND_TEXTS_MAX];
    const struct unseen_bytes in = {data, len};
    return unseen__kind_texts(kind, url, in, buf, cap, texts, readings, n_out);
}
