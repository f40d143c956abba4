/* SPDX-License-Identifier: MIT
 *
 * The inside of a store: a set in memory, and the log that makes it last.
 *
 * store_settings.c and store_open.c open a store, store.c changes and closes it. replay.c takes
 * keys from the log to the set, image.c keeps the set in a file beside the log, and refresh.c
 * follows what others write. */
#ifndef UNSEEN_STORE_STORE_H
#define UNSEEN_STORE_STORE_H

#include "log/committer.h"
#include "log/image_file.h"
#include "log/log.h"
#include "log/scan.h"
#include "tags/stash.h"

struct unseen__filter_ops;

enum {
    UNSEEN__STORE_FILE_MODE = 0600, /* by default: the log holds the secret */

    UNSEEN__PART_BITS_MAX = 12 /* of the parts of a set that is larger than memory */
};

/* What the log says beside its keys: the note, and the output file. */
struct unseen__output {
    uint64_t note;        /* 0: none */
    uint64_t name_offset; /* of the record with the name; 0: the log names no output */
    uint64_t file_id;     /* of the output when it was named; 0: not known */
    uint64_t log_id;      /* of the log at that time */
    uint64_t len;
    uint64_t checksum;
    bool closed; /* the last run closed the store; the file may have been changed since */
    char name[UNSEEN__OUTPUT_NAME_MAX + 1];
};

/* The keys of a log that have not left its window yet begin at a record, at index `next`. */
struct unseen__leaving {
    struct unseen__scan scan; /* shows the record; log NULL: not begun */
    bool has_record;
    bool is_done;     /* nothing was due at the time that was told last */
    uint32_t nkeys;   /* of the record */
    uint32_t next;    /* the index of the next key */
    uint32_t run;     /* its run */
    uint64_t due;     /* its time; 0: not known, or there is no such key */
    uint64_t left;    /* keys of this time and before were not in the set when this was begun */
    uint64_t horizon; /* keys of this time and before have left */
    uint64_t done;    /* changes before this one have left while they waited for their commit */
    uint64_t begun;   /* the time of a change that is begun and may not be durable; 0: none */

    /* As the records before leave it: */
    uint64_t nchanges;
    uint64_t time;
    struct unseen__output output;

    struct unseen__stash removed; /* keys that were removed, and would leave later */

    struct unseen__log_head next_head; /* what is before it has left; offset 0: none is worth it */
};

/* Keys whose first bits are the number of a part from `first` to `end`; without bits, all keys. */
struct unseen__range {
    unsigned bits;
    uint64_t first;
    uint64_t end;
};

/* Copies those of n keys that are in the range, and returns their number. */
UNSEEN_INLINE size_t unseen__range_choose(const struct unseen__range *range,
                                          const struct unseen_key *keys, size_t n,
                                          struct unseen_key *chosen)
{
    size_t nchosen = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t part = range->bits > 0 ? keys[i].hi >> (64 - range->bits) : range->first;
        chosen[nchosen] = keys[i];
        nchosen += part >= range->first && part < range->end;
    }
    return nchosen;
}

/* A place among the keys of a record; zeros are the first. */
struct unseen__place {
    uint32_t next;
    uint32_t nruns;         /* before the next run */
    struct unseen__run run; /* of the keys that were shown last */
};

/* A set that does not fit into memory (sweep.c). */
struct unseen__sweep {
    uint64_t memory; /* the limit for the set; 0: none */
    bool in_parts;   /* the set has the pages of the image in their file */
    bool is_refused; /* the log has changes since that a set in parts cannot take */
    bool is_broken;  /* a sweep has failed, and not all keys are in the set */
    bool is_loaded;  /* the next part */

    struct unseen__range replayed; /* only these keys of the log go to the set */

    /* The records that the image does not cover. */
    uint64_t from;
    uint64_t number;
    uint64_t end;

