/* SPDX-License-Identifier: MIT
 *
 * Lists asked by questions: each kind covers what its texts say, what is allowed passes, and any
 * batch, of questions short and long, gives each question the answer that it has alone. */
#include "folder_check.h"

#include <unistd.h>
#include <unseen_list.h>

enum {
    PATH_CAP = 256,
    NMANY = 5000
};

static char folder[PATH_CAP];
static char path[PATH_CAP + 16];

/* ---- lists ---- */

static void check_ok(enum unseen_status status, const struct unseen_error *error)
{
    if (!CHECK(status == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
}

static void build(enum unseen_kind kind, const char *profile, const char *const *entries, size_t n)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_build *b = NULL;
    static const uint8_t seed[8] = {7};
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .fpr = 1e-6,
                                                      .seed = seed,
                                                      .seed_len = sizeof(seed),
                                                      .kind = kind,
                                                      .profile = profile,
                                                      .cpu = test_cpu};
    check_ok(unseen_list_build_create(&b, path, &options, &error), &error);
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(entries[i]);
        const struct unseen_bytes entry = {test_guarded(entries[i], len), len};
        check_ok(unseen_list_build_add(b, &entry, 1, NULL, &error), &error);
    }
    check_ok(unseen_list_build_finish(b, NULL, NULL, &error), &error);
    unseen_list_build_free(b);
}

static void allow(const char *entry)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_edit *edit = NULL;
    const size_t len = strlen(entry);
    const struct unseen_bytes item = {test_guarded(entry, len), len};
    check_ok(unseen_list_edit_open(&edit, path, NULL, &error), &error);
    check_ok(unseen_list_edit_change(edit, UNSEEN_LIST_ALLOW, &item, 1, NULL, &error), &error);
    check_ok(unseen_list_edit_commit(edit, &error), &error);
    unseen_list_edit_close(edit);
}

static struct unseen_list *open_list(const struct unseen_allocator *allocator)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list *list = NULL;
    const struct unseen_list_options options = {
        .size = sizeof(options), .cpu = test_cpu, .allocator = allocator};
    check_ok(unseen_list_open(&list, path, &options, &error), &error);
    return list;
}

/* ---- each kind ---- */

struct question {
    const char *text;
    enum unseen_verdict verdict;
};

static void check_questions(const struct unseen_list *list, const struct question *questions,
                            size_t n)
{
    struct unseen_bytes items[32];
    uint8_t verdicts[32];
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(questions[i].text);
        items[i] = (struct unseen_bytes){test_guarded(questions[i].text, len), len};
        CHECK(unseen_list_covers(list, &items[i], 1, &verdicts[i]) == UNSEEN_OK);
        if (!CHECK_EQ(verdicts[i], questions[i].verdict)) {
            fprintf(stderr, "%s\n", questions[i].text);
        }
    }
    memset(verdicts, 0xff, sizeof(verdicts));
    CHECK(unseen_list_covers(list, items, n, verdicts) == UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(verdicts[i], questions[i].verdict);
    }
    CHECK_EQ(verdicts[n], 0xff);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_urls(void)
{
    static const char *const entries[] = {"http://evil.example/a", "http://evil.example/allowed"};
    static const struct question questions[] = {
        {"http://evil.example/a", UNSEEN_SEEN},
        {"HTTP://EVIL.example:80/x/../a#top", UNSEEN_SEEN},
        {"http://evil.example/ab", UNSEEN_NEW},
        {"http://evil.example/", UNSEEN_NEW},
        {"http://evil.example/./allowed", UNSEEN_ALLOWED},
        {"no URL", UNSEEN_NEW},
        {"", UNSEEN_NEW},
    };
    build(UNSEEN_KIND_URL, "crawl", entries, COUNT(entries));
    allow("http://evil.example/allowed");
    struct unseen_list *list = open_list(NULL);
    check_questions(list, questions, COUNT(questions));
    unseen_list_close(list);
}

static void test_bytes(void)
{
    static const char *const entries[] = {"some words", "http://EVIL.example"};
    static const struct question questions[] = {
        {"some words", UNSEEN_SEEN},
        {"Some words", UNSEEN_NEW},
        {"http://EVIL.example", UNSEEN_SEEN},
        {"http://evil.example/", UNSEEN_NEW},
    };
    build(UNSEEN_KIND_URL, "none", entries, COUNT(entries));
    struct unseen_list *list = open_list(NULL);
    check_questions(list, questions, COUNT(questions));
    unseen_list_close(list);
}

