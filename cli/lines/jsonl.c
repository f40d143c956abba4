/* SPDX-License-Identifier: MIT
 *
 * jansson makes an object in memory of each value of the line: "{}," is 3 bytes long and takes 240
 * in memory. So an allocator counts, and limits the memory of a parse. */
#include "lines/jsonl.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARSE_BYTES = 64 << 20, /* the memory for any line, */
    PARSE_EACH = 16         /* and for each of its bytes */
};

static _Thread_local size_t left; /* bytes that the parse may still take */

static void *take_memory(size_t size)
{
    if (size > left) {
        return NULL;
    }
    left -= size;
    return malloc(size);
}

static void jsonl_start(void)
{
    json_set_alloc_funcs(take_memory, free);
}

/* The member or element name[0..len), or NULL. */
static json_t *step(json_t *at, const char *name, size_t len)
{
    char key[256];
    if (len >= sizeof(key)) {
        return NULL;
    }
    memcpy(key, name, len);
    key[len] = '\0';
    if (json_is_array(at) && len > 0 && strspn(key, "0123456789") == len) {
        return json_array_get(at, strtoul(key, NULL, 10));
    }
    return json_object_get(at, key); /* NULL if it is not an object */
}

static json_t *walk(json_t *at, const char *path)
{
    while (at && *path == '.') {
        size_t len = strcspn(path + 1, ".");
        at = step(at, path + 1, len);
        path += 1 + len;
    }
    return at;
}

bool jsonl_find(struct unseen_bytes line, const char *path,
                void (*take)(void *context, struct unseen_bytes value), void *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, jsonl_start); /* fails for a wrong argument only */
    left = line.len < (SIZE_MAX - PARSE_BYTES) / PARSE_EACH ? PARSE_BYTES + PARSE_EACH * line.len
                                                            : SIZE_MAX;
    json_t *root = json_loadb(line.data, line.len, JSON_ALLOW_NUL, NULL);
    const json_t *value = walk(root, path);
    bool found = false;
    if (json_is_string(value)) {
        take(context, (struct unseen_bytes){json_string_value(value), json_string_length(value)});
        found = true;
    } else if (value && !json_is_null(value)) {
        char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
        if (text) {
            take(context, (struct unseen_bytes){text, strlen(text)});
            found = true;
        }
        free(text);
    }
    json_decref(root);
    return found;
}