    /* Keys of those records, by part, of the parts [first, first_after). */
    struct unseen_key *keys;
    size_t keys_cap;
    uint64_t *starts; /* of each part's keys among all, and their number in all */
    uint64_t *next;   /* of each part: where its next key goes */
    uint64_t first;
    uint64_t first_after;

    bool has_image; /* a new one is being written */
    struct unseen__image_writer image;
    unsigned bits;     /* of the number of a part */
    uint64_t ndropped; /* parts; in all */
    uint64_t nparts;
    uint64_t nnew;   /* keys that the parts did not have, */
    uint64_t nnoted; /* and those of them that were handed to the log */
};

struct unseen_store {
    struct unseen_allocator allocator;
    struct unseen__log log;
    struct unseen_url *url; /* NULL: the bytes are the identity */
    struct unseen_set *set;
    struct unseen__committer committer;
    struct unseen__output output;
    enum unseen_cpu cpu;
    uint64_t clock;          /* the latest time that it was told, in steps */
    uint64_t nchanges;       /* in all records, also in those before the head */
    uint64_t image_nchanges; /* in the records that the image covers */
    uint64_t room;           /* of a store to read: the changes that the set was made for */
    bool follows;            /* the set is made with room for as many keys again */
    struct unseen__leaving leaving;
    bool cannot_punch;     /* the file system does not take bytes out of a file */
    bool is_partial;       /* a record is only half in the set: there was no memory */
    bool is_changed;       /* since it was opened */
    bool is_rewritten;     /* since it was opened: removals may have hit other keys of the set */
    bool rewrite_failed;   /* it is tried again at close */
    uint64_t kept_dead;    /* bytes that a rewrite kept of what had left until kept_horizon: no */
    uint64_t kept_horizon; /* record told that time */
    bool is_draft;         /* not published yet */
    bool keys_only;        /* the set is empty, and lost */
    uint64_t nallowed;     /* with keys_only: keys that are allowed, or were */
    bool has_members;      /* all keys of the log, and of the changes that wait, are here: */
    struct unseen__stash members;
    struct unseen__sweep sweep;
    struct unseen__log old; /* of a draft: the locked log that it will replace; fd -1: none */
    struct unseen_store_info info;
};

/* Makes all later commits fail with this error. Returns STOPPED. NOMEM stops nothing, nor does an
 * error of a store that is only read: the status is returned. */
enum unseen_status unseen__store_stop(struct unseen_store *store, enum unseen_status status,
                                      const struct unseen_error *error);

/* Keeps store->members as they are after a change. */
void unseen__store_follow_member(struct unseen_store *store, struct unseen_key key, bool removed);

/* The same if the image does not have the pieces that some keys need, so that nobody knows whether
 * they are new. */
enum unseen_status unseen__store_stop_unread(struct unseen_store *store, enum unseen_status cause);

/* Says that the store is open to be read only. Returns READONLY. */
enum unseen_status unseen__store_not_writable(const struct unseen_store *store,
                                              struct unseen_error *error);

/* True if the key has no more bits than the store keeps; otherwise it would be another key after
 * the next opening. Of many keys the first is checked: all are made by one set. */
bool unseen__store_is_narrow(const struct unseen_store *store, struct unseen_key key);

/* The end of the log that this process knows to be committed, and the latest time in it. */
uint64_t unseen__store_log_end(struct unseen_store *store);
uint64_t unseen__store_log_time(struct unseen_store *store);

/* ---- store_settings.c: what the caller asks for, and what the store has ---- */

/* Copies the options, of whatever size the caller's struct is, and checks each of them. */
enum unseen_status unseen__store_options(const struct unseen_store_options *given,
                                         struct unseen_store_options *options_out,
                                         struct unseen_error *error);

/* Puts the settings that options name into the header, and finds the filter. If the filter changes,
 * or a rate is named, the shape of the filter before is forgotten. Errors: NAME, FPR. */
