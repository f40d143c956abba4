/* SPDX-License-Identifier: MIT
 *
 * The sentences of the statuses, and the version. */
#include "unseen.h"

const char *unseen_status_string(enum unseen_status status)
{
    switch (status) {
#define UNSEEN_STATUS_CASE(name, value, sentence)                                                  \
    case UNSEEN_##name:                                                                            \
        return sentence;
        UNSEEN_STATUS_MAP(UNSEEN_STATUS_CASE)
#undef UNSEEN_STATUS_CASE
    }
    return "not a status of this version";
}

#define STRINGIFY(x)                      #x
#define VERSION_TEXT(major, minor, patch) STRINGIFY(major) "." STRINGIFY(minor) "." STRINGIFY(patch)

const char *unseen_version(void)
{
    return VERSION_TEXT(UNSEEN_VERSION_MAJOR, UNSEEN_VERSION_MINOR, UNSEEN_VERSION_PATCH);
}
