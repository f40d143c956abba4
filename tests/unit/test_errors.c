/* SPDX-License-Identifier: MIT
 *
 * What an error says: its status, the setting it is about, and a sentence that names what is
 * wrong. */
#include "folder_check.h"

#include <math.h>

#include <unseen_bitmap.h>
#include <unseen_list.h>

static struct unseen_error error;

/* Whether error is of this status and setting, and its sentence has the word. Empties it. */
static bool says(enum unseen_status got, enum unseen_status status, enum unseen_setting setting,
                 const char *word)
{
    const bool right = got == status && error.status == status && error.setting == setting &&
                       strstr(error.text, word) != NULL;
    if (!right) {
        fprintf(stderr, "status %d, setting %d: \"%s\" lacks \"%s\"\n", (int)error.status,
                (int)error.setting, error.text, word);
    }
    error = (struct unseen_error){.text = ""};
    return right;
}

static void test_sizes(void)
{
    struct unseen_set *set;
    struct unseen_url *url;
    struct unseen_import *import;
    struct unseen_bitmap *bitmap;
    struct unseen_store *store;
    struct unseen_list *list;
    struct unseen_list_edit *edit;
    struct unseen_list_build *build;
    const struct unseen_set_options s = {.fpr = 0.1};
    const struct unseen_url_options u = {.profile = "crawl"};
    const struct unseen_bitmap_options b = {.cpu = UNSEEN_CPU_AUTO};
    const struct unseen_store_options st = {.mode = UNSEEN_STORE_READ};
    const struct unseen_list_options l = {.access = UNSEEN_LIST_MAP};
    const struct unseen_list_build_options lb = {.fpr = 0.1};
    const enum unseen_status status = UNSEEN_ERR_SIZE;
    const enum unseen_setting size = UNSEEN_SETTING_SIZE;
    CHECK(says(unseen_set_create(&set, &s, &error), status, size, "struct unseen_set_options"));
    CHECK(says(unseen_import_create(&import, &s, &error), status, size, "is not set"));
    CHECK(says(unseen_url_create(&url, &u, &error), status, size, "struct unseen_url_options"));
    CHECK(says(unseen_bitmap_create(&bitmap, &b, &error), status, size, "unseen_bitmap_options"));
    CHECK(says(unseen_store_open(&store, "s", &st, &error), status, size, "unseen_store_options"));
    CHECK(says(unseen_list_open(&list, "l", &l, &error), status, size, "l: the size of a struct"));
    CHECK(says(unseen_list_edit_open(&edit, "l", &l, &error), status, size, "list_options"));
    CHECK(says(unseen_list_build_create(&build, "l", &lb, &error), status, size, "build_options"));
    const struct unseen_set_options larger = {.size = sizeof(larger) + 8};
    CHECK(says(unseen_set_create(&set, &larger, &error), status, size, "knows sizes up to"));
}

static void test_set_settings(void)
{
    struct unseen_set *set = NULL;
    struct unseen_set_options o = {.size = sizeof(o), .profile = "none", .filter = "blum"};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_NAME, UNSEEN_SETTING_FILTER,
               "no filter \"blum\""));
    o = (struct unseen_set_options){.size = sizeof(o), .profile = "none", .filter = "bloom"};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_CAPACITY,
               "bloom needs a capacity"));
    o = (struct unseen_set_options){.size = sizeof(o), .profile = "none", .fpr = 2};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FPR,
               "rate of 2"));
    o = (struct unseen_set_options){.size = sizeof(o), .profile = "none", .fpr = 1e-13};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_FPR, UNSEEN_SETTING_FPR, "1e-13"));
    o = (struct unseen_set_options){
        .size = sizeof(o), .profile = "none", .filter = "bloom", .capacity = 9, .counts = true};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_FILTER,
               "bloom does not count"));
    o = (struct unseen_set_options){
        .size = sizeof(o), .profile = "none", .fpr = 1e-12, .key_bits = 64};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_FPR, UNSEEN_SETTING_KEY_BITS,
               "64 bits"));
    o = (struct unseen_set_options){.size = sizeof(o), .profile = "none", .key_bits = 65};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_KEY_BITS,
               "not 65"));
    o = (struct unseen_set_options){.size = sizeof(o), .profile = "none", .seed = "x"};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_SEED,
               "seed"));
    o = (struct unseen_set_options){
        .size = sizeof(o), .profile = "none", .cpu = (enum unseen_cpu)9};
    CHECK(says(unseen_set_create(&set, &o, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_CPU,
               "9 is not"));
    CHECK(!set);
}

