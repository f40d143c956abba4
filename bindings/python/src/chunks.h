/* SPDX-License-Identifier: MIT
 *
 * A set as a row of chunks in a file (docs/format.md, "Saved set"). Nothing here knows Python, so
 * that all of it runs without the GIL. */
#ifndef UNSEEN_PYTHON_CHUNKS_H
#define UNSEEN_PYTHON_CHUNKS_H

#include <unseen.h>

/* Writes the set to a new file beside path, syncs it, and renames it to path. Only the owner may
 * read the file, as it holds the secret. Errors: IO, NOMEM. */
enum unseen_status chunks_save(const struct unseen_set *set, const char *path,
                               struct unseen_error *error);

/* Copies the id of the URL identity of the saved set. Errors: those of chunks_load. */
enum unseen_status chunks_profile(const char *path, char id_out[UNSEEN_URL_ID_MAX + 1],
                                  struct unseen_error *error);

/* Makes a set of the file. options has the URL identity, threads and so on (unseen_import_create).
 * Errors: MISSING, IO, and those of an import. */
enum unseen_status chunks_load(struct unseen_set **set_out, const char *path,
                               const struct unseen_set_options *options,
                               struct unseen_error *error);

#endif
