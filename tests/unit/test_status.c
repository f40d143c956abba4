/* SPDX-License-Identifier: MIT
 *
 * Status codes, their sentences, and the version. The values are pinned: a change breaks programs
 * built before. */
#include "test.h"

static const struct {
    enum unseen_status status;
    int value;
} pinned[] = {{UNSEEN_OK, 0},           {UNSEEN_ERR_ARGUMENT, 10}, {UNSEEN_ERR_UNSUPPORTED, 11},
              {UNSEEN_ERR_FPR, 12},     {UNSEEN_ERR_NAME, 13},     {UNSEEN_ERR_NOMEM, 20},
              {UNSEEN_ERR_SPACE, 21},   {UNSEEN_ERR_BUSY, 22},     {UNSEEN_ERR_CORRUPT, 30},
              {UNSEEN_ERR_VERSION, 31}, {UNSEEN_ERR_MISMATCH, 32}, {UNSEEN_ERR_FOREIGN, 33},
              {UNSEEN_ERR_IO, 40},      {UNSEEN_ERR_MISSING, 41},  {UNSEEN_ERR_STOPPED, 42},
              {UNSEEN_ERR_IMAGE, 43},   {UNSEEN_ERR_RANDOM, 23},   {UNSEEN_ERR_READONLY, 14},
              {UNSEEN_ERR_SIZE, 15}};

enum {
    NPINNED = sizeof(pinned) / sizeof(pinned[0])
};

int main(void)
{
    test_start();
    const char *unknown = unseen_status_string((enum unseen_status)9999);
    CHECK(unknown && unknown[0]);
    for (int i = 0; i < NPINNED; i++) {
        const char *sentence = unseen_status_string(pinned[i].status);
        CHECK((int)pinned[i].status == pinned[i].value);
        CHECK(sentence && sentence[0] && strcmp(sentence, unknown) != 0);
        for (int k = 0; k < i; k++) {
            CHECK(strcmp(sentence, unseen_status_string(pinned[k].status)) != 0);
        }
    }
    /* A status that this list does not know has been added to the header. */
    int nknown = 0;
    for (int value = -10; value < 1000; value++) {
        nknown += strcmp(unseen_status_string((enum unseen_status)value), unknown) != 0;
    }
    CHECK_EQ(nknown, NPINNED);
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", UNSEEN_VERSION_MAJOR, UNSEEN_VERSION_MINOR,
             UNSEEN_VERSION_PATCH);
    CHECK(strcmp(unseen_version(), version) == 0);
    return test_end();
}