enum unseen_status unseen__header_change(struct unseen__log_header *header,
                                         const struct unseen_store_options *options,
                                         const struct unseen__filter_ops **ops_out,
                                         struct unseen_error *error);

/* The options of a set as the header has them, without URL identity; they borrow the header. */
struct unseen_set_options unseen__header_set_options(const struct unseen__log_header *header);

/* Takes the rate from a set that was made with these options, if the rate follows from bits per
 * key. */
void unseen__header_take_rate(struct unseen__log_header *header, const struct unseen_set *set);

/* Makes store->log.header and store->url for a new store. */
enum unseen_status unseen__store_header_make(struct unseen_store *store,
                                             const struct unseen_store_options *options,
                                             struct unseen_error *error);

/* MISMATCH if the options name a setting that the store does not have. May make store->url. */
enum unseen_status unseen__store_check_settings(struct unseen_store *store,
                                                const struct unseen_store_options *options,
                                                struct unseen_error *error);

/* Makes store->url, unless it is there already, for the profile that the header names. */
enum unseen_status unseen__store_url_make(struct unseen_store *store, struct unseen_error *error);

/* ---- store_open.c ---- */

/* Makes store->set, empty, for the keys of a log of len bytes that takes ndisk bytes of the disk: a
 * file may be longer than that, and must not make the set take memory for keys it does not have.
 * is_written: keys will be added. Errors: those of unseen_set_create. */
enum unseen_status unseen__store_set_make(struct unseen_store *store, uint64_t len, uint64_t ndisk,
                                          bool is_written, struct unseen_error *error);

/* Opens the store that has the name of `old` now, to read it, with room for more keys to come.
 * Errors: those of unseen_store_open. */
enum unseen_status unseen__store_open_to_follow(struct unseen_store **store_out,
                                                const struct unseen_store *old,
                                                struct unseen_error *error);

/* Frees everything. Commits nothing. */
void unseen__store_release(struct unseen_store *store);

/* ---- replay.c: from the log to the set ---- */

/* Reads the records from `offset` to `end`, applies them to the set and follows the output.
 * log.end, number and record_checksum are then those of the last intact record. Errors: CORRUPT,
 * IO, NOMEM. */
enum unseen_status unseen__replay(struct unseen_store *store, uint64_t offset, uint64_t number,
                                  uint64_t end, struct unseen_error *error);

enum unseen__change {
    UNSEEN__ADDED,
    UNSEEN__REMOVED,
    UNSEEN__ALLOWED
};

/* Called with keys of one change, at one time. */
typedef bool unseen__take_keys(void *context, const struct unseen_key *keys, size_t n,
                               enum unseen__change change, uint64_t time);

enum {
    UNSEEN__UNPACK = 512 /* keys that are unpacked at a time */
};

/* Goes on by some keys of one change, at one time, which is place->run.time. Returns how many they
 * are; 0: there are no more. */
size_t unseen__record_next(const struct unseen__scan *scan, struct unseen__place *place,
                           struct unseen_key keys[UNSEEN__UNPACK], enum unseen__change *change_out);

/* Calls `each` with the keys of the record that the scan shows. Returns false if `each` did. */
bool unseen__record_each(const struct unseen__scan *scan, unseen__take_keys *each, void *context);

/* Says that the log is damaged from `offset` to `next`. Returns CORRUPT. */
enum unseen_status unseen__damaged(struct unseen_error *error, const struct unseen__log *log,
                                   uint64_t offset, uint64_t next);

/* Says that the time of the record goes back. Returns CORRUPT. */
enum unseen_status unseen__goes_back(struct unseen_error *error, const struct unseen__scan *scan);

/* CORRUPT if the log is cut_short. */
enum unseen_status unseen__check_length(const struct unseen__log *log, struct unseen_error *error);

/* ---- output_record.c ---- */

/* Fills in *output as the records before a place in the log leave it. The record that names the
 * file is read. Errors: CORRUPT, IO, NOMEM. */
