/* SPDX-License-Identifier: MIT
 *
 * unseen_list.h - static lists: built once, asked often, such as a blacklist.
 *
 * A list is a file of about 13.5 bits per key at a false-positive rate of 1e-4, in which a
 * question touches one page of 4 KiB. It has no false negatives. Its pages never change; a few
 * changes can be put on top of them ("Changes" below). docs/format.md has the bytes.
 *
 *     unseen_list_build_create(&build, "bad.list", NULL, &error);
 *     unseen_list_build_add(build, entries, n, NULL, &error);    any number of times, in any order
 *     unseen_list_build_finish(build, NULL, NULL, &error);
 *     unseen_list_build_free(build);
 *
 *     unseen_list_open(&list, "bad.list", NULL, &error);
 *     unseen_list_covers(list, items, n, verdicts);
 *     unseen_list_close(list);
 *
 * Entries and questions are text as it comes from outside. What they mean is chosen when the list
 * is built: its kind, and the profile of its URLs. Both stand in the file, and the open list reads
 * questions by them, so no other spelling gets past it. The conventions are those of unseen.h.
 */
#ifndef UNSEEN_LIST_H
#define UNSEEN_LIST_H

#include "unseen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Kind --------------------------------------------------------------------------------------
 * The kind of a list says what one entry covers. A list has canonical texts, and a question asks
 * for the texts of all entries that would cover it: Jo@Mail.evil.example is listed if the list has
 * the address, or mail.evil.example, evil.example or example. docs/lists.md has the notations that
 * each kind takes, and what it refuses. A list makes these texts by itself; the functions here are
 * for those who need the texts, such as to look them up elsewhere. They allocate nothing (libidn2
 * does, for a host that is not ASCII). Threads: any. */

enum unseen_kind {
    UNSEEN_KIND_URL = 0,         /* one URL, in canonical form; without a canonicaliser any bytes */
    UNSEEN_KIND_EXPRESSIONS = 1, /* a site, a folder or a page (unseen_url_expressions) */
    UNSEEN_KIND_MAIL = 2,        /* an e-mail address, or a domain with all below it */
    UNSEEN_KIND_IP = 3,          /* an address or a network, IPv4 or IPv6 */
    UNSEEN_KIND_PHONE = 4        /* a phone number */
};

/* The kind of phone numbers of which national ones, without + or 00, are in the country with this
 * code, 1 to 999: 86 for China. Entries and questions of such a list meet in both spellings. */
#define UNSEEN_KIND_PHONE_OF(code) ((enum unseen_kind)(UNSEEN_KIND_PHONE + 0x100 * (code)))

/* The country of a kind (0: none), and the kind without it. */
#define UNSEEN_KIND_COUNTRY(kind) ((unsigned)(kind) >> 8)
#define UNSEEN_KIND_GROUP(kind)   ((unsigned)(kind)&0xff)

/* The name of a kind: "url", "expressions", "mail", "ip", "phone". Static text; NULL for an unknown
 * kind, so a loop from 0 ends there. */
UNSEEN_API const char *unseen_kind_name(enum unseen_kind kind);

/* The most texts that one reading of a question makes: 1 for URL and PHONE, 48 for EXPRESSIONS, 10
 * for MAIL, 129 for IP. 0 for an unknown kind. Programs may read one text in several ways
 * (unseen_kind_texts); UNSEEN_KIND_TEXTS_MAX texts are the most of all readings together. */
#define UNSEEN_KIND_TEXTS_MAX 648
UNSEEN_API unsigned unseen_kind_texts_max(enum unseen_kind kind);

/* The size of a buffer that is enough for any input of len bytes. 0 if a size_t cannot hold it, or
 * for an unknown kind. */
UNSEEN_API size_t unseen_kind_bound(enum unseen_kind kind, size_t len);