static void test_expressions(void)
{
    static const char *const entries[] = {"evil.example/", "good.example/bad/"};
    static const struct question questions[] = {
        {"http://evil.example/x?y", UNSEEN_SEEN},
        {"https://WWW.evil.example:8443/", UNSEEN_SEEN},
        {"http://notevil.example/", UNSEEN_NEW},
        {"http://good.example/", UNSEEN_NEW},
        {"http://a.good.example/bad/x", UNSEEN_SEEN},
        {"http://evil.example/fine/page", UNSEEN_ALLOWED},
        {"http://www.evil.example/fine/", UNSEEN_ALLOWED},
        {"", UNSEEN_NEW},
    };
    build(UNSEEN_KIND_EXPRESSIONS, "safebrowsing", entries, COUNT(entries));
    allow("evil.example/fine/");
    struct unseen_list *list = open_list(NULL);
    check_questions(list, questions, COUNT(questions));
    unseen_list_close(list);
}

static void test_mail(void)
{
    static const char *const entries[] = {"evil.example", "Bad@corp.example"};
    static const struct question questions[] = {
        {"jo@evil.example", UNSEEN_SEEN},
        {"Jo@mail.EVIL.example.", UNSEEN_SEEN},
        {"a.b.evil.example", UNSEEN_SEEN},
        {"bad@corp.example", UNSEEN_SEEN},
        {"good@corp.example", UNSEEN_NEW},
        {"corp.example", UNSEEN_NEW},
        {"friend@evil.example", UNSEEN_ALLOWED},
        {"192.0.2.1", UNSEEN_NEW},
        {"@", UNSEEN_NEW},
    };
    build(UNSEEN_KIND_MAIL, NULL, entries, COUNT(entries));
    allow("friend@evil.example");
    struct unseen_list *list = open_list(NULL);
    check_questions(list, questions, COUNT(questions));
    unseen_list_close(list);
}

static void test_ip(void)
{
    static const char *const entries[] = {"192.0.2.0/24", "2001:db8::/32", "198.51.100.7"};
    static const struct question questions[] = {
        {"192.0.2.200", UNSEEN_SEEN},      {"192.0.3.200", UNSEEN_NEW},
        {"198.51.100.7", UNSEEN_SEEN},     {"::ffff:198.51.100.7", UNSEEN_SEEN},
        {"2001:DB8:ffff::1", UNSEEN_SEEN}, {"2001:db9::1", UNSEEN_NEW},
        {"192.0.2.66", UNSEEN_ALLOWED},    {"unknown", UNSEEN_NEW},
    };
    build(UNSEEN_KIND_IP, NULL, entries, COUNT(entries));
    allow("192.0.2.64/30");
    struct unseen_list *list = open_list(NULL);
    check_questions(list, questions, COUNT(questions));
    unseen_list_close(list);
}

static void test_phone(void)
{
    static const char *const entries[] = {"+1 555 0100"};
    static const struct question questions[] = {
        {"+1-555-0100", UNSEEN_SEEN}, {"+1-555-0101", UNSEEN_NEW}, {"phone", UNSEEN_NEW}};
    build(UNSEEN_KIND_PHONE, NULL, entries, COUNT(entries));
    struct unseen_list *list = open_list(NULL);
    check_questions(list, questions, COUNT(questions));
    unseen_list_close(list);
}

/* ---- identity ---- */

/* A question in any spelling that the profile of the list makes equal is listed, without a word of
 * the profile from whoever asks. */
