/* SPDX-License-Identifier: MIT */
#include "keys/load_file.h"

#include <limits.h>

#include "keys/loads.h"

void load_file_save(struct server_io *io)
{
    for (const struct load *load = loads_first(); load; load = load->next) {
        if (load->kept) {
            server.SaveUnsigned(io, 1 + (uint64_t)load->db);
            server.SaveStringBuffer(io, load->name, load->name_len);
            for (const struct kept *kept = load->kept; kept; kept = kept->next) {
                server.SaveStringBuffer(io, (const char *)kept->bytes, kept->len);
            }
            server.SaveStringBuffer(io, "", 0);
        }
    }
    server.SaveUnsigned(io, 0);
}

static enum error take_kept(struct load *load, const char *frame, size_t len)
{
    const enum error error = load_take(load, frame, len);
    if (error != ERROR_NONE || load->value) {
        return error != ERROR_NONE ? error : ERROR_DATA; /* a complete value is not unfinished */
    }
    load->nframes++; /* replicas of this server have it */
    return load_keep(load, frame, len) ? ERROR_NONE : ERROR_NO_MEMORY_CREATE;
}

/* Reads the frames of a load up to the empty string behind them. Behind an error in *error the
 * load takes no more frames. Returns false if the stream cannot be read. */
static bool read_kept(struct server_io *io, struct load *load, enum error *error)
{
    for (bool is_end = false; !is_end;) {
        size_t len;
        char *frame = server.LoadStringBuffer(io, &len);
        if (server.IsIOError(io) || !frame) {
            server.Free(frame);
            return false;
        }
        is_end = len == 0;
        if (!is_end && *error == ERROR_NONE) {
            *error = take_kept(load, frame, len);
        }
        server.Free(frame);
    }
    return true;
}

/* Reads one load. A bad load is dropped: it has no key yet. A replica gets the value in spite of
 * that, because its primary sends a load whole if a replica came before the end. */
static bool load_one_unfinished(struct server_io *io, uint64_t db)
{
    size_t len;
    enum error error = db <= INT_MAX ? ERROR_NONE : ERROR_DATA;
    char *name = server.LoadStringBuffer(io, &len);
    bool is_good = !server.IsIOError(io) && name;
    struct load *load = is_good && error == ERROR_NONE ? loads_append((int)db, name, len, 0) : NULL;
    server.Free(name);
    if (!load && error == ERROR_NONE) {
        return false;
    }
    is_good = is_good && read_kept(io, load, &error);
    if (is_good && error != ERROR_NONE && error != ERROR_NO_MEMORY_CREATE) {
        server.LogIOError(io, "warning", "an unfinished load is damaged, and is dropped");
    }
    if (load && (!is_good || error != ERROR_NONE)) {
        load_forget(load);
    }
    return is_good && error != ERROR_NO_MEMORY_CREATE;
}

bool load_file_load(struct server_io *io)
{
    bool is_good = true;
    for (uint64_t n; is_good && (n = server.LoadUnsigned(io)) != 0 && !server.IsIOError(io);) {
        is_good = load_one_unfinished(io, n - 1);
    }
    return is_good && !server.IsIOError(io);
}
