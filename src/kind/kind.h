/* SPDX-License-Identifier: MIT
 *
 * Kinds of entries: what a list holds, and what one entry covers. A kind turns a line of a list
 * into one canonical text, and a question into the texts of all entries that would cover it. A
 * question is listed if one of its texts is in the list. So the list itself needs to know nothing
 * but texts, and an entry costs the same whatever it covers.
 *
 *     line of a list --entry--> text --------------> list
 *     question ------texts--> text, text, ... ---> is any of them in it?
 *
 * Entries and questions are read in the same way, so that both meet in one text. But only an entry
 * is judged: whoever makes the list can mend it, while a question, such as a sender that a mail
 * server was given, is looked up as far as it can be read. A kind is one file here and a line in
 * kind.c. */
#ifndef UNSEEN_KIND_KIND_H
#define UNSEEN_KIND_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unseen_list.h"
#include "url/ascii.h"

struct unseen__kind;

/* The functions of one kind behind unseen_kind_entry and unseen_kind_texts. The results of an entry
 * are stored only on success; an EMPTY or INVALID entry has no bytes. */
typedef enum unseen_status unseen__kind_entry_fn(const struct unseen_url *url,
                                                 struct unseen_bytes in, char *buf, size_t cap,
                                                 struct unseen_bytes *entry_out,
                                                 enum unseen_entry *fitness_out);
typedef enum unseen_status unseen__kind_texts_fn(const struct unseen_url *url,
                                                 struct unseen_bytes in, char *buf, size_t cap,
                                                 struct unseen_bytes *texts, uint16_t *readings_out,
                                                 size_t *n_out);

/* Kinds are frozen: if an entry is to have another text, or a question asks for fewer texts, the
 * kind gets a new version with another id. */
struct unseen__kind {
    const char *name;   /* what people read and write */
    const char *id;     /* in the headers of lists: the name and the version */
    unsigned texts_max; /* of one reading */
    bool needs_url;
    size_t bound_factor; /* len bytes need bound_factor * len + bound_extra bytes of room */
    size_t bound_extra;
    const char *invalid;   /* the complaint about an INVALID entry */
    const char *dangerous; /* the complaint about a DANGEROUS entry */
    unseen__kind_entry_fn *entry;
    unseen__kind_texts_fn *texts;
};

extern const struct unseen__kind unseen__kind_url;
extern const struct unseen__kind unseen__kind_expressions;
extern const struct unseen__kind unseen__kind_mail;
extern const struct unseen__kind unseen__kind_ip;
extern const struct unseen__kind unseen__kind_phone;

enum {
    UNSEEN__KIND_ID_MAX = 31,      /* bytes */
    UNSEEN__KIND_READINGS_MAX = 16 /* of one question */
};

/* Writes the id of a kind in the header of a list, as a string: "mail/1", and "phone/1+86" of the
 * numbers of a country. */
void unseen__kind_id(enum unseen_kind kind, char id[UNSEEN__KIND_ID_MAX + 1]);

/* As unseen_kind_texts. Programs read some questions in several ways: bit r of readings_out[i] says
 * that texts[i] is of reading r. Each reading has its most specific text first, and texts that come
 * before it are not folders of it. */
enum unseen_status unseen__kind_texts(enum unseen_kind kind, const struct unseen_url *url,
                                      struct unseen_bytes in, char *buf, size_t cap,
                                      struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX],
                                      uint16_t readings_out[UNSEEN_KIND_TEXTS_MAX], size_t *n_out);

/* True for kinds whose entries and questions go through a canonicaliser. */
bool unseen__kind_takes_url(enum unseen_kind kind);

/* The kind with that id. Errors: NAME. */
enum unseen_status unseen__kind_of_id(const char *id, enum unseen_kind *kind_out);

/* Is it a name as the DNS has them: labels of letters, digits, hyphens and underscores, which
 * domains that send mail have? Browsers take more bytes for a host, such as quotes and commas, but
 * nobody can register a name with them. */
bool unseen__is_domain(struct unseen_bytes domain);

/* Puts the code of the country in front of a national number, which phone_entry or phone_texts
 * wrote to buf. False: it has too many digits then. */
bool unseen__phone_set_country(unsigned country, char *buf, struct unseen_bytes *number);

static inline struct unseen_bytes without_blanks(struct unseen_bytes in)
{
    while (in.len > 0 && is_ascii_space(in.data[in.len - 1])) {
        in.len--;
    }
    while (in.len > 0 && is_ascii_space(*in.data)) {
        in.data++;
        in.len--;
    }
    return in;
}

/* Drops n bytes at the start. */
static inline struct unseen_bytes without_first(struct unseen_bytes in, size_t n)
{
    return (struct unseen_bytes){in.data + n, in.len - n};
}

/* Is c one of the bytes of in? */
static inline bool has_byte(struct unseen_bytes in, char c)
{
    for (size_t i = 0; i < in.len; i++) {
        if (in.data[i] == c) {
            return true;
        }
    }
    return false;
}

/* Stores an EMPTY or INVALID entry. */
static inline enum unseen_status refuse_entry(enum unseen_entry fitness,
                                              struct unseen_bytes *entry_out,
                                              enum unseen_entry *fitness_out)
{
    *entry_out = (struct unseen_bytes){"", 0};
    *fitness_out = fitness;
    return UNSEEN_OK;
}

#endif