static void test_profile(void)
{
    static const char *const entries[] = {"http://www.evil.example/a?utm_source=x&b=1&a=2"};
    static const struct question questions[] = {
        {"http://www.evil.example/a?utm_source=x&b=1&a=2", UNSEEN_SEEN},
        {"https://evil.example/a?a=2&b=1", UNSEEN_SEEN},
        {"HTTP://Evil.example:80/x/../a?b=1&a=2&utm_medium=y#top", UNSEEN_SEEN},
        {"http://evil.example/a?a=2&b=2", UNSEEN_NEW},
    };
    struct unseen_list_info info = {.size = sizeof(info)};
    build(UNSEEN_KIND_URL, "aggressive", entries, COUNT(entries));
    allow("https://evil.example/fine?utm_source=z");
    struct unseen_list *list = open_list(NULL);
    CHECK(unseen_list_info(list, &info) == UNSEEN_OK);
    CHECK(strncmp(info.profile, "aggressive/", 11) == 0);
    CHECK(strcmp(unseen_url_id(unseen_list_url(list)), info.profile) == 0);
    check_questions(list, questions, COUNT(questions));
    const struct unseen_bytes fine = {"http://www.evil.example/fine", 28};
    uint8_t verdict = UNSEEN_NEW;
    CHECK(unseen_list_covers(list, &fine, 1, &verdict) == UNSEEN_OK && verdict == UNSEEN_ALLOWED);
    unseen_list_close(list);
}

static void check_profile_of(enum unseen_kind kind, const char *given, const char *made)
{
    struct unseen_list_info info = {.size = sizeof(info)};
    build(kind, given, NULL, 0);
    struct unseen_list *list = open_list(NULL);
    CHECK(unseen_list_info(list, &info) == UNSEEN_OK);
    if (!CHECK(strncmp(info.profile, made, strlen(made)) == 0 &&
               info.profile[strlen(made)] == '/')) {
        fprintf(stderr, "%s: %s, not %s\n", unseen_kind_name(kind), info.profile, made);
    }
    unseen_list_close(list);
}

static void test_profile_options(void)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    check_profile_of(UNSEEN_KIND_URL, NULL, "crawl");
    check_profile_of(UNSEEN_KIND_URL, "none", "none");
    check_profile_of(UNSEEN_KIND_EXPRESSIONS, NULL, "safebrowsing");
    check_profile_of(UNSEEN_KIND_MAIL, NULL, "none");
    struct unseen_list_build_options options = {.size = sizeof(options), .profile = "crowl"};
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_NAME);
    CHECK(error.setting == UNSEEN_SETTING_PROFILE && strstr(error.text, path) != NULL);
    options.profile = "crawl";
    options.kind = UNSEEN_KIND_MAIL;
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_ERR_ARGUMENT);
    CHECK(error.setting == UNSEEN_SETTING_PROFILE && strstr(error.text, "\"mail\"") != NULL);
}

/* An entry that is not fine is told, and is not in the list. */
static void test_fitness(void)
{
    static const char *const words[] = {"evil.example", "", "no mail at all", "com",
                                        "b@evil.example"};
    static const uint8_t expected[] = {UNSEEN_ENTRY_FINE, UNSEEN_ENTRY_EMPTY, UNSEEN_ENTRY_INVALID,
                                       UNSEEN_ENTRY_DANGEROUS, UNSEEN_ENTRY_FINE};
    struct unseen_bytes items[COUNT(words)];
    uint8_t fitness[COUNT(words)];
    char buf[256];
    struct unseen_list_entry entry;
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    struct unseen_list_info info = {.size = sizeof(info)};
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .kind = UNSEEN_KIND_MAIL};
    for (size_t i = 0; i < COUNT(words); i++) {
        items[i] = (struct unseen_bytes){words[i], strlen(words[i])};
    }
    check_ok(unseen_list_build_create(&b, path, &options, &error), &error);
    check_ok(unseen_list_build_add(b, items, COUNT(words), fitness, &error), &error);
    CHECK(memcmp(fitness, expected, COUNT(words)) == 0);
    for (size_t i = 0; i < COUNT(words); i++) {
        const bool fine = expected[i] == UNSEEN_ENTRY_FINE;
        CHECK(unseen_list_build_add(b, &items[i], 1, NULL, &error) ==
              (fine ? UNSEEN_OK : UNSEEN_ERR_ARGUMENT));
        CHECK(fine || strstr(error.text, unseen_kind_complaint(UNSEEN_KIND_MAIL,
                                                               (enum unseen_entry)expected[i])));
    }
    CHECK(strstr(error.text, "'com'") != NULL);
    check_ok(unseen_list_build_entry(b, "Com", 3, buf, sizeof(buf), &entry), &error);
    CHECK(entry.fitness == UNSEEN_ENTRY_DANGEROUS && entry.text.len == 3 &&
          memcmp(entry.text.data, "com", 3) == 0);
    check_ok(unseen_list_build_add_keys(b, &entry.key, 1, &error), &error);
    check_ok(unseen_list_build_finish(b, NULL, NULL, &error), &error);
    unseen_list_build_free(b);
    struct unseen_list *list = open_list(NULL);
    CHECK(unseen_list_info(list, &info) == UNSEEN_OK);
    CHECK_EQ(info.nkeys, 3);
    static const struct question questions[] = {{"jo@mail.evil.example", UNSEEN_SEEN},
                                                {"jo@any.com", UNSEEN_SEEN},
                                                {"x@y.example", UNSEEN_NEW}};
    check_questions(list, questions, COUNT(questions));
    unseen_list_close(list);

    /* The same of a change: all of them, or none. */
    struct unseen_list_edit *edit = NULL;
    const struct unseen_bytes changes[] = {items[4], items[2]};
    check_ok(unseen_list_edit_open(&edit, path, NULL, &error), &error);
    CHECK(unseen_list_edit_change(edit, UNSEEN_LIST_ALLOW, changes, 2, NULL, &error) ==
          UNSEEN_ERR_ARGUMENT);
    CHECK(strstr(error.text, "'no mail at all'") != NULL);
    check_ok(unseen_list_edit_change(edit, UNSEEN_LIST_REMOVE, &items[3], 1, NULL, &error), &error);
    check_ok(unseen_list_edit_commit(edit, &error), &error);
    unseen_list_edit_close(edit);
    list = open_list(NULL);
    CHECK(unseen_list_info(list, &info) == UNSEEN_OK);
    CHECK(info.nallowed == 0 && info.nremoved == 1);
    unseen_list_close(list);
}

