/* SPDX-License-Identifier: MIT
 *
 * What a byte may cost: the worst input that a search finds for each parser, profile, rule and
 * kind, in ns per byte, beside an ordinary line.
 *
 *     bench_worst [TRIES [SEED [NAME]]]    TRIES changes are tried of each input; NAME: one subject
 *
 * An input is a frame, such as "http://" and "/", with a unit that is repeated in between. The
 * search begins with each token alone in each frame, at three lengths, and then climbs: it changes
 * the worst unit at random (another token, one more, one less), and keeps what is worse. An
 * ordinary line is a made-up URL of 62 bytes that a set is asked for and that is added to it.
 * bench/worst.sh runs this, then whole programs. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include "bench.h"

#include <idn2.h>

#include "worst.h"

enum {
    REPEATS = 3,
    NORDINARY = 200000,
    ORDINARY_LEN = 62
};

static const size_t lengths[] = {128, 2048, INPUT_MAX};

/* How many times as long as a byte of an ordinary line a byte may take; and a byte of an input that
 * is not ASCII, which may be a name. */
static const double GOAL = 30;
static const double GOAL_BEYOND_ASCII = 100;

/* An escape of a byte that is not ASCII may be of a name, too. */
static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80 &&
           !(text[0] == '%' && text[1] && strchr("89abcdefABCDEF", text[1]))) {
        text++;
    }
    return *text == '\0';
}

static double goal_of(const struct input *input)
{
    bool ascii = is_ascii(input->frame->start) && is_ascii(input->frame->end);
    for (size_t i = 0; i < input->nparts; i++) {
        ascii = ascii && is_ascii(input->parts[i]);
    }
    return ascii ? GOAL : GOAL_BEYOND_ASCII;
}

/* ---- Search -----------------------------------------------------------------------------------*/

/* ns per byte in parts of the goal, the least of some runs: others on the machine only add to a
 * time. */
static double measure(const struct subject *s, const struct input *input, size_t repeats)
{
    static char text[INPUT_MAX + 64];
    const size_t len = write_input(input, text);
    const size_t npasses = 1 + 4000 / len;
    double least = 1e9;
    for (size_t i = 0; i < repeats; i++) {
        const double start = bench_cpu();
        for (size_t pass = 0; pass < npasses; pass++) {
            s->run(s, text, len);
        }
        const double time = (bench_cpu() - start) * 1e9 / (double)(npasses * len);
        least = time < least ? time : least;
    }
    return least / goal_of(input);
}

/* ns per byte that libidn2 alone takes for the labels of a name, one by one. */
static double measure_libidn2(const struct input *input)
{
    static char text[INPUT_MAX + 64];
    const size_t len = write_input(input, text);
    const size_t npasses = 1 + 4000 / len;
    double least = 1e9;
    for (size_t i = 0; i < len; i++) {
        text[i] = text[i] == '.' || text[i] == '/' ? '\0' : text[i];
    }
    text[len] = '\0';
    for (size_t i = 0; i < REPEATS; i++) {
        const double start = bench_cpu();
        for (size_t pass = 0; pass < npasses; pass++) {
            for (size_t at = strlen("http://"); at < len; at += strlen(text + at) + 1) {
                uint8_t *ascii = NULL;
                idn2_lookup_u8((const uint8_t *)text + at, &ascii, IDN2_NONTRANSITIONAL);
                idn2_free(ascii);
            }
        }
        const double time = (bench_cpu() - start) * 1e9 / (double)(npasses * len);
        least = time < least ? time : least;
    }
    return least;
}

static const char *any_token(const struct subject *s, uint64_t *seed)
{
    size_t n = 0;
    while (s->tokens[n]) {
        n++;
    }
    return s->tokens[test_random(seed) % n];
}

static void change(const struct subject *s, struct input *input, uint64_t *seed)
{
    const uint64_t how = test_random(seed) % 8;
    const size_t at = (size_t)(test_random(seed) % input->nparts);
    if (how < 3 && input->nparts < PARTS_MAX) {
        input->parts[input->nparts] = input->parts[at];
        input->parts[at] = any_token(s, seed);
        input->nparts++;
    } else if (how == 3 && input->nparts > 1) {
        input->parts[at] = input->parts[--input->nparts];
    } else if (how == 4) {
        size_t nframes = 0;
        while (s->frames[nframes].start) {
            nframes++;
        }
        input->frame = &s->frames[test_random(seed) % nframes];
    } else if (how == 5) {
        input->len = lengths[test_random(seed) % (sizeof(lengths) / sizeof(lengths[0]))];
    } else {
        input->parts[at] = any_token(s, seed);
    }
}

