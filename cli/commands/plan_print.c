/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "commands/plan_solve.h"
#include "seen/filter_words.h"

/* ---- For people ------------------------------------------------------------------------------ */

/* Writes a size as --memory takes it: 1.5G, in powers of 1024, and bytes as 500B. */
static void bytes_text(double bytes, char text[24])
{
    static const char units[] = "BKMGTPE";
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 2 < sizeof(units); unit++) {
        bytes /= 1024;
    }
    snprintf(text, 24, "%.3g%c", bytes, units[unit]);
}

static void count_text(double n, char text[24])
{
    if (n < 1e6) {
        snprintf(text, 24, "%.0f", n);
    } else {
        chart_value(n, text);
    }
}

static void print_question(FILE *to, const struct question *q)
{
    char text[24];
    const char *between = "";
    if (q->capacity) {
        count_text((double)q->capacity, text);
        fprintf(to, "%s keys", text);
        between = ", ";
    }
    if (q->memory) {
        bytes_text((double)q->memory, text);
        fprintf(to, "%s%s of memory", between, text);
        between = ", ";
    }
    if (q->bits_per_key > 0) {
        fprintf(to, "%s%g bits per key", between, q->bits_per_key);
        between = ", ";
    }
    if (q->hashes) {
        fprintf(to, "%s%u hashes", between, q->hashes);
        between = ", ";
    }
    if (q->fpr > 0) {
        chart_value(q->fpr, text);
        fprintf(to, "%sat most a share of %s wrong answers", between, text);
    }
    fputs("\n\n", to);
}

static const char *reason(const struct question *q, enum unseen_status status)
{
    switch (status) {
    case UNSEEN_ERR_FPR:
        return "promises no rate this low";
    case UNSEEN_ERR_UNSUPPORTED:
        return "the rate does not follow from the bits";
    case UNSEEN_ERR_ARGUMENT:
        return q->memory ? "too little memory" : "too few bits, or a number out of its range";
    case UNSEEN_ERR_SPACE:
        return "too little memory";
    default:
        return unseen_status_string(status);
    }
}

static void print_head(FILE *to, const struct question *q, int width)
{
    char memory[24];
    bytes_text((double)q->memory, memory);
    fprintf(to, "%*s rate at", width + 22, "");
    fprintf(to, q->memory ? "%*s\n" : "\n", 40, "keys in");
    fprintf(to, "%-*s %8s %7s %3s %8s %8s %8s %8s", width, "filter", "bits/key", "memory", "k",
            "10 %", "50 %", "100 %", "200 %");
    if (q->memory) {
        fprintf(to, "%12s", memory);
    }
    fputs("  can\n", to);
}

static void print_row(FILE *to, const struct question *q, const struct planned *p, int width)
{
    char memory[24] = "-";
    char hashes[24] = "-";
    char can[40];
    if (p->plan.bits) {
        bytes_text((double)p->plan.bits / 8, memory);
    }
    if (p->plan.hashes) {
        snprintf(hashes, sizeof(hashes), "%u", p->plan.hashes);
    }
    fprintf(to, "%-*s %8.2f %7s %3s", width, p->plan.filter, p->plan.bits_per_key, memory, hashes);
    for (size_t i = 0; i < PLANNED_LOADS; i++) {
        char rate[24];
        chart_value(p->rates[i], rate);
        fprintf(to, " %8s", rate);
    }
    if (q->memory) {
        char keys[24];
        count_text((double)(p->nkeys_most ? p->nkeys_most : p->plan.capacity), keys);
        fprintf(to, "%12s", keys);
    }
    filters_abilities(p->plan.abilities, can);
    fprintf(to, "  %s\n", can);
}

/* Prints the lower bound of any set that knows n in advance: n log2(1/p) bits. */
static void print_least(FILE *to, const struct question *q)
{
    if (q->fpr > 0) {
        char memory[24];
        const double bits = -log2(q->fpr);
        bytes_text(bits * (double)q->capacity / 8, memory);
        fprintf(to, "\nNothing with this rate takes less than log2(1/rate) = %.2f bits per key",
                bits);
        fprintf(to, q->capacity ? ", %s.\n" : ".\n", memory);
        fprintf(to, "A list that is not added to comes near it: see unseen build --help.\n");
    }
}

void planned_print(FILE *to, const struct question *q, const struct planned *planned, size_t n)
{
    int width = 8;
    for (size_t i = 0; i < n; i++) {
        const int len = (int)strlen(planned[i].plan.filter);
        width = len > width ? len : width;
    }
    print_question(to, q);
    print_head(to, q, width);
    for (size_t i = 0; i < n; i++) {
        if (planned[i].status == UNSEEN_OK) {
            print_row(to, q, &planned[i], width);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (planned[i].status != UNSEEN_OK) {
            fprintf(to, "%-*s %s\n", width, planned[i].plan.filter, reason(q, planned[i].status));
        }
    }
    print_least(to, q);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_can(FILE *to, unsigned abilities)
{
    char words[40];
    filters_abilities(abilities, words);
    fputs(",\"can\":[", to);
    const char *between = "\"";
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        fprintf(to, "%s%s\"", between, word);
        between = ",\"";
    }
    fputc(']', to);
}

static void print_json_row(FILE *to, const struct question *q, const struct planned *p)
{
    fprintf(to, "{\"filter\":\"%s\"", p->plan.filter);
    if (p->status != UNSEEN_OK) {
        fprintf(to, ",\"error\":\"%s\"}", reason(q, p->status));
        return;
    }
    if (p->plan.capacity) {
        fprintf(to, ",\"capacity\":%" PRIu64 ",\"bytes\":%" PRIu64, p->plan.capacity,
                (p->plan.bits + 7) / 8);
    }
    fprintf(to, ",\"bits_per_key\":%.6g,\"fpr\":%.6g", p->plan.bits_per_key, p->plan.fpr);
    if (p->plan.hashes) {
        fprintf(to, ",\"hashes\":%u", p->plan.hashes);
    }
    if (p->plan.lines) {
        fprintf(to, ",\"lines\":%u", p->plan.lines);
    }
    if (p->nkeys_most) {
        fprintf(to, ",\"capacity_of_memory\":%" PRIu64, p->nkeys_most);
    }
    fputs(",\"rates\":{", to);
    for (size_t i = 0; i < PLANNED_LOADS; i++) {
        fprintf(to, "%s\"%g\":%.6g", i ? "," : "", planned_loads[i] * 100, p->rates[i]);
    }
    fputc('}', to);
    print_can(to, p->plan.abilities);
    fputc('}', to);
}

void planned_print_json(FILE *to, const struct question *q, const struct planned *planned, size_t n)
{
    fputc('{', to);
    if (q->capacity) {
        fprintf(to, "\"capacity\":%" PRIu64 ",", q->capacity);
    }
    if (q->memory) {
        fprintf(to, "\"memory\":%" PRIu64 ",", q->memory);
    }
    if (q->fpr > 0) {
        fprintf(to, "\"fpr\":%.6g,\"least_bits_per_key\":%.6g,", q->fpr, -log2(q->fpr));
    }
    fputs("\"filters\":[", to);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", to);
        print_json_row(to, q, &planned[i]);
    }
    fputs("]}\n", to);
}
