/* SPDX-License-Identifier: MIT */
#include "commands/bitmaps.h"

#include "print/message.h"
#include "seen/stores.h"

bool bitmaps_report(const char *path, const struct unseen_error *error)
{
    message_error("%s", message_of(error));
    switch (error->status) {
    case UNSEEN_ERR_MISSING:
        message_hint("unseen bits add %s FILE makes it", path);
        break;
    case UNSEEN_ERR_FOREIGN:
        message_hint("a bitmap is a file that unseen bits or unseen import made: unseen bits add "
                     "NEW.bits FILE");
        break;
    case UNSEEN_ERR_CORRUPT:
        message_hint("unseen bits add NEW.bits FILE makes it anew, from what it was made of");
        break;
    case UNSEEN_ERR_BUSY:
        message_hint("another process changes it: --wait=60 waits longer");
        break;
    default:
        break;
    }
    return false;
}

bool bitmaps_read(struct unseen_bitmap **bitmap_out, const char *path, enum unseen_cpu cpu)
{
    const struct unseen_bitmap_options options = {.size = sizeof(options), .cpu = cpu};
    struct unseen_error error;
    return unseen_bitmap_open(bitmap_out, path, UNSEEN_BITMAP_READ, &options, &error) ==
               UNSEEN_OK ||
           bitmaps_report(path, &error);
}

bool bitmaps_edit(struct unseen_bitmap **bitmap_out, const char *path, const struct options *o,
                  enum unseen_cpu cpu)
{
    const struct unseen_bitmap_options options = {.size = sizeof(options), .cpu = cpu};
    struct unseen_error error = {.status = UNSEEN_OK};
    double start = 0;
    do {
        error.status = unseen_bitmap_open(bitmap_out, path, UNSEEN_BITMAP_EDIT, &options, &error);
    } while (stores_wait(&o->seen, &start, &error));
    return error.status == UNSEEN_OK || bitmaps_report(path, &error);
}

bool bitmaps_save(struct unseen_bitmap *bitmap, const char *path)
{
    struct unseen_error error;
    return unseen_bitmap_save(bitmap, &error) == UNSEEN_OK || bitmaps_report(path, &error);
}
