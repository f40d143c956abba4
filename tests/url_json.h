/* SPDX-License-Identifier: MIT
 *
 * Vectors in JSON: those of the web-platform tests. */
#ifndef UNSEEN_TESTS_URL_JSON_H
#define UNSEEN_TESTS_URL_JSON_H

#include "url_data.h"

#include <jansson.h>

/* The cases of a file; NULL if the file is missing or, which is a failed check, is not an array.
 * The caller calls json_decref. */
static inline json_t *data_json(const char *name)
{
    struct data_file file = data_load(name);
    if (!file.data) {
        return NULL;
    }
    data_fix_surrogates(file);
    json_error_t error;
    json_t *cases = json_loadb(file.data, file.len, JSON_ALLOW_NUL, &error);
    if (!CHECK(json_is_array(cases))) {
        fprintf(stderr, "%s: %s\n", name, error.text);
        json_decref(cases);
        return NULL;
    }
    return cases;
}

#endif