enum unseen_status unseen__output_load(const struct unseen__log *log,
                                       const struct unseen__log_head *head,
                                       struct unseen__output *output, struct unseen_error *error);

/* Updates the output by what the record says about it or the note. */
void unseen__output_follow(struct unseen__output *output, const struct unseen__record *record,
                           const uint8_t *payload);

/* Appends the record that names the output; the length and the checksum are those of *output.
 * Updates output->name_offset. */
enum unseen_status unseen__output_append(struct unseen__output *output, struct unseen__log *log,
                                         bool sync, struct unseen_error *error);

/* Appends the record of output->note. */
enum unseen_status unseen__note_append(const struct unseen__output *output, struct unseen__log *log,
                                       bool sync, struct unseen_error *error);

/* A number that a file keeps when it is renamed or seen through another mount, and that a copy does
 * not have. 0 if the system does not tell. */
uint64_t unseen__file_id(int fd);

/* ---- image.c: between the image and the set ---- */

/* Opens the image if it belongs to the log; *output_out is the output as the image describes it.
 * Errors: MISSING if there is no image or it belongs to another log; CORRUPT with
 * *log_is_damaged_out if the log is not the one that the image was made from (image->header says
 * what it covers); those of unseen__image_open. */
enum unseen_status unseen__image_find(const struct unseen_store *store, struct unseen__image *image,
                                      struct unseen__output *output_out, bool *log_is_damaged_out,
                                      struct unseen_error *error);

/* Makes a set from the image. The set of an image with a table takes the file out of *image, and
 * reads its pages when they are first needed. Errors: CORRUPT, IO, NOMEM, and others of
 * unseen_import_chunk. */
enum unseen_status unseen__image_load(const struct unseen_store *store, struct unseen__image *image,
                                      struct unseen_set **set_out, struct unseen_error *error);

/* Says that a part of the image cannot be read: CORRUPT, IO. */
void unseen__image_report_unread(const struct unseen_store *store, enum unseen_status cause,
                                 struct unseen_error *error);

/* Writes what is behind the pages of store->sweep.image, of a set with all its parts kept, and puts
 * the image in place. */
enum unseen_status unseen__image_save_swept(struct unseen_store *store, struct unseen_error *error);

/* Writes an image of the set. The set must agree with the log: nothing may wait for a commit. */
enum unseen_status unseen__image_save(struct unseen_store *store, struct unseen_error *error);

/* ---- sweep.c: a set larger than memory ---- */

/* Whether the set, with npages pages in the image and len bytes of log behind it, is too large. */
bool unseen__sweep_is_due(const struct unseen_store *store, uint64_t npages, uint64_t len);

/* Says what the store has that cannot be done in parts, if anything. Errors: UNSUPPORTED. */
enum unseen_status unseen__sweep_check(const struct unseen_store *store,
                                       struct unseen_error *error);

/* The capacity of a set with which a sweep begins from the log alone. */
uint64_t unseen__sweep_capacity(const struct unseen_store *store);

/* Before and after the log is replayed: make the set one that can be asked. Changes since the image
 * go to a second set if they are not too many; more are swept. log_len is the length of the log.
 * Errors: UNSUPPORTED (too many changes in a store that is only read, or others than adds), those
 * of a sweep. */
enum unseen_status unseen__sweep_prepare(struct unseen_store *store, uint64_t log_len,
                                         struct unseen_error *error);
enum unseen_status unseen__sweep_replayed(struct unseen_store *store, struct unseen_error *error);

/* Whether the set has been swept in part, so that it cannot be asked or changed. */
UNSEEN_INLINE bool unseen__sweep_has_begun(const struct unseen_store *store)
{
    return store->sweep.nparts > 0 || store->sweep.is_broken;
}

/* Whether the keys since the image take more than this share of the limit, or the set of a store in
 * memory more than it should. */