static struct input search(const struct subject *s, size_t ntries, uint64_t seed, double *worst_out)
{
    struct input worst = {.nparts = 0};
    double worst_time = 0;
    for (const struct frame *frame = s->frames; frame->start; frame++) {
        for (const char *const *token = s->tokens; *token; token++) {
            for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
                const struct input input = {frame, {*token}, 1, lengths[i]};
                const double time = measure(s, &input, 2);
                if (time > worst_time) {
                    worst_time = time;
                    worst = input;
                }
            }
        }
    }
    worst_time = measure(s, &worst, REPEATS);
    for (size_t i = 0; i < ntries; i++) {
        struct input input = worst;
        change(s, &input, &seed);
        if (measure(s, &input, 2) > worst_time && measure(s, &input, REPEATS) > worst_time) {
            worst_time = measure(s, &input, REPEATS);
            worst = input;
        }
    }
    *worst_out = measure(s, &worst, 2 * REPEATS);
    return worst;
}

/* ns per byte of made-up URLs, each added to a set that does not have it. */
static double measure_ordinary(void)
{
    static char text[NORDINARY][ORDINARY_LEN + 2];
    static struct unseen_bytes lines[NORDINARY];
    double times[BENCH_ROUNDS];
    for (size_t i = 0; i < NORDINARY; i++) {
        snprintf(text[i], sizeof(text[i]), "https://www.example.com/news/%016llx/story-%06u/p",
                 (unsigned long long)bench_mix(i), (unsigned)i % 1000000);
        lines[i] = (struct unseen_bytes){text[i], strlen(text[i])};
    }
    for (size_t round = 0; round < BENCH_ROUNDS; round++) {
        struct unseen_set *set = NULL;
        const struct unseen_set_options options = {
            .size = sizeof(options), .seed = "1", .seed_len = 1, .capacity = NORDINARY};
        bench_check(unseen_set_create(&set, &options, NULL));
        const double start = bench_cpu();
        size_t nbytes = 0;
        for (size_t i = 0; i < NORDINARY; i += BENCH_BATCH) {
            const size_t n = NORDINARY - i < BENCH_BATCH ? NORDINARY - i : BENCH_BATCH;
            struct unseen_key keys[BENCH_BATCH];
            uint8_t verdicts[BENCH_BATCH];
            size_t ndone;
            bench_check(unseen_set_keys(set, lines + i, n, keys, NULL));
            bench_check(unseen_set_add_keys(set, keys, n, verdicts, &ndone));
            nbytes += n * lines[i].len;
        }
        times[round] = (bench_cpu() - start) * 1e9 / (double)nbytes;
        unseen_set_free(set);
    }
    return bench_median(times, BENCH_ROUNDS);
}

int main(int argc, char **argv)
{
    const size_t ntries = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 300;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool met = true;
    bench_heading("the worst input of each parser, profile, rule and kind", seed);
    const double ordinary = measure_ordinary();
    printf("an ordinary line: %.2f ns/byte\n", ordinary);
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        struct subject *const s = &subjects[i];
        if (argc > 3 && strcmp(argv[3], s->name) != 0) {
            continue;
        }
        worst_start(s);
        double time;
        const struct input worst = search(s, ntries, seed, &time);
        const double goal = goal_of(&worst);
        const double ratio = time * goal / ordinary;
        met = met && ratio <= goal;
        printf("%-36s %7.2f ns/byte %6.1f x, goal %3.0f %s %6zu bytes  ", s->name, time * goal,
               ratio, goal, ratio <= goal ? "met   " : "MISSED", worst.len);
        if (s->frames == host_frames && goal > GOAL) {
            printf("(libidn2 alone: %.2f ns/byte)  ", measure_libidn2(&worst));
        }
        worst_print(stdout, &worst);
        fflush(stdout);
        unseen_url_free(s->url);
    }
    return worst_total == 0 || !met;
}
