/* SPDX-License-Identifier: MIT
 *
 * Domain to ASCII (WHATWG URL standard, section 3.3; UTS 46 with CheckHyphens and VerifyDnsLength
 * off, CheckBidi and CheckJoiners on, not transitional), by the tables of Unicode 17.
 *
 * Nearly all domains are ASCII: they are lower-cased and never fail. The code points of others go
 * one by one through these steps:
 *
 *     UTF-8 -> map -> normalise (NFC) -> take into a label -> end of the label: Punycode
 *
 * Whoever writes a page chooses its names, so the time is in proportion to the length of the name:
 * a label has room for LABEL_WIDE_MAX code points beyond ASCII, counted behind the normalising, and
 * only these are handled more than once. ASCII goes to the output at once, however long it is. */
#include "url/host.h"

#include <string.h>

#include "base/utf8.h"
#include "url/ascii.h"
#include "url/idna_table.h"
#include "url/punycode.h"

enum {
    /* A label of DNS has 63 bytes, and Punycode writes at least one byte for each code point beyond
     * ASCII. So a label with more of them is not a name. */
    LABEL_WIDE_MAX = 63,
    PARTS_MAX = 4, /* of a code point that is decomposed */
    /* A code point and those behind it that may be composed with each other. Of a longer run
     * composing leaves more than LABEL_WIDE_MAX. */
    RUN_MAX = PARTS_MAX * (LABEL_WIDE_MAX + 1),
    ALABEL_MAX = 256,
    INVALID = 1 << 20 /* no class has this bit */
};

/* The label that is being written. Its ASCII is in the output already. */
struct label {
    size_t start; /* in the output */
    size_t npoints;
    size_t nwide;
    unsigned first; /* enum idna_direction */
    unsigned end;   /* of the last code point that is not a mark */
    unsigned directions;
    unsigned last_class;
    bool joins;       /* the code point in front of a joiner could be joined to one behind it */
    bool awaits_join; /* a joiner stands that is right only if the next one can be joined */
};

struct item {
    uint32_t point;
    unsigned class; /* idna_table.h */
};

struct domain {
    char *out;
    size_t len;
    size_t cap;
    bool decoded; /* from an A-label */
    struct label label;
    size_t run_len;
    struct item run[RUN_MAX];                 /* waits for what may be composed with it */
    struct unseen__wide wide[LABEL_WIDE_MAX]; /* the other code points of the label */
};

/* ---- The table --------------------------------------------------------------------------------*/

/* The place in idna_values of a code point below IDNA_NPOINTS. */
static size_t find_value(uint32_t point)
{
    size_t first = idna_blocks[point >> 8];
    size_t end = idna_blocks[(point >> 8) + 1];
    while (end - first > 1) {
        const size_t middle = first + (end - first) / 2;
        if (idna_lows[middle] <= (point & 0xff)) {
            first = middle;
        } else {
            end = middle;
        }
    }
    return first;
}

/* The same for ASCII as in the table, as far as a host may have it. */
static unsigned ascii_class(char c)
{
    const unsigned first = 1 << 16; /* all of those that a pair begins with, and others */
    return first | (is_ascii_letter(c)  ? IDNA_LEFT
                    : is_ascii_digit(c) ? IDNA_NUMBER
                                        : IDNA_NEUTRAL);
}

/* The class of a code point, INVALID if it is not valid. */
static unsigned class_of(uint32_t point)
{
    if (point < 0x80) {
        return ascii_class((char)point);
    }
    if (point >= IDNA_NPOINTS) {
        return INVALID;
    }
    const size_t at = find_value(point);
    const unsigned value = idna_values[at];
    if (value < IDNA_NCLASSES) {
        return value < 2 ? INVALID : idna_classes[value];
    }
    const uint32_t target = idna_targets[value - IDNA_NCLASSES];
    const bool valid = (target & IDNA_EVEN) && ((point ^ idna_lows[at]) & 1);
    return valid ? idna_classes[target & ~IDNA_EVEN] : INVALID;
}

static unsigned combining_class(unsigned class)
{
    return class >> 8 & 0xff;
}

static bool is_mark(unsigned class)
{
    return (class & 8) != 0;
}

/* May the code point be composed with one in front of it, or change places with it? */
static bool may_combine(unsigned class)
{
    return (class & 0xff80) != 0;
}