bool unseen__sweep_is_full(const struct unseen_store *store, unsigned share);

/* Sweeps them into a new image. All that was begun is durable, and the log belongs to the caller.
 * Errors: UNSUPPORTED, CORRUPT, IO, NOMEM; then the store cannot be asked any more. */
enum unseen_status unseen__sweep_self(struct unseen_store *store, struct unseen_error *error);

/* Puts the new image in place if it has all that the log has. The log belongs to the caller.
 * Errors: IO, NOMEM. */
enum unseen_status unseen__sweep_finish(struct unseen_store *store, bool all_committed,
                                        struct unseen_error *error);
void unseen__sweep_release(struct unseen_store *store);

/* ---- leaving.c: keys leave ---- */

/* Keys that left while records were read which remove them: those must not remove them again. */
struct unseen__gone {
    const struct unseen__search *removed; /* wanted: the keys that the records remove */
    struct unseen__stash keys;
    const struct unseen_allocator *allocator;
};

/* The time of day as a store keeps it. */
uint64_t unseen__time_cut(uint64_t ms);

/* Keys of this time and before have left at `time`. 0 without a window. */
uint64_t unseen__horizon(uint64_t window, uint64_t time);
uint64_t unseen__store_horizon(const struct unseen_store *store);

/* Takes the keys out of the set that have this time or an earlier one, `max` at most, and are in
 * the log before `end`. gone may be NULL. */
enum unseen_status unseen__leave(struct unseen_store *store, uint64_t end, uint64_t horizon,
                                 size_t max, struct unseen__gone *gone, bool *all_left_out,
                                 struct unseen_error *error);

/* Lets all leave that is due. Where a removal, an image or a rewrite looks at what is in the log,
 * this must come first. Errors: CORRUPT, IO, NOMEM. */
enum unseen_status unseen__store_settle(struct unseen_store *store, struct unseen_error *error);

/* Notes a removed key, so that it is not taken out again when it would leave. Errors: NOMEM,
 * RANDOM. */
enum unseen_status unseen__leaving_note(struct unseen_store *store, struct unseen_key key);
bool unseen__leaving_take_note(struct unseen_store *store, struct unseen_key key);

/* The log is a new one, with `nchanges` changes. Forgets all notes but those of keys that wait to
 * be removed. */
enum unseen_status unseen__leaving_keep_waiting(struct unseen_store *store, uint64_t nchanges);

/* The time of the oldest key, also of one that waits for its commit. 0: no key, no window. */
uint64_t unseen__leaving_oldest(struct unseen_store *store);

/* Leads the head that this process knows to where the queue is: whoever writes to the log gives the
 * disk before it back. */
void unseen__leaving_follow_head(struct unseen_store *store);

/* Begins at the head of the log again when it is next needed. */
void unseen__leaving_restart(struct unseen_store *store);
void unseen__leaving_release(struct unseen_store *store);

/* Leads the header past the records that have left, if they are enough, and gives the disk of
 * earlier ones back. Errors: IO. */
enum unseen_status unseen__store_give_back(struct unseen_store *store, struct unseen_error *error);

/* ---- self_rewrite.c ---- */

/* The bytes of a log of that length which are removed keys and their removals. */
uint64_t unseen__store_dead(const struct unseen_store *store, uint64_t log_end);
bool unseen__store_is_mostly_dead(struct unseen_store *store, uint64_t log_end);

/* Writes the log anew; store->log is then the new one. The log must belong to the caller: nothing
 * has been begun. After an error the log is as it was, unless unseen__log_has_name says that it was
 * replaced. Errors: CORRUPT, IO, NOMEM. */
enum unseen_status unseen__store_rewrite_self(struct unseen_store *store,
                                              struct unseen_error *error);

/* Makes the set anew from the log. After an error there may be no set. */
enum unseen_status unseen__store_reload(struct unseen_store *store, struct unseen_error *error);

/* ---- surviving_keys.c ---- */