/* Whether an entry should go into a list. */
enum unseen_entry {
    UNSEEN_ENTRY_FINE = 0,
    UNSEEN_ENTRY_EMPTY = 1,    /* no bytes, or only blanks and line ends */
    UNSEEN_ENTRY_INVALID = 2,  /* not of this kind: no question would ever find it */
    UNSEEN_ENTRY_DANGEROUS = 3 /* most likely a mistake, and it would cover far too much */
};

/* Makes the canonical text of an entry.
 *
 * Arguments:
 *   - url may be NULL for all kinds but EXPRESSIONS, which take any canonicaliser.
 *   - data and buf do not overlap; unseen_kind_bound(len) bytes of buf are always enough.
 *   - *entry_out lies in buf, in data or in static memory.
 *   - The text of an EMPTY or INVALID entry has no bytes; a DANGEROUS entry has its text, for
 *     callers who insist.
 * Errors:
 *   - SPACE
 *   - ARGUMENT: unknown kind, or url is missing
 * Threads: any.
 * Time: linear. */
UNSEEN_API enum unseen_status unseen_kind_entry(enum unseen_kind kind, const struct unseen_url *url,
    const void *data, size_t len, void *buf, size_t cap, struct unseen_bytes *entry_out,
    enum unseen_entry *fitness_out);

/* What is wrong with an entry that is not FINE, as the rest of a sentence that begins with the
 * entry: "is not an e-mail address or a domain". Static text, "" for FINE. */
UNSEEN_API const char *unseen_kind_complaint(enum unseen_kind kind, enum unseen_entry fitness);

/* Makes the texts of the entries that would cover data[0..len): all different, in an order that is
 * always the same. An entry is among its own texts.
 *
 * Programs disagree about some texts: about the folder of http://e.example/a/..%2fb, or about the
 * address 192.0.2.010. Such a question has the texts of all readings.
 *
 * Arguments:
 *   - *n_out is the number of texts, 0 if data is not of this kind.
 *   - The rest as for unseen_kind_entry.
 * Errors:
 *   - SPACE
 *   - ARGUMENT
 * Threads: any.
 * Time: linear in len times *n_out. */
UNSEEN_API enum unseen_status unseen_kind_texts(enum unseen_kind kind, const struct unseen_url *url,
    const void *data, size_t len, void *buf, size_t cap,
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX], size_t *n_out);

/* ---- Building ----------------------------------------------------------------------------------
 * Keys come in any order. Those that do not fit in memory go to a file without a name, so a build
 * that is interrupted leaves nothing but PATH.new, which the next build of the same path replaces.
 * Threads: one, for each function of a build but _create and _entry. */

struct unseen_list_build;

#define UNSEEN_LIST_FPR_DEFAULT 1e-4

struct unseen_list_build_options {
    size_t size; /* sizeof(struct unseen_list_build_options) */

    /* The false-positive rate: the highest share of questions about unlisted items that may be
     * answered SEEN, 1e-9 to 0.25. 0 means UNSEEN_LIST_FPR_DEFAULT. A kind whose question is up to
     * n texts gives each an n-th of the rate, and that must be 1e-9 at least, too. */
    double fpr;

    /* About how many keys will be added; 0 if that is not known. From 10^9 keys on it saves disk
     * and memory. With n keys, more than capacity, the rate rises by n / 2^(info.key_bits). */
    uint64_t capacity;

    /* About how much memory to use, in bytes. 0 means 1 GiB; 64 MiB is the least for 10^9 keys.
     * Keys that do not fit go to a file in folder (NULL: the folder of the list), up to 8 bytes
     * each. The file has no name, and vanishes with the process. While _finish reads it, the file
     * gives its room back to the disk, so that the list has it. */
    uint64_t memory;
    const char *folder;

    unsigned threads; /* used by _finish; 0 means 1, at most 256 */

    /* As in struct unseen_set_options. The secret stands in the file: whoever can read the list can
     * make entries and questions that are taken for listed ones. */
    const void *seed;
    size_t seed_len;

