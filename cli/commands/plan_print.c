/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "commands/plan_solve.h"
#include "print/abilities.h"

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

/* Why a list cannot be planned: the rate, which even one key could not have, or the keys. */
static const char *list_reason(const struct question *q, const struct planned *p)
{
    uint64_t nbytes;
    double fpr;
    return unseen_list_plan(p->kind, q->fpr, 1, &nbytes, &fpr) == UNSEEN_OK
               ? "too many keys for one list"
               : "takes no rate this high";
}

static const char *reason(const struct question *q, const struct planned *p)
{
    switch (p->status) {
    case UNSEEN_ERR_FPR:
        return "promises no rate this low";
    case UNSEEN_ERR_UNSUPPORTED:
        return "the rate does not follow from the bits";
    case UNSEEN_ERR_ARGUMENT:
        return p->is_list  ? list_reason(q, p)
               : q->memory ? "too little memory"
                           : "too few bits, or a number out of its range";
    case UNSEEN_ERR_SPACE:
        return "too little memory";
    default:
        return unseen_status_string(p->status);
    }
}

static void print_head(FILE *to, const struct question *q, int width)
{
    char memory[24];
    bytes_text((double)q->memory, memory);
    fprintf(to, "%*s rate at", width + 17, "");
    fprintf(to, q->memory ? "%*s\n" : "\n", 36, "keys in");
    fprintf(to, "%-*s %6s %6s %2s %8s %8s %8s %8s", width, "filter", "bits", "bytes", "k", "10 %",
            "50 %", "100 %", "200 %");
    if (q->memory) {
        fprintf(to, " %7s", memory);
    }
    fputs(" can\n", to);
}

/* Writes a letter for each ability: the first of its word. */
static void can_text(unsigned abilities, char text[4])
{
    static const unsigned bits[] = {UNSEEN_CAN_GROW, UNSEEN_CAN_REMOVE, UNSEEN_CAN_MERGE};
    for (size_t i = 0; i < 3; i++) {
        text[i] = "grm"[i];
        text[i] = abilities & bits[i] ? text[i] : '-';
    }
    text[3] = '\0';
}

/* Writes bits per key in six characters. */
static void bits_text(double bits, char text[24])
{
    if (bits < 999.995) {
        snprintf(text, 24, "%.2f", bits);
    } else {
        chart_value(bits, text);
    }
}

static void print_row(FILE *to, const struct question *q, const struct planned *p, int width)
{
    char bits[24];
    char bytes[24] = "-";
    char hashes[24] = "-";
    char can[4];
    bits_text(p->plan.bits_per_key, bits);
    if (p->plan.bits) {
        bytes_text((double)p->bytes, bytes);
    }
    if (p->plan.hashes) {
        snprintf(hashes, sizeof(hashes), "%u", p->plan.hashes);
    }
    fprintf(to, "%-*s %6s %6s %2s", width, p->name, bits, bytes, hashes);
    for (size_t i = 0; i < PLANNED_LOADS; i++) {
        char rate[24] = "<1e-99"; /* eight characters hold no lower one */
        if (!(p->rates[i] < 1e-99)) {
            chart_value(p->rates[i], rate);
        }
        fprintf(to, " %8s", rate);
    }
    if (q->memory) {
        char keys[24];
        chart_value((double)(p->nkeys_most ? p->nkeys_most : p->plan.capacity), keys);
        fprintf(to, " %7s", keys);
    }
    can_text(p->plan.abilities, can);
    fprintf(to, " %s\n", can);
}

/* Prints why there is no row. */
static void print_reason(FILE *to, const struct question *q, const struct planned *p, int width)
{
    char need[24];
    fprintf(to, "%-*s %s", width, p->name, reason(q, p));
    if (p->status == UNSEEN_ERR_SPACE && p->bytes > q->memory) {
        bytes_text((double)p->bytes, need);
        fprintf(to, ": it takes %s", need);
    }
    fputc('\n', to);
}

/* The log of a store, which is on the disk beside a filter in memory. */
static void print_store(FILE *to, const struct question *q, int width)
{
    char bytes[24] = "-";
    if (q->capacity) {
        bytes_text(8 * (double)q->capacity, bytes);
    }
    fprintf(to, "%-*s %6s %6s  on disk; its image up to the filter's bytes again\n", width,
            "a store's log", "64.00", bytes);
}