/* A log up to `end`. Keys of the horizon and before are left out; a time that is not known counts
 * as `unknown`. */
struct unseen__source {
    const struct unseen__log *log;
    uint64_t end;
    uint64_t horizon;
    uint64_t unknown;
};

/* Calls `each` with the surviving keys of one or two logs, while it returns true: in the order of
 * the log, or of their times; at the same time the first log is first. A key survives if it was
 * added after it was last removed, and after the horizon. With skip_damage, damaged bytes are
 * passed over. */
enum unseen_status unseen__surviving_of(const struct unseen__source *sources, size_t nsources,
                                        bool skip_damage,
                                        bool (*each)(void *context, const struct unseen_key *keys,
                                                     size_t n, uint64_t time),
                                        void *context, struct unseen_error *error);

/* The same, of one log. */
enum unseen_status unseen__surviving_each(const struct unseen__log *log, uint64_t end,
                                          uint64_t horizon, bool skip_damage,
                                          bool (*each)(void *context, const struct unseen_key *keys,
                                                       size_t n, uint64_t time),
                                          void *context, struct unseen_error *error);

/* Calls `each` with the keys that were allowed, in the order of the log; a key may come twice. */
enum unseen_status unseen__allowed_each(const struct unseen__log *log, uint64_t end,
                                        bool skip_damage,
                                        bool (*each)(void *context, const struct unseen_key *keys,
                                                     size_t n, uint64_t time),
                                        void *context, struct unseen_error *error);

/* Which of some keys survive. The caller names the keys, and then shows their changes in order:
 * those of the log by unseen__search_log, others one by one. */
struct unseen__search {
    struct unseen_allocator allocator;
    bool wants_all;
    struct unseen__stash wanted;
    struct unseen__stash surviving; /* of the wanted keys, as far as changes were shown */
    uint64_t nheld; /* keys that the log allows, though they survived then: no writer does that */
    uint8_t marks[1 << 13]; /* a bit for the first 16 bits of each wanted key */
};

/* Errors: NOMEM, RANDOM. */
enum unseen_status unseen__search_want(struct unseen__search *search, struct unseen_key key);
enum unseen_status unseen__search_take(struct unseen__search *search, struct unseen_key key,
                                       enum unseen__change change);

bool unseen__search_wants(const struct unseen__search *search, struct unseen_key key);

/* Shows the changes of the log up to `end`, but no key that was added at the horizon or before.
 * Errors: those of unseen__search_take, CORRUPT, IO. */
enum unseen_status unseen__search_log(struct unseen__search *search, const struct unseen__log *log,
                                      uint64_t end, uint64_t horizon, struct unseen_error *error);

void unseen__search_release(struct unseen__search *search);

/* Finds the notes of a set from an image, which covers the log up to `end`. */
enum unseen_status unseen__leaving_find_notes(struct unseen_store *store, uint64_t end,
                                              struct unseen_error *error);

/* Frees store->members. */
void unseen__store_forget_members(struct unseen_store *store);

/* ---- allow.c ---- */

/* The allowed keys of a log, each once, as keys of key_bits. The caller releases *keys_out. Errors:
 * those of unseen__allowed_each, RANDOM. */
enum unseen_status unseen__allowed_find(const struct unseen__log *log, uint64_t end,
                                        bool skip_damage, unsigned key_bits,
                                        struct unseen__stash *keys_out, struct unseen_error *error);

/* Appends records that allow these keys. Only the last record is synced. */
enum unseen_status unseen__allowed_append(struct unseen__log *log, const struct unseen_key *keys,
                                          size_t n, uint64_t time, bool sync,
                                          struct unseen_error *error);

/* unseen_store_allow, also of keys that are NEW now. */
enum unseen_status unseen__store_allow_all(struct unseen_store *store,
                                           const struct unseen_key *keys, size_t n,
                                           struct unseen_error *error);
#endif