    /* What entries and questions are: their kind, and for URL and EXPRESSIONS the URL identity, a
     * name or an id as in struct unseen_url_options. NULL means "crawl", or "safebrowsing" for
     * EXPRESSIONS. With "none", a URL is the bytes that are given. */
    enum unseen_kind kind;
    const char *profile;

    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the build */
};

/* The size in bytes of a list of nkeys different entries, and the false-positive rate that it will
 * have, before it is built. Of 10^5 keys and more the size is right within 2 %.
 *
 * Arguments:
 *   - kind and fpr as in struct unseen_list_build_options; fpr is not 0.
 *   - nkeys is at most 10^13.
 * Errors:
 *   - ARGUMENT: a number out of its range, or more keys than a list can have at this rate (2^32
 *     pages)
 *   - FPR: too low for the kind
 * Threads: any.
 * Time: microseconds. */
UNSEEN_API enum unseen_status unseen_list_plan(
    enum unseen_kind kind, double fpr, uint64_t nkeys, uint64_t *nbytes_out, double *fpr_out);

/* Begins a list. Nothing is written to path before _finish.
 *
 * Ownership: the caller frees *build_out with unseen_list_build_free. options may be NULL.
 * Errors:
 *   - SIZE
 *   - ARGUMENT
 *   - FPR: too low
 *   - NAME, VERSION: profile
 *   - UNSUPPORTED: cpu
 *   - RANDOM
 *   - NOMEM
 *   error->setting says which setting is wrong.
 * Threads: any.
 * Time: constant; memory is taken as keys come. */
UNSEEN_API enum unseen_status unseen_list_build_create(struct unseen_list_build **build_out,
    const char *path, const struct unseen_list_build_options *options, struct unseen_error *error);

/* Adds n entries, as they come from outside. An entry that is added twice counts once.
 *
 * Arguments:
 *   - fitness, unless NULL, gets n bytes (enum unseen_entry). Entries that are not FINE are left
 *     out (unseen_list_build_entry takes a DANGEROUS one all the same).
 *   - If fitness is NULL, such an entry is an error.
 * Errors:
 *   - ARGUMENT: an entry is not FINE, and fitness is NULL; error says which. Entries in front of it
 *     may have been added.
 *   - IO and NOMEM, after which the build can only be freed
 *   - STOPPED: an earlier call had failed
 * Threads: one.
 * Time: linear. */
UNSEEN_API enum unseen_status unseen_list_build_add(struct unseen_list_build *build,
    const struct unseen_bytes *entries, size_t n, uint8_t *fitness, struct unseen_error *error);

/* Adds n texts as they are: any bytes, or texts in canonical form (unseen_kind_entry). Ask for them
 * with unseen_list_contains_texts.
 *
 * Errors:
 *   - IO and NOMEM, after which the build can only be freed
 *   - STOPPED: an earlier call had failed
 * Threads: one.
 * Time: linear. */
UNSEEN_API enum unseen_status unseen_list_build_add_texts(struct unseen_list_build *build,
    const struct unseen_bytes *texts, size_t n, struct unseen_error *error);

struct unseen_list_entry {
    struct unseen_bytes text;  /* canonical, as of unseen_kind_entry */
    enum unseen_entry fitness; /* if it is EMPTY or INVALID, the text has no bytes */
    uint64_t key;              /* of the text */
};

/* Makes an entry ready, without adding it, so that several threads can share this work. Then one
 * thread adds the keys with unseen_list_build_add_keys.
 *
 * Arguments:
 *   - data and buf do not overlap; unseen_kind_bound(len) bytes of buf are always enough.
 *   - entry_out->text lies in buf, in data or in static memory.
 * Errors:
 *   - SPACE
 * Threads: any.
 * Time: linear. */
UNSEEN_API enum unseen_status unseen_list_build_entry(const struct unseen_list_build *build,
    const void *data, size_t len, void *buf, size_t cap, struct unseen_list_entry *entry_out);

/* Adds n keys of entries.
 *
 * Errors:
 *   - those of unseen_list_build_add_texts
 * Threads: one.
 * Time: linear. */
