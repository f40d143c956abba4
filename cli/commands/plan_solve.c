/* SPDX-License-Identifier: MIT */
#include "commands/plan_solve.h"

#include <math.h>
#include <string.h>

const double planned_loads[PLANNED_LOADS] = {0.1, 0.5, 1, 2};

/* The capacity that stands for "many" if none is given. */
static const uint64_t large = 1000000000;

/* For fewer keys, sizes are rounded up so much that they say nothing about a filter. */
static const uint64_t few = 1000000;

/* The rate with load times the capacity. If the filter was planned without a capacity, it is
 * `large`. */
static double planned_rate(const struct unseen_plan *plan, double load)
{
    struct unseen_plan of = *plan;
    if (of.capacity == 0) {
        of.capacity = large;
        of.bits = (uint64_t)ceil(of.bits_per_key * (double)large);
    }
    return unseen_plan_rate(&of, load * (double)of.capacity);
}

static struct unseen_plan plan_start(const char *filter, const struct question *q)
{
    struct unseen_plan plan = {.size = sizeof(plan), .filter = filter};
    plan.capacity = q->capacity;
    plan.fpr = q->fpr;
    plan.bits_per_key = q->bits_per_key;
    plan.hashes = q->hashes;
    return plan;
}

/* A part of a byte is a byte. */
static uint64_t plan_bytes(const struct unseen_plan *plan)
{
    return plan->bits / 8 + (plan->bits % 8 != 0);
}

/* The bytes for so many keys at the rate of the question; UINT64_MAX if that cannot be planned. */
static uint64_t bytes_for(const struct planned *p, const struct question *q, uint64_t nkeys)
{
    uint64_t nbytes = 0;
    double fpr = 0;
    if (p->is_list) {
        return unseen_list_plan(p->kind, q->fpr, nkeys, &nbytes, &fpr) == UNSEEN_OK ? nbytes
                                                                                    : UINT64_MAX;
    }
    struct unseen_plan plan = plan_start(p->plan.filter, q);
    plan.capacity = nkeys;
    return unseen_plan(&plan) == UNSEEN_OK ? plan_bytes(&plan) : UINT64_MAX;
}

static bool plan_fits(const struct planned *p, const struct question *q, uint64_t nkeys)
{
    return bytes_for(p, q, nkeys) <= q->memory;
}

/* The largest number of keys that fits into the memory, or up to a hundred-thousandth less. More
 * keys never take fewer bytes, but for rounding. The search begins at the number that the bytes of
 * many keys suggest: it is close. */