static void test_shapes(void)
{
    struct unseen_set *set = NULL;
    const struct {
        struct unseen_set_options options;
        enum unseen_status status;
        enum unseen_setting setting;
        const char *text;
    } wrong[] = {
        {{.bits_per_key = 20, .fpr = 0.1}, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_BITS_PER_KEY, "one"},
        {{.bits_per_key = -1}, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_BITS_PER_KEY, "above 0"},
        {{.bits_per_key = 1e7}, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_BITS_PER_KEY, "at most 1e+06"},
        {{.bits_per_key = NAN}, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_BITS_PER_KEY, "nan"},
        {{.bits_per_key = 0.01}, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_BITS_PER_KEY, "every key"},
        {{.bits_per_key = 20, .hashes = 99}, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_HASHES, "not 99"},
        {{.bits_per_key = 20, .filter = "compact"},
         UNSEEN_ERR_UNSUPPORTED,
         UNSEEN_SETTING_BITS_PER_KEY,
         "compact takes no bits"},
        {{.hashes = 4, .filter = "block"},
         UNSEEN_ERR_UNSUPPORTED,
         UNSEEN_SETTING_HASHES,
         "block takes no number of hashes"},
        {{.window = 1000}, UNSEEN_ERR_UNSUPPORTED, UNSEEN_SETTING_WINDOW, "compact and counting"},
        {{.window = UINT64_C(4000000000000)},
         UNSEEN_ERR_ARGUMENT,
         UNSEEN_SETTING_WINDOW,
         "longer than 100 years"},
        {{.window = 1000, .filter = "compact", .counts = true},
         UNSEEN_ERR_UNSUPPORTED,
         UNSEEN_SETTING_WINDOW,
         "no one time"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct unseen_set_options o = wrong[i].options;
        o.size = sizeof(o);
        o.capacity = 1000;
        o.filter = o.filter ? o.filter : "bloom";
        CHECK(says(unseen_set_create(&set, &o, &error), wrong[i].status, wrong[i].setting,
                   wrong[i].text));
    }
    CHECK(!set);
}

static void test_url_settings(void)
{
    struct unseen_url *url = NULL;
    const char *rule = "no-such-rule";
    const char *fixed = "keep-fragment";
    struct unseen_url_options o = {.size = sizeof(o), .profile = "crawler"};
    CHECK(says(unseen_url_create(&url, &o, &error), UNSEEN_ERR_NAME, UNSEEN_SETTING_PROFILE,
               "no profile \"crawler\""));
    o.profile = "crawl/999";
    CHECK(says(unseen_url_create(&url, &o, &error), UNSEEN_ERR_VERSION, UNSEEN_SETTING_PROFILE,
               "this version of unseen has no profile"));
    o = (struct unseen_url_options){.size = sizeof(o), .rules = &rule, .nrules = 1};
    CHECK(says(unseen_url_create(&url, &o, &error), UNSEEN_ERR_NAME, UNSEEN_SETTING_RULES,
               "no rule \"no-such-rule\""));
    o = (struct unseen_url_options){
        .size = sizeof(o), .profile = "safebrowsing", .rules = &fixed, .nrules = 1};
    CHECK(says(unseen_url_create(&url, &o, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
               "profile safebrowsing has no rule"));
    o = (struct unseen_url_options){.size = sizeof(o), .nrules = 1};
    CHECK(says(unseen_url_create(&url, &o, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
               "rules is NULL"));
    CHECK(!url);
}

static struct unseen_set *set_of(struct unseen_set_options options)
{
    struct unseen_set *set = NULL;
    options.size = sizeof(options);
    options.seed = options.seed ? options.seed : "a";
    options.seed_len = 1;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    return set;
}

/* A set that differs from the first in one setting. */
static void test_merge(void)
{
    const struct unseen_set_options same = {.filter = "bloom", .capacity = 1000, .fpr = 0.01};
    struct unseen_set_options other[4] = {same, same, same, same};
    static const enum unseen_setting settings[4] = {UNSEEN_SETTING_SEED, UNSEEN_SETTING_KEY_BITS,
                                                    UNSEEN_SETTING_CAPACITY, UNSEEN_SETTING_FILTER};
    other[0].seed = "b";
    other[1].key_bits = 96;
    other[2].capacity = 2000;
    other[3].filter = "block";
    struct unseen_set *a = set_of(same);
    for (int i = 0; i < 4; i++) {
        struct unseen_set *b = set_of(other[i]);
        CHECK(says(unseen_set_merge(a, b, NULL, &error), UNSEEN_ERR_MISMATCH, settings[i],
                   "do not have the same"));
        unseen_set_free(b);
    }
    CHECK(says(unseen_set_merge(a, a, NULL, &error), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_NONE,
               "with itself"));
    struct unseen_set *counts = set_of((struct unseen_set_options){.counts = true});
    CHECK(says(unseen_set_merge(counts, a, NULL, &error), UNSEEN_ERR_UNSUPPORTED,
               UNSEEN_SETTING_FILTER, "compact that counts"));
    unseen_set_free(counts);
    unseen_set_free(a);
}

static char path[300];

static enum unseen_status open_with(struct unseen_store_options options)
{
    struct unseen_store *store = NULL;
    options.size = sizeof(options);
    const enum unseen_status status = unseen_store_open(&store, path, &options, &error);
    unseen_store_close(store, NULL);
    return status;
}

static void test_store(void)
{
    char folder[sizeof(path) - 2];
    test_folder_make(folder, sizeof(folder), "errors");
    snprintf(path, sizeof(path), "%s/s", folder);
    struct unseen_store_options o = {.mode = UNSEEN_STORE_CREATE, .profile = "crawlers"};
    CHECK(says(open_with(o), UNSEEN_ERR_NAME, UNSEEN_SETTING_PROFILE, "s: there is no profile"));
    o = (struct unseen_store_options){.mode = UNSEEN_STORE_CREATE, .filter = "blum"};
    CHECK(says(open_with(o), UNSEEN_ERR_NAME, UNSEEN_SETTING_FILTER, "s: there is no filter"));
    o.filter = "bloom";
    CHECK(says(open_with(o), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_CAPACITY, "s: the filter bloom"));
    o = (struct unseen_store_options){.mode = UNSEEN_STORE_CREATE, .file_mode = 0700};
    CHECK(says(open_with(o), UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_FILE_MODE, "700"));
    CHECK(access(path, F_OK) != 0);
    o = (struct unseen_store_options){.mode = UNSEEN_STORE_CREATE, .seed = "a", .seed_len = 1};
    CHECK(open_with(o) == UNSEEN_OK);
    const struct {
        struct unseen_store_options options;
        enum unseen_setting setting;
    } others[] = {
        {{.profile = "whatwg"}, UNSEEN_SETTING_PROFILE},
        {{.filter = "bloom"}, UNSEEN_SETTING_FILTER},
        {{.filter = "exact"}, UNSEEN_SETTING_FPR},
        {{.fpr = 0.5}, UNSEEN_SETTING_FPR},
        {{.key_bits = 128}, UNSEEN_SETTING_KEY_BITS},
        {{.seed = "b", .seed_len = 1}, UNSEEN_SETTING_SEED},
        {{.no_log = true}, UNSEEN_SETTING_NO_LOG},
        {{.file_mode = 0644}, UNSEEN_SETTING_FILE_MODE},
        {{.bits_per_key = 20}, UNSEEN_SETTING_BITS_PER_KEY},
        {{.hashes = 10}, UNSEEN_SETTING_HASHES},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        CHECK(says(open_with(others[i].options), UNSEEN_ERR_MISMATCH, others[i].setting, path));
    }
    struct unseen_store *store = NULL;
    enum unseen_verdict verdict = UNSEEN_ALLOWED;
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_OK);
    CHECK(test_store_add(store, "x", 1, &verdict) == UNSEEN_ERR_READONLY);
    CHECK(says(unseen_store_commit(store, &error), UNSEEN_ERR_READONLY, UNSEEN_SETTING_NONE,
               "opened to be read only"));
    CHECK(strstr(unseen_status_string(UNSEEN_ERR_READONLY), "read only") != NULL);
    unseen_store_close(store, NULL);
    CHECK(unlink(path) == 0);
    CHECK(rmdir(folder) == 0);
}

int main(void)
{
    test_start();
    test_sizes();
    test_set_settings();
    test_shapes();
    test_url_settings();
    test_merge();
    test_store();
    return test_end();
}