UNSEEN_API enum unseen_status unseen_list_build_add_keys(
    struct unseen_list_build *build, const uint64_t *keys, size_t n, struct unseen_error *error);

/* Builds the file as PATH.new, syncs it, and renames it to path: a reader has the old list or the
 * new list, whole. Only the owner may read PATH.new; the list gets mode 0644, less the umask. The
 * same different keys, options and seed give the same bytes, for any order and number of threads;
 * keys that are added twice may change the number of parts in the list. Once only.
 *
 * Arguments:
 *   - progress, unless NULL, is called now and then, by one thread at a time, with how many of n
 *     keys are done.
 *   - If it returns false, the building ends (STOPPED).
 * Errors:
 *   - IO
 *   - NOMEM
 *   - CORRUPT: keys came back from the disk changed
 *   - BUSY: another process builds the same path
 *   - FOREIGN: PATH.new is a link, or another user's file
 *   - ARGUMENT: called twice, or more keys than 2^32 pages can have
 *   - STOPPED
 * Threads: one; it makes options.threads of its own.
 * Time: about 80 ns of processor time for each key. */
UNSEEN_API enum unseen_status unseen_list_build_finish(struct unseen_list_build *build,
    bool (*progress)(void *context, uint64_t ndone, uint64_t n), void *context,
    struct unseen_error *error);

/* Frees the build, and removes PATH.new if it was not finished; build may be NULL.
 *
 * Threads: one.
 * Time: linear in the memory. */
UNSEEN_API void unseen_list_build_free(struct unseen_list_build *build);

/* ---- Asking ------------------------------------------------------------------------------------
 * A list is opened once and asked by any number of threads. It has the kind and the profile that it
 * was built with. A server that keeps a list open while others change it calls unseen_list_refresh
 * between questions, and looks now and then whether another file has the name. */

struct unseen_list;

/* How a list is read. A mapped file must not be cut short or written to while it is open, except
 * by an edit ("Changes" below). It may be replaced by rename; the open list does not see that. */
enum unseen_list_access {
    UNSEEN_LIST_MAP_PREFETCH = 0, /* mapped, and read ahead by the system as memory allows */
    UNSEEN_LIST_MAP = 1,          /* mapped; only pages that questions touch are read */
    UNSEEN_LIST_READ = 2          /* read into memory of its own: the fastest to ask */
};

struct unseen_list_options {
    size_t size; /* sizeof(struct unseen_list_options) */
    enum unseen_list_access access;
    enum unseen_cpu cpu;
    const struct unseen_allocator *allocator; /* copied; its context must outlive the list */
};

/* Opens a list. It checks everything but the pages, so a damaged file gives wrong answers at worst
 * (unseen_list_verify checks the pages).
 *
 * Ownership: the caller closes *list_out with unseen_list_close. options may be NULL.
 * Errors:
 *   - SIZE
 *   - ARGUMENT
 *   - MISSING
 *   - FOREIGN
 *   - VERSION: of the format, or a kind or a profile that this library does not know
 *   - CORRUPT
 *   - IO
 *   - NOMEM
 *   - UNSUPPORTED: cpu
 * Threads: any.
 * Time: milliseconds; READ reads all of the file; changes are read in any case. */
UNSEEN_API enum unseen_status unseen_list_open(struct unseen_list **list_out, const char *path,
    const struct unseen_list_options *options, struct unseen_error *error);

/* Closes the list. list may be NULL.
 *
 * Threads: one. */
UNSEEN_API void unseen_list_close(struct unseen_list *list);

/* Whether entries of the list cover n items, each as it comes from outside: by all texts of the
 * item (unseen_kind_texts). The verdict is ALLOWED if each reading has an allowed text; else SEEN
 * if one text is listed (wrong with the rate of the list for each reading); else NEW (certain),
 * also for an item that is not of this kind. A call with 1,024 items or more is several times as
 * fast as single ones.
 *
 * Arguments:
 *   - verdicts gets n bytes.
 * Errors:
 *   - NOMEM: there are no verdicts then
 * Threads: any.
 * Time: linear in the texts of all items. */