static bool may_be_second(unsigned class)
{
    return (class & 0x80) != 0;
}

static bool may_be_first(unsigned class)
{
    return (class & 1 << 16) != 0;
}

static bool is_composed(unsigned class)
{
    return (class & 1 << 17) != 0;
}

static bool has_direction(unsigned directions, enum idna_direction direction)
{
    return (directions & 1u << direction) != 0;
}

/* ---- Rules of a label -------------------------------------------------------------------------*/

/* The rules for right-to-left labels (RFC 5893, section 2). Browsers ask them of labels that have
 * right-to-left letters or Arabic digits, and not of the labels beside them. */
static bool keeps_direction(const struct label *label)
{
    const unsigned arabic = 1u << IDNA_RIGHT | 1u << IDNA_ARABIC_NUMBER;
    const unsigned both = 1u << IDNA_NUMBER | 1u << IDNA_NEUTRAL | 1u << IDNA_NONSPACING;
    if ((label->directions & arabic) == 0) {
        return true;
    }
    return label->first == IDNA_RIGHT && (label->directions & ~(both | arabic)) == 0 &&
           (label->end == IDNA_RIGHT || label->end == IDNA_NUMBER ||
            label->end == IDNA_ARABIC_NUMBER) &&
           !(has_direction(label->directions, IDNA_NUMBER) &&
             has_direction(label->directions, IDNA_ARABIC_NUMBER));
}

/* The rules for joiners (RFC 5892, appendix A.1 and A.2): behind a virama, or, if it is the one
 * that parts letters, between letters that would join, give or take marks. */
static bool keeps_joiner_rules(struct label *label, struct item item)
{
    enum {
        NON_JOINER = 0x200c,
        JOINER = 0x200d,
        VIRAMA = 9
    };
    const unsigned joining = item.class >> 4 & 7;
    if (label->awaits_join && joining != IDNA_TRANSPARENT) {
        if (joining != IDNA_RIGHT_JOINING && joining != IDNA_DUAL) {
            return false;
        }
        label->awaits_join = false;
    }
    if ((item.point == NON_JOINER || item.point == JOINER) &&
        combining_class(label->last_class) != VIRAMA) {
        label->awaits_join = item.point == NON_JOINER && label->joins;
        if (!label->awaits_join) {
            return false;
        }
    }
    if (joining != IDNA_TRANSPARENT) {
        label->joins = joining == IDNA_LEFT_JOINING || joining == IDNA_DUAL;
    }
    return true;
}

/* ---- Labels -----------------------------------------------------------------------------------*/

static void start_domain(struct domain *to, char *out, size_t cap, bool decoded)
{
    to->out = out;
    to->len = 0;
    to->cap = cap;
    to->decoded = decoded;
    to->label = (struct label){.start = 0};
    to->run_len = 0;
}

static bool put(struct domain *to, const char *text, size_t len)
{
    if (len > to->cap - to->len) {
        return false;
    }
    memcpy(to->out + to->len, text, len);
    to->len += len;
    return true;
}

static bool map_point(struct domain *to, uint32_t point);
static bool end_run(struct domain *to);

static bool is_alabel(const char *text, size_t len)
{
    return len >= 4 && memcmp(text, "xn--", 4) == 0;
}

/* Puts Punycode in place of the ASCII characters and the others of the label. */
static bool encode_label(struct domain *to)
{
    struct label *const label = &to->label;
    char *const text = to->out + label->start;
    const size_t nascii = to->len - label->start;
    char digits[LABEL_WIDE_MAX * 7];
    size_t ndigits;
    if (is_alabel(text, nascii) || to->cap - to->len < 5 ||
        !unseen__punycode_encode(to->wide, label->nwide, label->npoints, digits, sizeof(digits),
                                 &ndigits)) {
        return false;
    }
    memmove(text + 4, text, nascii);
    memcpy(text, "xn--", 4);
    to->len += 4;
    return (nascii == 0 || put(to, "-", 1)) && put(to, digits, ndigits);
}