/* Prints the lower bound of any set that knows n in advance: n log2(1/p) bits. */
static void print_least(FILE *to, const struct question *q)
{
    char least[24];
    char given[24];
    char short_of[24];
    if (q->fpr <= 0) {
        return;
    }
    const double bytes = planned_least_bytes(q->capacity, q->fpr);
    bytes_text(bytes, least);
    fprintf(to, "\nNothing with this rate takes less than log2(1/rate) = %.2f bits per key",
            -log2(q->fpr));
    fprintf(to, q->capacity ? ", %s.\n" : ".\n", least);
    if (planned_is_impossible(q)) {
        bytes_text((double)q->memory, given);
        bytes_text(bytes - (double)q->memory, short_of);
        fprintf(to,
                "No structure can do this: it takes %.1f GB (%s) at least, and there are\n"
                "%.1f GB (%s), %s too few. Take a higher rate, fewer keys or more memory.\n",
                bytes * 1e-9, least, (double)q->memory * 1e-9, given, short_of);
    }
}

/* A compact set that does not fit into the memory, and is asked part by part. */
struct beyond {
    double keys;  /* bytes of temporary files for as many lines as keys */
    double log;   /* of a store */
    double image; /* of a store; while it is made anew there are two */
    double least; /* the least --memory for such a store */
};

/* False: nobody asked for a compact set, or it fits. Each line has a key and a bit in temporary
 * files (docs/decisions/beyond-memory.md). The table of an image may take 3/8 of the limit: 0.7 %
 * of the image, and 0.4 % for that of the new one. */
static bool measure_beyond(struct beyond *b, const struct question *q,
                           const struct planned *planned, size_t n)
{
    struct unseen_plan plan = {.size = sizeof(plan),
                               .filter = "compact",
                               .capacity = q->capacity,
                               .fpr = q->fpr > 0 ? q->fpr : UNSEEN_FPR_DEFAULT};
    bool is_asked = false;
    for (size_t i = 0; i < n; i++) {
        is_asked = is_asked || strcmp(planned[i].name, plan.filter) == 0;
    }
    if (!is_asked || q->memory == 0 || q->capacity == 0 || unseen_plan(&plan) != UNSEEN_OK ||
        plan.bits / 8 <= q->memory) {
        return false;
    }
    const double nkeys = (double)q->capacity;
    b->image = (double)plan.bits / 8;
    b->keys = ((plan.fpr < 1e-9 ? 16 : 8) + 1 / 8.0) * nkeys;
    b->log = 8 * nkeys;
    b->least = fmax(32 << 20, b->image * 0.011 * 8 / 3);
    return true;
}

/* The time that a disk of 500 MB/s takes for them. */
static void disk_time_text(double bytes, char text[24])
{
    const double seconds = bytes / 500e6;
    if (seconds < 99.5) {
        snprintf(text, 24, "%.0f s", fmax(1, seconds));
    } else if (seconds < 99.5 * 60) {
        snprintf(text, 24, "%.0f min", seconds / 60);
    } else {
        snprintf(text, 24, "%.0f h", seconds / 3600);
    }
}

static void print_beyond(FILE *to, const struct question *q, const struct planned *planned,
                         size_t n)
{
    struct beyond b;
    if (!measure_beyond(&b, q, planned, n)) {
        return;
    }
    char memory[24];
    char keys[24];
    char log[24];
    char image[24];
    char time[24];
    bytes_text(fmax((double)q->memory, 32 << 20), memory);
    bytes_text(b.keys, keys);
    bytes_text(b.log, log);
    bytes_text(b.image, image);
    disk_time_text(2 * b.keys, time);
    fprintf(to,
            "\nA compact set can be larger than memory. For as many lines as keys,\n"
            "unseen --memory %s FILE reads its input twice; %s of temporary files are\n"
            "written and read once: %s at 500 MB/s.\n",
            memory, keys, time);
    disk_time_text(2 * b.image, time);
    bytes_text(fmax((double)q->memory, b.least), memory);
    fprintf(to,
            "unseen -s STORE --memory %s FILE keeps a log of %s and an image of %s, of\n"
            "which a run with many new lines reads one and writes one: %s at 500 MB/s.\n",
            memory, log, image, time);
}

/* Prints the command that makes the filter with the bits and hashes of the question. Only a Bloom
 * filter takes them. */
