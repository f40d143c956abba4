/* SPDX-License-Identifier: MIT
 *
 * `unseen plan`: how large is a set of so many keys, at this rate? Checks the question first: two
 * of keys, memory and bits per key give the third, and the rate and the bits per key give each
 * other. Then the library's formulas answer it for each filter. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "lines/files.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/filter_words.h"

/* The size of a list follows from its rate, and not the other way round. */
static bool check_list(const struct options *o)
{
    const struct question *q = &o->plan.question;
    if (q->bits_per_key > 0 || q->hashes || (q->capacity && q->memory && q->fpr == 0)) {
        message_error("a list is planned for a rate");
        message_hint("%s", typed_changed("bits hashes memory", "--capacity 1e9 --fpr 1e-4"));
        return false;
    }
    return true;
}

/* Reports a question that says too much or too little. */
static bool check_question(const struct options *o)
{
    const struct question *q = &o->plan.question;
    const bool bits = q->bits_per_key > 0;
    const struct {
        bool wrong;
        const char *text;
        const char *drop;
        const char *hint;
    } cases[] = {
        {!q->capacity && !q->memory && !q->hashes && !bits && q->fpr == 0,
         "nothing to plan: say how many keys, or how wrong answers may be", "",
         "--capacity 1e7 --fpr 1e-4"},
        {bits && q->fpr > 0, "the rate follows from --bits, and the bits from --fpr: give one",
         "bits hashes", ""},
        {bits && q->capacity && q->memory, "--memory follows from --capacity and --bits", "memory",
         ""},
        {q->hashes && !bits && q->fpr == 0 && !(q->capacity && q->memory),
         "--hashes alone says neither a rate nor a size", "", "--bits 20"},
    };
    const bool is_list = o->plan.filter && strcmp(o->plan.filter, "list") == 0;
    if (o->plan.filter && !is_list && !filters_check_name(o->plan.filter)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].wrong) {
            message_error("%s", cases[i].text);
            message_hint("%s", typed_changed(cases[i].drop, "%s", cases[i].hint));
            return false;
        }
    }
    return !is_list || check_list(o);
}

/* The rows that --filter names; all without it. */
static size_t solve_all(const struct options *o, const struct question *q, struct planned *planned)
{
    size_t n = 0;
    for (size_t row = 0; n < PLANNED_MAX && planned_solve_row(&planned[n], q, row); row++) {
        n += !o->plan.filter || strcmp(o->plan.filter, planned[n].plan.filter) == 0;
    }
    return n;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* Writes the pictures to the file at path; - is standard output, which then has nothing else. */
static bool write_svg(const char *path, const struct chart *rates, const struct chart *bits)
{
    const struct chart *const charts[] = {rates, bits};
    if (files_is_standard_input(path)) {
        chart_svg(stdout, charts, 2);
        return true;
    }
    FILE *to = fopen(path, "w");
    if (!to) {
        message_error("cannot open %s: %s", path, strerror(errno));
        return false;
    }
    chart_svg(to, charts, 2);
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed) {
        message_error("cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static void print_charts(const struct chart *rates, const struct chart *bits)
{
    setlocale(LC_CTYPE, "");
    const bool braille = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    fputc('\n', stdout);
    chart_print(stdout, rates, braille);
    fputc('\n', stdout);
    chart_print(stdout, bits, braille);
}

static bool svg_is_output(const struct options *o)
{
    return o->plan.svg && files_is_standard_input(o->plan.svg);
}

static bool wants_plot(const struct options *o)
{
    return !o->print.json && !svg_is_output(o) &&
           (o->plan.plot == WHEN_ALWAYS || (o->plan.plot == WHEN_AUTO && isatty(STDOUT_FILENO)));
}

static bool print_all(const struct options *o, const struct question *q,
                      const struct planned *planned, size_t n)
{
    static struct chart rates;
    static struct chart bits;
    if (!svg_is_output(o)) {
        (o->print.json ? planned_print_json : planned_print)(stdout, q, planned, n);
    }
    if (o->plan.svg || wants_plot(o)) {
        planned_chart_rates(&rates, planned, n);
        planned_chart_bits(&bits, planned, n);
    }
    if (wants_plot(o)) {
        print_charts(&rates, &bits);
    }
    const bool drawn = !o->plan.svg || write_svg(o->plan.svg, &rates, &bits);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        message_error("cannot write standard output: %s", strerror(errno));
        return false;
    }
    return drawn;
}

static bool has_status(const struct planned *planned, size_t n, enum unseen_status status)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        any = any || planned[i].status == status;
    }
    return any;
}

int plan_run(const struct options *o, enum unseen_cpu cpu)
{
    (void)cpu;
    if (o->input.nfiles > 0) {
        message_error("unseen plan reads no file: '%s'", o->input.files[0]);
        message_hint("%s", typed_has("capacity") ? typed_piped(NULL)
                                                 : "unseen plan --capacity 1e7 --fpr 1e-4");
        return EXIT_TROUBLE;
    }
    if (!check_question(o)) {
        return EXIT_TROUBLE;
    }
    struct planned planned[PLANNED_MAX];
    struct question q = o->plan.question;
    question_complete(&q);
    const size_t n = solve_all(o, &q, planned);
    if (has_status(planned, n, UNSEEN_ERR_NOMEM)) {
        (void)message_no_memory();
        return EXIT_TROUBLE;
    }
    if (!print_all(o, &q, planned, n)) {
        return EXIT_TROUBLE;
    }
    return has_status(planned, n, UNSEEN_OK) ? EXIT_DONE : EXIT_NONE;
}