/* A label that begins with xn-- must be what its code points are written as. */
static bool check_alabel(struct domain *to)
{
    const char *const text = to->out + to->label.start;
    const size_t len = to->len - to->label.start;
    char again[ALABEL_MAX];
    uint32_t points[ALABEL_MAX];
    size_t npoints;
    struct domain inner;
    start_domain(&inner, again, sizeof(again), true);
    if (to->decoded || len > sizeof(again) ||
        !unseen__punycode_decode(text + 4, len - 4, points, ALABEL_MAX, &npoints)) {
        return false;
    }
    for (size_t i = 0; i < npoints; i++) {
        if (!map_point(&inner, points[i])) {
            return false;
        }
    }
    if (!end_run(&inner) || inner.label.start != 0 || inner.label.nwide == 0 ||
        inner.label.awaits_join) {
        return false;
    }
    return keeps_direction(&inner.label) && encode_label(&inner) && inner.len == len &&
           memcmp(again, text, len) == 0;
}

static bool end_label(struct domain *to)
{
    struct label *const label = &to->label;
    if (label->awaits_join) {
        return false;
    }
    if (label->nwide == 0 && is_alabel(to->out + label->start, to->len - label->start)) {
        return check_alabel(to);
    }
    return label->nwide == 0 || (keeps_direction(label) && encode_label(to));
}

/* Takes a code point that is mapped and normalised. A space is not in a host: what is mapped to
 * several words need not be mapped to its end. */
static bool take(struct domain *to, struct item item)
{
    struct label *const label = &to->label;
    const unsigned direction = item.class & 7;
    if (item.point == '.') {
        if (!end_label(to) || !put(to, ".", 1)) {
            return false;
        }
        *label = (struct label){.start = to->len};
        return true;
    }
    if (item.class == INVALID || item.point == ' ' ||
        (label->npoints == 0 && is_mark(item.class)) || !keeps_joiner_rules(label, item)) {
        return false;
    }
    label->first = label->npoints == 0 ? direction : label->first;
    label->end = direction == IDNA_NONSPACING ? label->end : direction;
    label->directions |= 1u << direction;
    label->last_class = item.class;
    if (item.point < 0x80) {
        label->npoints++;
        return put(to, &(char){(char)item.point}, 1);
    }
    if (label->nwide == LABEL_WIDE_MAX) {
        return false;
    }
    to->wide[label->nwide++] = (struct unseen__wide){item.point, label->npoints++};
    return true;
}

/* ---- Normalising (Unicode standard, section 3.11) ---------------------------------------------*/

/* Hangul syllables are numbers of their parts (section 3.12). */
static uint32_t compose_hangul(uint32_t first, uint32_t second)
{
    enum {
        S = 0xac00,
        L = 0x1100,
        V = 0x1161,
        T = 0x11a7,
        NL = 19,
        NV = 21,
        NT = 28
    };
    if (first - L < NL && second - V < NV) {
        return S + ((first - L) * NV + (second - V)) * NT;
    }
    if (first - S < NL * NV * NT && (first - S) % NT == 0 && second - T - 1 < NT - 1) {
        return first + (second - T);
    }
    return 0;
}

/* What two code points make; 0 for nothing. */
static uint32_t compose(uint32_t first, uint32_t second)
{
    size_t at = 0;
    for (size_t n = IDNA_NPAIRS; n > 0; n /= 2) {
        const struct idna_pair *const pair = &idna_pairs[at + n / 2];
        if (pair->first == first && pair->second == second) {
            return pair->both;
        }
        if (pair->first < first || (pair->first == first && pair->second < second)) {
            at += n / 2 + 1;
            n--;
        }
    }
    return compose_hangul(first, second);
}

struct parts {
    struct item item[RUN_MAX * PARTS_MAX];
    size_t n;
};

/* Appends a code point as its parts. Hangul stays: its parts are not marks. */
static void decompose(struct parts *to, struct item item)
{
    size_t at = 0;
    for (size_t n = is_composed(item.class) ? IDNA_NPAIRS : 0; n > 0; n /= 2) {
        const struct idna_pair *const pair = &idna_pairs[idna_by_both[at + n / 2]];
        if (pair->both == item.point) {
            decompose(to, (struct item){pair->first, class_of(pair->first)});
            decompose(to, (struct item){pair->second, class_of(pair->second)});
            return;
        }
        if (pair->both < item.point) {
            at += n / 2 + 1;
            n--;
        }
    }
    to->item[to->n++] = item;
}

