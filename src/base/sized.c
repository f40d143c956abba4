/* SPDX-License-Identifier: MIT
 *
 * The size is read and written by memcpy, because the type of the struct is not known here. */
#include "base/sized.h"

#include <string.h>

#include "base/error.h"

static size_t size_of(const void *sized)
{
    size_t size;
    memcpy(&size, sized, sizeof(size));
    return size;
}

enum unseen_status unseen__sized_take(void *to, size_t known, const void *from, const char *name,
                                      struct unseen_error *error)
{
    if (!from) {
        return UNSEEN_OK;
    }
    const size_t size = size_of(from);
    if (size < sizeof(size) || size > known) {
        return unseen__error_size(error, name, size, known);
    }
    memcpy(to, from, size);
    return UNSEEN_OK;
}

enum unseen_status unseen__sized_give(void *to, const void *from, size_t known)
{
    const size_t size = size_of(to);
    if (size < sizeof(size) || size > known) {
        return UNSEEN_ERR_SIZE;
    }
    memcpy(to, from, size);
    memcpy(to, &size, sizeof(size));
    return UNSEEN_OK;
}