static void print_command(FILE *to, const struct question *q, const struct planned *planned,
                          size_t n)
{
    const struct unseen_plan *plan = &planned[0].plan;
    if (n != 1 || planned[0].status != UNSEEN_OK || planned[0].is_list ||
        strcmp(plan->filter, "bloom") != 0 || (q->bits_per_key == 0 && q->hashes == 0)) {
        return;
    }
    fputs("\nunseen --filter bloom", to);
    if (q->fpr > 0) {
        fprintf(to, " --fpr %g", q->fpr);
    } else {
        fprintf(to, " --bits %.6g", plan->bits_per_key);
    }
    fprintf(to, " --hashes %u --capacity ", plan->hashes);
    if (plan->capacity) {
        fprintf(to, "%" PRIu64, plan->capacity);
    } else {
        fputc('N', to);
    }
    fputs(" FILE makes it.\n", to);
}

/* A question about all filters also gets the rows of lists and the row of a store. */
static bool has_store_row(const struct planned *planned, size_t n)
{
    return n > 1 && !planned[0].is_list && planned[n - 1].is_list;
}

/* Names the filter that serves other names, and these. */
static void print_served(FILE *to, const struct planned *planned, size_t n)
{
    const char *served_by = NULL;
    for (size_t i = 0; i < n; i++) {
        if (planned[i].served_by) {
            fprintf(to, served_by ? ", %s" : "%s", planned[i].name);
            served_by = planned[i].served_by;
        }
    }
    if (served_by) {
        fprintf(to, ": %s serves them.\n", served_by);
    }
}

void planned_print(FILE *to, const struct question *q, const struct planned *planned, size_t n)
{
    int width = 8;
    for (size_t i = 0; i < n; i++) {
        const int len = (int)strlen(planned[i].name);
        width = len > width ? len : width;
    }
    print_question(to, q);
    print_head(to, q, width);
    for (size_t i = 0; i < n; i++) {
        if (planned[i].status == UNSEEN_OK) {
            print_row(to, q, &planned[i], width);
        }
    }
    if (has_store_row(planned, n)) {
        print_store(to, q, width);
    }
    for (size_t i = 0; i < n; i++) {
        if (planned[i].status != UNSEEN_OK) {
            print_reason(to, q, &planned[i], width);
        }
    }
    fputs("\nbits: per key. can: g grow, r remove, m merge.\n", to);
    print_served(to, planned, n);
    if (has_store_row(planned, n)) {
        fputs("A list is a file that unseen build makes; nothing is added to it later.\n", to);
    }
    print_command(to, q, planned, n);
    print_least(to, q);
    print_beyond(to, q, planned, n);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_can(FILE *to, unsigned abilities)
{
    char words[40];
    abilities_put(abilities, words);
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
    if (p->served_by) {
        fprintf(to, ",\"served_by\":\"%s\"", p->served_by);
    }
    if (p->is_list) {
        fprintf(to, ",\"kind\":\"%s\"", unseen_kind_name(p->kind));
    }
    if (p->status != UNSEEN_OK) {
        if (p->status == UNSEEN_ERR_SPACE && p->bytes > q->memory) {
            fprintf(to, ",\"bytes\":%" PRIu64, p->bytes);
        }
        fprintf(to, ",\"error\":\"%s\"}", reason(q, p));
        return;
    }
    if (p->plan.capacity) {
        fprintf(to, ",\"capacity\":%" PRIu64 ",\"bytes\":%" PRIu64, p->plan.capacity, p->bytes);
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
    const char *between = "";
    for (size_t i = 0; i < PLANNED_LOADS; i++) {
        if (isfinite(p->rates[i])) {
            fprintf(to, "%s\"%g\":%.6g", between, planned_loads[i] * 100, p->rates[i]);
            between = ",";
        }
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
    if (q->fpr > 0 && q->capacity) {
        fprintf(to, "\"least_bytes\":%.0f,\"store_log_bytes\":%.0f,\"possible\":%s,",
                planned_least_bytes(q->capacity, q->fpr), 8 * (double)q->capacity,
                planned_is_impossible(q) ? "false" : "true");
    }
    struct beyond b;
    if (measure_beyond(&b, q, planned, n)) {
        fprintf(to,
                "\"beyond_memory\":{\"temporary_bytes\":%.0f,\"image_bytes\":%.0f,"
                "\"log_bytes\":%.0f,\"least_memory\":%.0f},",
                b.keys, b.image, b.log, b.least);
    }
    fputs("\"filters\":[", to);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", to);
        print_json_row(to, q, &planned[i]);
    }
    fputs("]}\n", to);
}
