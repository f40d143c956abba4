/* SPDX-License-Identifier: MIT
 *
 * The planner page, asked by somebody else: three lines are the texts of its fields (keys, rate,
 * memory). Whatever they are, every row is a plan that keeps what was asked for, or says why not;
 * JSON has no number that JSON does not have; and the curves come to their end. */
#include "target.h"

#include "test.h"

#include <math.h>

#include "../planner/planner.c"

/* As the page writes a text: without its end if it is too long. */
static void write_field(unsigned field, const uint8_t *text, size_t len)
{
    const size_t cap = planner_field_cap();
    memset(planner_field(field), 0, cap);
    memcpy(planner_field(field), text, len < cap ? len : cap);
}

static void write_fields(const uint8_t *data, size_t size)
{
    for (unsigned i = 0; i < NFIELDS; i++) {
        const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
        const size_t len = end ? (size_t)(end - data) : size;
        write_field(i, data, len);
        data += len + (end != NULL);
        size -= len + (end != NULL);
    }
}

/* Brackets and quotes are in pairs, and there is no infinity. The texts have no escapes. */
static void check_json(const char *json)
{
    char open[16];
    size_t depth = 0;
    bool in_text = false;
    require(json && json[0] == '{');
    for (const char *p = json; *p; p++) {
        in_text ^= *p == '"';
        if (!in_text && (*p == '{' || *p == '[')) {
            require(depth < sizeof(open));
            open[depth++] = *p == '{' ? '}' : ']';
        } else if (!in_text && (*p == '}' || *p == ']')) {
            require(depth > 0 && open[--depth] == *p);
        }
        require(in_text || (strncmp(p, "nan", 3) != 0 && strncmp(p, "inf", 3) != 0));
        require((unsigned char)*p >= ' ' || *p == '\n');
    }
    require(depth == 0 && !in_text);
}

static void check_row(const struct planned *p)
{
    if (p->status != UNSEEN_OK) {
        /* The most keys that fit do fit. */
        require(p->status != UNSEEN_ERR_SPACE || question.capacity > 0 || p->nkeys_most == 0);
        return;
    }
    double before = 0;
    for (size_t i = 0; i < PLANNED_LOADS; i++) {
        require(p->is_list || (p->rates[i] >= before && p->rates[i] <= 1 + 1e-9));
        before = p->rates[i];
    }
    require(p->plan.bits_per_key > 0 || p->plan.capacity == 0);
    require(question.capacity == 0 || p->plan.capacity == question.capacity);
    require(question.fpr == 0 || p->plan.fpr <= question.fpr * 1.03);
    if (question.memory > 0) {
        /* Sets of a few keys are rounded up to whole pages, which `unseen plan` shows as well. */
        require(p->bytes <= question.memory);
        require(p->nkeys_most == 0 || question.capacity == 0 ||
                question.capacity <= p->nkeys_most + p->nkeys_most / 10000 + 1);
    }
}

/* True if a series has two points or more, or there is no series. */
static bool has_curve(const struct chart *chart)
{
    bool found = chart->nseries == 0;
    for (size_t i = 0; i < chart->nseries; i++) {
        found |= chart->series[i].npoints > 1;
    }
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 256) {
        return 0;
    }
    write_fields(data, size);
    const unsigned wrong = planner_begin();
    require(wrong < 1u << NFIELDS);
    for (unsigned i = 0; i < NFIELDS; i++) {
        require(!(wrong & 1u << i) || *planner_field(i) != '\0'); /* an empty field is not wrong */
    }
    if (wrong) {
        return 0; /* the page names these fields, and asks for no row */
    }
    require(question.memory <= MEMORY_MAX && question.fpr >= 0 && question.fpr < 1);
    size_t nrows = 0;
    while (planner_row()) {
        check_row(&planned[nrows++]);
    }
    require(nrows == nplanned && nrows > 0 && nrows <= PLANNED_MAX);
    check_json(planner_json());
    const char *log = strstr(planner_json(), "\"store_log_bytes\":");
    require(!log || strtod(log + 18, NULL) == 8 * (double)question.capacity);
    for (unsigned i = 0; i <= NCHARTS; i++) {
        unsigned points = 0;
        while (planner_curve(i)) {
            require(++points <= CHART_POINTS);
        }
        require((points > 0) == (i < NCHARTS));
        if (i < NCHARTS) {
            const char *chart = planner_chart(i);
            check_json(chart);
            require(has_curve(&charts[i]));
            /* Both axes have places with a text. */
            require(strncmp(chart, "{\"x\":[[", 7) == 0 && strstr(chart, "],\"y\":[["));
        }
    }
    require(planner_chart(NCHARTS) == NULL && planner_field(NFIELDS) == NULL);
    return 0;
}