UNSEEN_API enum unseen_status unseen_list_covers(
    const struct unseen_list *list, const struct unseen_bytes *items, size_t n, uint8_t *verdicts);

/* Whether n texts are listed as they are. So an item in another spelling, or one that an entry
 * covers without being equal to it, is not found: ask unseen_list_covers for those. Verdicts as of
 * unseen_list_covers.
 *
 * Threads: any.
 * Time: linear. */
UNSEEN_API void unseen_list_contains_texts(
    const struct unseen_list *list, const struct unseen_bytes *texts, size_t n, uint8_t *verdicts);

/* The canonicaliser of the list, for unseen_kind_entry and unseen_kind_texts. NULL: it takes bytes
 * as they are. Valid as long as the list. */
UNSEEN_API const struct unseen_url *unseen_list_url(const struct unseen_list *list);

/* The state of an open list. rate is what a question of the list's kind has at most, from the shape
 * of the pages; fpr is what the builder asked for. */
struct unseen_list_info {
    size_t size;     /* sizeof(struct unseen_list_info), set by the caller */
    double fpr;      /* the option */
    double rate;     /* the highest rate of a question */
    uint64_t ngiven; /* keys added */
    uint64_t nkeys;  /* different keys */
    uint64_t bytes;  /* of the file */
    uint64_t npages;
    unsigned nlayers;
    uint64_t nbumped;    /* keys that are not on a page of the first layer */
    uint64_t nleft;      /* keys that are on no page, but listed */
    unsigned key_bits;   /* that are kept */
    uint64_t seed_id;    /* as in struct unseen_store_info */
    const char *profile; /* valid as long as the list */
    enum unseen_kind kind;
    uint64_t nallowed;      /* by changes */
    uint64_t nadded;        /* by changes */
    uint64_t nremoved;      /* by changes */
    uint64_t changes_bytes; /* of bytes, those of the changes */
    uint64_t torn_bytes;    /* of bytes, those of an interrupted commit at the end: ignored */
};

/* Fills in as much of *info_out as info_out->size says.
 *
 * Errors: SIZE.
 * Threads: any.
 * Time: constant. */
UNSEEN_API enum unseen_status unseen_list_info(
    const struct unseen_list *list, struct unseen_list_info *info_out);

/* Reads all of the file and compares its checksums.
 *
 * Errors:
 *   - CORRUPT: error says where
 *   - IO
 *   - NOMEM
 * Threads: any.
 * Time: linear in the file. */
UNSEEN_API enum unseen_status unseen_list_verify(
    const struct unseen_list *list, struct unseen_error *error);

/* ---- Changes -----------------------------------------------------------------------------------
 * A list is changed without being built anew: exact changes are appended to its file, as the texts
 * of entries. Every reader keeps them in memory (about 110 bytes each, and the text). When there
 * are many, build the list anew.
 *
 *     unseen_list_edit_open(&edit, "bad.list", NULL, &error);
 *     unseen_list_edit_change(edit, UNSEEN_LIST_ALLOW, entries, n, NULL, &error);
 *     unseen_list_edit_commit(edit, &error);
 *     unseen_list_edit_close(edit);
 *
 * The two states of a text are independent:
 *
 *     ALLOW, DISALLOW   allowed or not; an allowed text is never listed
 *     ADD, REMOVE       listed or not listed, whatever the pages say */

enum unseen_list_change {
    UNSEEN_LIST_ALLOW = 1,
    UNSEEN_LIST_DISALLOW = 2, /* undoes ALLOW */
    UNSEEN_LIST_ADD = 3,      /* undoes REMOVE, and the other way round */
    UNSEEN_LIST_REMOVE = 4
};

struct unseen_list_edit;

/* Begins to change the list at path. There is one writer at a time, and any number of readers.
 *
 * Ownership: the caller ends it with unseen_list_edit_close. Of options only the allocator
 *   matters.
 * Errors:
 *   - those of unseen_list_open, whose checks it makes
 *   - BUSY: another process changes the list
 * Threads: any.
 * Time: linear in the changes that the list has. */
