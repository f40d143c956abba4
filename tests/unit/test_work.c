/* SPDX-License-Identifier: MIT
 *
 * What a byte may cost: the work of each parser, profile, rule and kind is in proportion to the
 * length of its input, whatever the input is. Work is counted, not timed: the code under test is
 * compiled so that each basic block calls a function, and the functions of libc that go through
 * memory count a step for 16 bytes. Of a function that is quadratic, a byte of an input that is
 * eight times as long takes eight times as many steps; n log n steps are 1.3 times as many.
 * libidn2 takes 100 times as long as a step for a byte, and a call as long as some bytes: what it
 * is given is counted besides. */
#include "worst.h"

enum {
    NCHANGES = 10, /* units of several tokens that are tried in each frame */
    SHORT = 1 << 9,
    LONG = 1 << 12,
    STEPS_MAX = 450, /* for a byte; of -O1, which has more blocks than -O2 */
    ASKED_MAX = 15,  /* bytes that libidn2 is given for a byte, each time that a name is read */
    CALL_COST = 10   /* in such bytes */
};

static uint64_t nsteps;
static uint64_t nasked;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    nsteps++;
}

void *__real_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len)
{
    nsteps += 1 + len / 16;
    return __real_memcpy(to, from, len);
}

void *__real_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len)
{
    nsteps += 1 + len / 16;
    return __real_memmove(to, from, len);
}

void *__real_memset(void *to, int byte, size_t len);
void *__wrap_memset(void *to, int byte, size_t len);
void *__wrap_memset(void *to, int byte, size_t len)
{
    nsteps += 1 + len / 16;
    return __real_memset(to, byte, len);
}

void *__real_memchr(const void *in, int byte, size_t len);
void *__wrap_memchr(const void *in, int byte, size_t len);
void *__wrap_memchr(const void *in, int byte, size_t len)
{
    const char *const found = __real_memchr(in, byte, len);
    nsteps += 1 + (found ? (size_t)(found - (const char *)in) : len) / 16;
    return (void *)(uintptr_t)found;
}

int __real_idn2_lookup_u8(const uint8_t *src, uint8_t **lookupname, int flags);
int __wrap_idn2_lookup_u8(const uint8_t *src, uint8_t **lookupname, int flags);
int __wrap_idn2_lookup_u8(const uint8_t *src, uint8_t **lookupname, int flags)
{
    nasked += CALL_COST + strlen((const char *)src);
    return __real_idn2_lookup_u8(src, lookupname, flags);
}

/* Steps for each byte of the input, and bytes for libidn2. */
static double count(const struct subject *s, struct input *input, size_t len, double *asked)
{
    static char text[INPUT_MAX + 64];
    input->len = len;
    const size_t written = write_input(input, text);
    nsteps = 0;
    nasked = 0;
    s->run(s, text, written);
    *asked = (double)nasked / (double)written;
    return (double)nsteps / (double)written;
}

static void check(const struct subject *s, struct input *input, double *most, double *most_asked)
{
    const bool twice = s->run == run_expressions || s->kind == UNSEEN_KIND_EXPRESSIONS;
    const double asked_max = twice ? 2 * ASKED_MAX : ASKED_MAX;
    double asked_short;
    double asked;
    const double few = count(s, input, SHORT, &asked_short);
    const double many = count(s, input, LONG, &asked);
    *most = many > *most ? many : *most;
    *most_asked = asked > *most_asked ? asked : *most_asked;
    if (!CHECK(few <= STEPS_MAX && many <= STEPS_MAX && many <= 2 * few + 10 &&
               asked_short <= asked_max && asked <= asked_max)) {
        fprintf(stderr,
                "%s: %.0f and %.0f steps for a byte of %d and %d, and %.1f and %.1f for libidn2: ",
                s->name, few, many, (int)SHORT, (int)LONG, asked_short, asked);
        worst_print(stderr, input);
    }
}

static void check_subject(struct subject *s)
{
    uint64_t seed = 1;
    double most = 0;
    double most_asked = 0;
    size_t ntokens = 0;
    worst_start(s);
    while (s->tokens[ntokens]) {
        ntokens++;
    }
    for (const struct frame *frame = s->frames; frame->start; frame++) {
        for (size_t i = 0; i < ntokens + NCHANGES; i++) {
            struct input input = {frame, {s->tokens[i % ntokens]}, 1, 0};
            while (i >= ntokens && input.nparts < 1 + i % 4) {
                input.parts[input.nparts++] = s->tokens[test_random(&seed) % ntokens];
            }
            check(s, &input, &most, &most_asked);
        }
    }
    printf("%-36s %6.1f steps a byte, %4.1f bytes for libidn2\n", s->name, most, most_asked);
    unseen_url_free(s->url);
}

int main(void)
{
    test_start();
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        check_subject(&subjects[i]);
    }
    CHECK(worst_total > 0);
    return test_end();
}