static uint64_t most_keys(const struct planned *p, const struct question *q)
{
    static const uint64_t most = (uint64_t)1 << 56;
    const double guess = (double)q->memory / (double)bytes_for(p, q, large) * (double)large;
    uint64_t low = guess < 1 ? 0 : guess > (double)most ? most : (uint64_t)guess;
    uint64_t high = low;
    for (uint64_t step = low / 1000000 + 1; low > 0 && !plan_fits(p, q, low); step *= 64) {
        high = low;
        low = low > step ? low - step : 0;
    }
    for (uint64_t step = low / 1000000 + 1; high == low && low < most; step *= 64) {
        if (plan_fits(p, q, low + step)) {
            low += step;
            high = low;
        } else {
            high = low + step;
        }
    }
    while (high - low > 1 && high - low > low / 100000) {
        const uint64_t middle = low + (high - low) / 2;
        if (plan_fits(p, q, middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Says why not a single key fits: the filter cannot be planned, or it is too large. */
static enum unseen_status why_none(const char *filter, const struct question *q)
{
    struct unseen_plan plan = plan_start(filter, q);
    plan.capacity = 1;
    const enum unseen_status status = unseen_plan(&plan);
    return status == UNSEEN_OK ? UNSEEN_ERR_SPACE : status;
}

/* Solves a question that gives memory. The memory gives the bits. If the rate of a filter does not
 * follow from the bits, the filter has its own rate, and the memory is only a limit. */
static enum unseen_status solve_memory(struct unseen_plan *plan, const struct question *q)
{
    plan->bits = q->memory * 8;
    enum unseen_status status = unseen_plan(plan);
    if (status == UNSEEN_ERR_UNSUPPORTED && q->bits_per_key == 0) {
        *plan = plan_start(plan->filter, q);
        status = unseen_plan(plan);
        if (status == UNSEEN_OK && plan_bytes(plan) > q->memory) {
            status = UNSEEN_ERR_SPACE;
        }
    }
    return status;
}

/* Takes the bytes of a small set from a set: it has whole pages, and more than keys in it. Leaves
 * *nbytes if there can be no such set. NOMEM: there is no memory to make it. */
static enum unseen_status bytes_of_set(const struct unseen_plan *plan, uint64_t *nbytes)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .fpr = plan->fpr,
                                               .capacity = plan->capacity,
                                               .filter = plan->filter,
                                               .seed = "plan",
                                               .seed_len = 4};
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    struct unseen_set *set = NULL;
    const enum unseen_status status = unseen_set_create(&set, &options, NULL);
    if (status == UNSEEN_OK && unseen_set_stats(set, &stats) == UNSEEN_OK) {
        *nbytes = stats.memory;
    }
    unseen_set_free(set);
    return status;
}

static void fill_in_bytes(struct planned *p, const struct question *q)
{
    p->bytes = plan_bytes(&p->plan);
    if (q->memory == 0 && q->bits_per_key == 0 && q->hashes == 0 && p->plan.capacity > 0 &&
        p->plan.capacity <= few) {
        if (bytes_of_set(&p->plan, &p->bytes) == UNSEEN_ERR_NOMEM) {
            p->status = UNSEEN_ERR_NOMEM;
        }
        p->plan.bits_per_key = 8 * (double)p->bytes / (double)p->plan.capacity;
    }
}

/* Solves a question that gives memory and a rate. */
static enum unseen_status solve_by_rate(struct planned *p, const struct question *q)
{
    struct unseen_plan *plan = &p->plan;
    p->nkeys_most = most_keys(p, q);
    plan->capacity = q->capacity ? q->capacity : p->nkeys_most;
    if (plan->capacity == 0) {
        return why_none(plan->filter, q);
    }
    const enum unseen_status status = unseen_plan(plan);
    p->bytes = plan_bytes(plan);
    return status == UNSEEN_OK && p->bytes > q->memory ? UNSEEN_ERR_SPACE : status;
}

static const char *served_by(const char *name)
{
    struct unseen_plan plan = {.size = sizeof(plan), .filter = name, .fpr = 0.01, .capacity = 1000};
    const bool is_served =
        unseen_plan(&plan) == UNSEEN_OK && strcmp(plan.served_by, plan.filter) != 0;
    return is_served ? plan.served_by : NULL;
}

static void planned_solve(struct planned *planned, const char *filter, const struct question *q)
{
    *planned = (struct planned){
        .name = filter, .served_by = served_by(filter), .plan = plan_start(filter, q)};
    struct unseen_plan *plan = &planned->plan;
    const bool by_rate = q->fpr > 0 || (q->bits_per_key == 0 && q->capacity == 0);
    if (q->memory > 0 && by_rate) {
        planned->status = solve_by_rate(planned, q);
    } else if (q->memory > 0) {
        planned->status = solve_memory(plan, q);
    } else {
        planned->status = unseen_plan(plan);
    }
    if (planned->status != UNSEEN_OK) {
        return;
    }
    for (size_t i = 0; i < PLANNED_LOADS; i++) {
        /* More keys never have a lower rate; formulas lose digits where the rate is next to 0. */
        const double rate = planned_rate(plan, planned_loads[i]);
        planned->rates[i] = i > 0 ? fmax(rate, planned->rates[i - 1]) : rate;
    }
    fill_in_bytes(planned, q);
}

/* The same for a list of a kind. The question must say a rate. A list has all its keys from the
 * beginning: it has a rate only at its capacity. */
static void planned_solve_list(struct planned *p, const char *name, enum unseen_kind kind,
                               const struct question *q)
{
    *p = (struct planned){.name = name, .is_list = true, .kind = kind, .plan.filter = "list"};
    uint64_t n = q->capacity;
    if (q->memory > 0) {
        p->nkeys_most = most_keys(p, q);
        n = n ? n : p->nkeys_most;
    }
    p->plan.capacity = n;
    p->status = unseen_list_plan(kind, q->fpr, n ? n : large, &p->bytes, &p->plan.fpr);
    if (p->status == UNSEEN_OK && q->memory > 0 && (n == 0 || p->bytes > q->memory)) {
        p->status = UNSEEN_ERR_SPACE;
    }
    p->plan.bits_per_key = 8 * (double)p->bytes / (double)(n ? n : large);
    p->plan.bits = n ? 8 * p->bytes : 0;
    for (size_t i = 0; i < PLANNED_LOADS; i++) {
        p->rates[i] = planned_loads[i] >= 1 && planned_loads[i] <= 1 ? p->plan.fpr : NAN;
    }
}

/* ---- All rows -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum unseen_kind kind;
} lists[] = {{"list of URLs", UNSEEN_KIND_URL},
             {"list of mail", UNSEEN_KIND_MAIL},
             {"list of sites", UNSEEN_KIND_EXPRESSIONS},
             {"list of ip", UNSEEN_KIND_IP}};

void question_complete(struct question *q)
{
    if (q->fpr == 0 && q->bits_per_key == 0 && !(q->capacity && q->memory)) {
        q->fpr = UNSEEN_FPR_DEFAULT;
    }
}

bool planned_solve_row(struct planned *planned, const struct question *q, size_t row)
{
    const char *name;
    size_t nfilters = 0;
    while ((name = unseen_filter_name(nfilters)) && nfilters < row) {
        nfilters++;
    }
    if (name) {
        planned_solve(planned, name, q);
        return true;
    }
    const size_t i = row - nfilters;
    if (i >= sizeof(lists) / sizeof(lists[0]) || !(q->fpr > 0)) {
        return false;
    }
    planned_solve_list(planned, lists[i].name, lists[i].kind, q);
    return true;
}

double planned_least_bytes(uint64_t nkeys, double fpr)
{
    return -log2(fpr) * (double)nkeys / 8;
}

bool planned_is_impossible(const struct question *q)
{
    return q->capacity > 0 && q->memory > 0 && q->fpr > 0 &&
           planned_least_bytes(q->capacity, q->fpr) > (double)q->memory;
}

/* ---- Charts ---------------------------------------------------------------------------------- */

static void name_series(struct chart_series *s, const char *name)
{
    snprintf(s->name, sizeof(s->name), "%s", name);
}

/* The lowest rate of the chart: a decade below the lowest rate at the capacity. Nobody chooses a
 * filter by its rate when it is nearly empty. */
static double chart_lowest_rate(const struct planned *planned, size_t n)
{
    double lowest = 0.01;
    for (size_t i = 0; i < n; i++) {
        const double rate = planned[i].rates[2];
        lowest = planned[i].status == UNSEEN_OK && !planned[i].is_list && rate > 0
                     ? fmin(lowest, rate)
                     : lowest;
    }
    return pow(10, floor(log10(fmax(lowest, 1e-14))) - 1);
}

/* The curve of a name that another filter serves would hide that filter's. */
static bool is_drawn(const struct planned *p, size_t n)
{
    return !p->served_by || n == 1;
}

static bool has_rates_curve(const struct planned *planned, size_t n, size_t i)
{
    return planned[i].status == UNSEEN_OK && !planned[i].is_list && is_drawn(&planned[i], n);
}

void planned_chart_rates_begin(struct chart *chart, const struct planned *planned, size_t n)
{
    memset(chart, 0, sizeof(*chart));
    snprintf(chart->title, sizeof(chart->title), "Wrong answers as the filter fills");
    chart->x = (struct chart_axis){"% of the capacity", 0, 200, false};
    chart->y = (struct chart_axis){"rate", chart_lowest_rate(planned, n), 1, true};
    for (size_t i = 0; i < n; i++) {
        if (has_rates_curve(planned, n, i)) {
            name_series(&chart->series[chart->nseries++], planned[i].plan.filter);
        }
    }
}

void planned_chart_rates_point(struct chart *chart, const struct planned *planned, size_t n,
                               unsigned point)
{
    const double load = 2.0 * (point + 1) / PLANNED_RATES_POINTS;
    struct chart_series *s = chart->series;
    for (size_t i = 0; i < n; i++) {
        if (!has_rates_curve(planned, n, i)) {
            continue;
        }
        const double rate = planned_rate(&planned[i].plan, load);
        if (rate > 0) {
            s->x[s->npoints] = 100 * load;
            s->y[s->npoints++] = rate;
        }
        s++;
    }
}

void planned_chart_rates(struct chart *chart, const struct planned *planned, size_t n)
{
    planned_chart_rates_begin(chart, planned, n);
    for (unsigned point = 0; point < PLANNED_RATES_POINTS; point++) {
        planned_chart_rates_point(chart, planned, n, point);
    }
}

/* The bits per key for a rate; 0 if the filter cannot have it. */
static double bits_at(const struct planned *p, uint64_t capacity, double fpr)
{
    struct unseen_plan plan = {
        .size = sizeof(plan), .filter = p->plan.filter, .capacity = capacity, .fpr = fpr};
    uint64_t nbytes = 0;
    if (p->is_list) {
        const enum unseen_status status =
            unseen_list_plan(p->kind, fpr, capacity, &nbytes, &plan.fpr);
        return status == UNSEEN_OK ? 8 * (double)nbytes / (double)capacity : 0;
    }
    return unseen_plan(&plan) == UNSEEN_OK ? plan.bits_per_key : 0;
}

/* Lists of several kinds differ by a constant: one curve is enough. */
static bool has_bits_curve(const struct planned *p, size_t n)
{
    return p->is_list ? p->kind == UNSEEN_KIND_URL : is_drawn(p, n);
}

void planned_chart_bits_begin(struct chart *chart, const struct planned *planned, size_t n)
{
    memset(chart, 0, sizeof(*chart));
    snprintf(chart->title, sizeof(chart->title), "Memory for a rate of wrong answers");
    chart->x = (struct chart_axis){"rate", 1e-1, 1e-9, true};
    chart->y = (struct chart_axis){"bits/key", 0, 80, false};
    for (size_t i = 0; i < n; i++) {
        if (has_bits_curve(&planned[i], n)) {
            name_series(&chart->series[chart->nseries++], planned[i].plan.filter);
        }
    }
    name_series(&chart->series[chart->nseries++], "the least");
}

void planned_chart_bits_point(struct chart *chart, const struct planned *planned, size_t n,
                              unsigned point)
{
    const double fpr = pow(10, -1 - 8.0 * point / (PLANNED_BITS_POINTS - 1));
    struct chart_series *s = chart->series;
    for (size_t i = 0; i < n; i++) {
        if (!has_bits_curve(&planned[i], n)) {
            continue;
        }
        const uint64_t capacity = planned[i].plan.capacity;
        const double bits =
            bits_at(&planned[i], capacity > few ? capacity : large, fpr * (1 + 1e-9));
        if (bits > 0) {
            s->x[s->npoints] = fpr;
            s->y[s->npoints++] = bits;
        }
        s++;
    }
    s->x[s->npoints] = fpr;
    s->y[s->npoints++] = -log2(fpr);
}

void planned_chart_bits(struct chart *chart, const struct planned *planned, size_t n)
{
    planned_chart_bits_begin(chart, planned, n);
    for (unsigned point = 0; point < PLANNED_BITS_POINTS; point++) {
        planned_chart_bits_point(chart, planned, n, point);
    }
    size_t nkept = 0;
    for (size_t i = 0; i < chart->nseries; i++) {
        if (chart->series[i].npoints > 0) {
            chart->series[nkept++] = chart->series[i];
        }
    }
    chart->nseries = nkept;
}
