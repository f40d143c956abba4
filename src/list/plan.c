/* SPDX-License-Identifier: MIT
 *
 * The size of a list before it is built, from the geometry that its build will choose. */
#include <math.h>

#include "list/builder.h"
#include "list/geometry.h"

enum {
    FEW = 512,    /* fewer keys are stored as they are */
    KEY_BYTES = 8 /* of such a key */
};

/* Keys that a page cannot hold go to the next layer. All layers together have so many times the
 * pages of the first: 1.0497 for 10^6 keys and more (rates of 1e-2 to 1e-9). */
static const double LAYERS = 1.05;
static const double LAST = 0.7; /* the pages of a last layer that is not full */

enum unseen_status unseen_list_plan(enum unseen_kind kind, double fpr, uint64_t nkeys,
                                    uint64_t *nbytes_out, double *fpr_out)
{
    struct unseen__list_geometry geometry;
    const unsigned ntexts = unseen_kind_texts_max(kind);
    if (ntexts == 0 || !(fpr > 0 && fpr <= UNSEEN__LIST_FPR_MAX) || (double)nkeys > 1e13) {
        return UNSEEN_ERR_ARGUMENT;
    }
    if (fpr / ntexts < UNSEEN__LIST_FPR_MIN) {
        return UNSEEN_ERR_FPR;
    }
    const enum unseen_status status = unseen__list_geometry_for(fpr / ntexts, &geometry);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (nkeys < FEW) {
        *nbytes_out = UNSEEN__LIST_HEADER_LEN + KEY_BYTES * nkeys;
        *fpr_out = ldexp((double)nkeys * ntexts, -64);
        return UNSEEN_OK;
    }
    const double first = unseen__list_npages(&geometry, nkeys);
    const double npages = first < 2 ? 1 : ceil(LAYERS * first + LAST);
    if (npages > UINT32_MAX) {
        return UNSEEN_ERR_ARGUMENT;
    }
    *nbytes_out = UNSEEN__LIST_HEADER_LEN + UNSEEN__LIST_PAGE * (uint64_t)npages;
    *fpr_out = unseen__list_geometry_rate(&geometry) * ntexts;
    return UNSEEN_OK;
}