UNSEEN_API enum unseen_status unseen_list_edit_open(struct unseen_list_edit **edit_out,
    const char *path, const struct unseen_list_options *options, struct unseen_error *error);

/* Makes one change for n entries, each as it comes from outside; the last change of an entry holds.
 * Nobody sees it before the commit. A DANGEROUS entry is taken. ALLOW and DISALLOW change the
 * entry's text and one text for each reading of the entry as a question, so that
 * unseen_list_covers allows it.
 *
 * Arguments:
 *   - changed, unless NULL, gets n bytes: 1 if the changes said something else of the entry
 *     before; 0 if they said the same, and nothing is written for it.
 *   - (The pages do not count: ask the list whether an entry was listed.)
 * Errors:
 *   - ARGUMENT: no such change; an entry is EMPTY or INVALID, error says which; a text of 4 GiB
 *   - NOMEM
 *   - STOPPED: a commit has failed
 *   No change was made then.
 * Threads: one.
 * Time: linear in the bytes of the entries. */
UNSEEN_API enum unseen_status unseen_list_edit_change(struct unseen_list_edit *edit,
    enum unseen_list_change change, const struct unseen_bytes *entries, size_t n, uint8_t *changed,
    struct unseen_error *error);

/* The same for n texts as they are, as of unseen_kind_entry or unseen_kind_texts.
 *
 * Errors:
 *   - ARGUMENT: no such change, or a text of 4 GiB
 *   - NOMEM
 *   - STOPPED: a commit has failed
 *   No change was made then.
 * Threads: one.
 * Time: linear in the bytes of the texts. */
UNSEEN_API enum unseen_status unseen_list_edit_change_texts(struct unseen_list_edit *edit,
    enum unseen_list_change change, const struct unseen_bytes *texts, size_t n, uint8_t *changed,
    struct unseen_error *error);

/* Writes every change made since the last commit, and returns when they are durable. After a
 * failure or a crash, the list has all of them or none.
 *
 * Errors:
 *   - IO
 *   - MISMATCH: another file was renamed over the list since the edit was opened: that file was
 *     not changed
 *   The edit can then only be closed (STOPPED).
 * Threads: one.
 * Time: one sync of the disk. */
UNSEEN_API enum unseen_status unseen_list_edit_commit(
    struct unseen_list_edit *edit, struct unseen_error *error);

/* Ends the edit; edit may be NULL. Changes that were not committed never happened.
 *
 * Threads: one.
 * Time: linear in the memory. */
UNSEEN_API void unseen_list_edit_close(struct unseen_list_edit *edit);

/* Calls `each` with every change in force when the list was opened or last refreshed: ALLOW, ADD or
 * REMOVE, and the text, in the order in which the texts first came, until `each` returns false. A
 * text that is allowed, and also added or removed, comes twice.
 *
 * Time: linear in the changes. */
UNSEEN_API void unseen_list_changes(const struct unseen_list *list,
    bool (*each)(void *context, enum unseen_list_change change, struct unseen_bytes text),
    void *context);

/* Takes up the changes that were appended to the open file since. It does not follow a rename: if
 * the name belongs to a new file now, open that file.
 *
 * Arguments:
 *   - *changed_out, unless NULL, says whether there were any.
 * Errors:
 *   - CORRUPT
 *   - VERSION
 *   - IO
 *   - NOMEM: the list answers as before, or with the first of the new commits
 *   - MISMATCH: the file was overwritten, by another list or by something that is not a list. Its
 *     answers are worthless then; if it is mapped and was cut short, a question ends the process
 * Threads: one, and no questions meanwhile.
 * Time: one look at the header and the length of the file if there is nothing new. */
UNSEEN_API enum unseen_status unseen_list_refresh(
    struct unseen_list *list, bool *changed_out, struct unseen_error *error);

#ifdef __cplusplus
}
#endif

#endif