/* Puts marks in the order of their classes. */
static void order_marks(struct parts *parts)
{
    for (size_t i = 1; i < parts->n; i++) {
        const struct item item = parts->item[i];
        const unsigned order = combining_class(item.class);
        size_t at = i;
        while (order > 0 && at > 0 && combining_class(parts->item[at - 1].class) > order) {
            parts->item[at] = parts->item[at - 1];
            at--;
        }
        parts->item[at] = item;
    }
}

static void compose_parts(struct parts *parts)
{
    size_t n = 0;
    size_t starter = SIZE_MAX;
    unsigned last = 0;
    for (size_t i = 0; i < parts->n; i++) {
        const struct item item = parts->item[i];
        const unsigned order = combining_class(item.class);
        const bool reaches = may_be_second(item.class) && starter != SIZE_MAX &&
                             may_be_first(parts->item[starter].class) &&
                             (starter + 1 == n || last < order);
        const uint32_t both = reaches ? compose(parts->item[starter].point, item.point) : 0;
        if (both != 0) {
            parts->item[starter] = (struct item){both, class_of(both)};
        } else {
            starter = order == 0 ? n : starter;
            last = order;
            parts->item[n++] = item;
        }
    }
    parts->n = n;
}

/* Takes the code points that nothing behind them can change. */
static bool end_run(struct domain *to)
{
    const size_t n = to->run_len;
    to->run_len = 0;
    if (n < 2) {
        return n == 0 || take(to, to->run[0]);
    }
    struct parts parts;
    parts.n = 0;
    for (size_t i = 0; i < n; i++) {
        decompose(&parts, to->run[i]);
    }
    order_marks(&parts);
    compose_parts(&parts);
    for (size_t i = 0; i < parts.n; i++) {
        if (!take(to, parts.item[i])) {
            return false;
        }
    }
    return true;
}

static bool normalise(struct domain *to, uint32_t point, unsigned class)
{
    if (!may_combine(class) && !end_run(to)) {
        return false;
    }
    if (to->run_len == RUN_MAX) {
        return false;
    }
    to->run[to->run_len++] = (struct item){point, class};
    return true;
}

/* ---- Mapping ----------------------------------------------------------------------------------*/

static bool map_point(struct domain *to, uint32_t point)
{
    if (point < 0x80) {
        return normalise(to, (uint32_t)ascii_lower((char)point), ascii_class((char)point));
    }
    if (point >= IDNA_NPOINTS) {
        return point - 0xe0100 < 0xf0; /* selectors of variants, which are ignored */
    }
    const size_t at = find_value(point);
    const uint32_t distance = (point & 0xff) - idna_lows[at];
    const unsigned value = idna_values[at];
    if (value < IDNA_NCLASSES) {
        return value == 1 || (value > 1 && normalise(to, point, idna_classes[value]));
    }
    const uint32_t *target = &idna_targets[value - IDNA_NCLASSES];
    if (*target & IDNA_EVEN) {
        const uint32_t even = point + (~distance & 1);
        return normalise(to, even, idna_classes[*target & ~IDNA_EVEN]);
    }
    for (; *target & IDNA_MORE; target++) {
        const uint32_t mapped = *target & ~IDNA_MORE;
        if (!normalise(to, mapped, class_of(mapped))) {
            return false;
        }
    }
    return normalise(to, *target + distance, class_of(*target + distance));
}

/* ---- Domain to ASCII --------------------------------------------------------------------------*/

bool unseen__idna_to_ascii(const char *in, size_t len, char *out, size_t cap, size_t *out_len)
{
    if (is_ascii_text(in, len)) {
        if (len > cap) {
            return false;
        }
        *out_len = (size_t)(ascii_copy_lower(in, len, out) - out);
        return true;
    }
    if (len > cap) {
        return false;
    }
    if (in == out) { /* reads from the end of the room */
        cap -= len;
        in = memmove(out + cap, in, len);
    }
    struct domain to;
    start_domain(&to, out, cap, false);
    for (size_t i = 0; i < len;) {
        uint32_t point;
        const size_t n = unseen__utf8_read(in + i, len - i, &point);
        if (n == 0 || !map_point(&to, point)) {
            return false;
        }
        i += n;
    }
    if (!end_run(&to) || !end_label(&to)) {
        return false;
    }
    *out_len = to.len;
    return true;
}
