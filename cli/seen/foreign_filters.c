/* SPDX-License-Identifier: MIT */
#include "seen/foreign_filters.h"

#include "print/message.h"
#include "print/typed.h"

void foreign_report(const char *path, const struct unseen_error *error)
{
    message_error("%s", message_of(error));
    switch (error->status) {
    case UNSEEN_ERR_CORRUPT:
        message_hint("to make it anew: unseen import --format FORMAT %s FILE", typed_quoted(path));
        break;
    case UNSEEN_ERR_VERSION:
        message_hint("this is unseen %s; use the version that wrote it, or import it again",
                     unseen_version());
        break;
    default:
        break;
    }
}

bool foreign_open(struct unseen_foreign **filter_out, const char *path)
{
    struct unseen_error error;
    if (unseen_foreign_open(filter_out, path, NULL, &error) == UNSEEN_OK) {
        return true;
    }
    foreign_report(path, &error);
    return false;
}