/* ---- batches ---- */

/* Questions with between none and 129 texts, some of which need no room, little, or much. */
static size_t make_ip_question(uint64_t *random, char *text, size_t cap)
{
    const uint64_t x = test_random(random);
    switch (x % 4) {
    case 0:
        return (size_t)snprintf(text, cap, "10.0.%u.%u", (unsigned)(x >> 8 & 3),
                                (unsigned)(x >> 16 & 255));
    case 1:
        return (size_t)snprintf(text, cap, "2001:db8:%x::%x", (unsigned)(x >> 8 & 7),
                                (unsigned)(x >> 16 & 0xffff));
    case 2:
        return 0;
    default:
        return (size_t)snprintf(text, cap, "no address %u", (unsigned)(x >> 8 & 1023));
    }
}

static void test_many_addresses(void)
{
    static const char *const entries[] = {"10.0.1.0/24", "2001:db8:3::/48", "10.0.2.7"};
    static char texts[NMANY][64];
    static struct unseen_bytes items[NMANY];
    static uint8_t verdicts[NMANY];
    uint64_t random = 11;
    size_t nlisted = 0;
    build(UNSEEN_KIND_IP, NULL, entries, COUNT(entries));
    struct unseen_list *list = open_list(NULL);
    for (size_t i = 0; i < NMANY; i++) {
        items[i] = (struct unseen_bytes){texts[i], make_ip_question(&random, texts[i], 64)};
    }
    CHECK(unseen_list_covers(list, items, NMANY, verdicts) == UNSEEN_OK);
    for (size_t i = 0; i < NMANY; i++) {
        /* what the texts say to a human */
        const bool listed = strncmp(texts[i], "10.0.1.", 7) == 0 ||
                            strcmp(texts[i], "10.0.2.7") == 0 ||
                            strncmp(texts[i], "2001:db8:3:", 11) == 0;
        CHECK_EQ(verdicts[i], listed && items[i].len > 0 ? UNSEEN_SEEN : UNSEEN_NEW);
        nlisted += listed;
    }
    CHECK(nlisted > NMANY / 20);
    unseen_list_close(list);
}

/* URLs of up to 100,000 bytes among short ones; every third must be rewritten. */
static void test_long_urls(void)
{
    enum {
        NURLS = 300,
        LONGEST = 100000
    };
    static const char *const entries[] = {"evil.example/"};
    static struct unseen_bytes items[NURLS];
    static uint8_t verdicts[NURLS];
    build(UNSEEN_KIND_EXPRESSIONS, "safebrowsing", entries, 1);
    struct unseen_list *list = open_list(NULL);
    char *room = malloc(LONGEST + 100);
    CHECK(room != NULL);
    memset(room, 'a', LONGEST + 100);
    for (size_t i = 0; i < NURLS; i++) {
        const char *host = i % 2 ? "http://evil.example/" : "http://good.example/";
        const size_t tail = i % 37 == 0 ? LONGEST : i % 10 == 0 ? 9000 : i % 50;
        memcpy(room, host, 20);
        room[20] = i % 3 ? 'b' : '\x80';
        items[i] = (struct unseen_bytes){test_guarded(room, 20 + tail), 20 + tail};
    }
    memset(verdicts, 0xff, sizeof(verdicts));
    CHECK(unseen_list_covers(list, items, NURLS, verdicts) == UNSEEN_OK);
    for (size_t i = 0; i < NURLS; i++) {
        CHECK_EQ(verdicts[i], i % 2 ? UNSEEN_SEEN : UNSEEN_NEW);
    }
    CHECK(unseen_list_covers(list, items, 0, verdicts) == UNSEEN_OK);
    free(room);
    unseen_list_close(list);
}

/* Long questions need memory: without it there is an error, and nothing is lost. */
static void test_no_memory(void)
{
    enum {
        LONG = 40000
    };
    static const char *const entries[] = {"evil.example/"};
    struct test_allocator failing = {.fail_at = 0};
    const struct unseen_allocator allocator = {test_alloc, test_free, &failing};
    char *text = malloc(LONG);
    uint8_t verdict = UNSEEN_NEW;
    CHECK(text != NULL);
    memset(text, 'x', LONG);
    memcpy(text, "http://evil.example/", 20);
    build(UNSEEN_KIND_EXPRESSIONS, NULL, entries, 1);
    struct unseen_list *list = open_list(&allocator);
    const struct unseen_bytes item = {text, LONG};
    failing.fail_at = failing.nallocs + 1;
    CHECK(unseen_list_covers(list, &item, 1, &verdict) == UNSEEN_ERR_NOMEM);
    CHECK(unseen_list_covers(list, &item, 1, &verdict) == UNSEEN_OK);
    CHECK_EQ(verdict, UNSEEN_SEEN);
    unseen_list_close(list);
    CHECK_EQ(failing.nlive, 0);
    free(text);
}

/* A file that others write over or cut short is noticed; one that they append to is fine. */
static void test_written_over(void)
{
    static const char *const entries[] = {"192.0.2.0/24"};
    static const char *const others[] = {"198.51.100.0/24"};
    struct unseen_error error = {.text = ""};
    uint8_t other[16384];
    build(UNSEEN_KIND_IP, NULL, others, 1);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    const size_t len = fread(other, 1, sizeof(other), file);
    CHECK(len > 8192 && len < sizeof(other) && fclose(file) == 0);
    for (int how = 0; how < 3; how++) {
        bool changed = false;
        build(UNSEEN_KIND_IP, NULL, entries, 1);
        struct unseen_list *list = open_list(NULL);
        CHECK(unseen_list_refresh(list, &changed, &error) == UNSEEN_OK && !changed);
        if (how == 0) {
            allow("192.0.2.7");
            CHECK(unseen_list_refresh(list, &changed, &error) == UNSEEN_OK && changed);
        } else {
            file = fopen(path, "r+b");
            CHECK(file != NULL);
            CHECK(how == 1 ? fwrite(other, 1, len, file) == len : truncate(path, 5) == 0);
            CHECK(fclose(file) == 0);
            CHECK(unseen_list_refresh(list, &changed, &error) == UNSEEN_ERR_MISMATCH);
        }
        unseen_list_close(list);
    }
}

int main(void)
{
    test_start();
    test_folder_make(folder, sizeof(folder), "cover");
    snprintf(path, sizeof(path), "%s/list", folder);
    test_urls();
    test_bytes();
    test_expressions();
    test_mail();
    test_ip();
    test_phone();
    test_profile();
    test_profile_options();
    test_fitness();
    test_many_addresses();
    test_long_urls();
    test_no_memory();
    test_written_over();
    unlink(path);
    CHECK(rmdir(folder) == 0);
    return test_end();
}
