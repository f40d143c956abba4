/* SPDX-License-Identifier: MIT */
#include "print/chart.h"

#include <math.h>
#include <string.h>

static double scale(const struct chart_axis *axis, double value)
{
    return axis->is_log ? log10(value) : value;
}

double chart_place(const struct chart_axis *axis, double value)
{
    const double low = scale(axis, axis->low);
    return (scale(axis, value) - low) / (scale(axis, axis->high) - low);
}

/* The smallest of 1, 2, 5, 10, 20, ... that divides the range into at most max steps. */
static double round_step(double range, size_t max)
{
    static const double factors[] = {1, 2, 5};
    double unit = pow(10, floor(log10(range / (double)max)));
    for (size_t i = 0; i < 3; i++) {
        if (range / (unit * factors[i]) <= (double)max) {
            return unit * factors[i];
        }
    }
    return unit * 10;
}

size_t chart_ticks(const struct chart_axis *axis, double *ticks, size_t max)
{
    const double a = scale(axis, axis->low);
    const double b = scale(axis, axis->high);
    const double low = fmin(a, b);
    const double high = fmax(a, b);
    double step = round_step(high - low, max - 1);
    step = axis->is_log && step < 1 ? 1 : step;
    size_t n = 0;
    for (double i = ceil(low / step - 1e-9); n < max && i * step <= high + step * 1e-9; i++) {
        ticks[n++] = axis->is_log ? pow(10, i * step) : i * step;
    }
    return n;
}

void chart_value(double value, char text[24])
{
    if (!isfinite(value)) {
        snprintf(text, 24, "-");
        return;
    }
    if (fabs(value) < 1e-300) {
        snprintf(text, 24, "0");
        return;
    }
    if (fabs(value) >= 0.01 && fabs(value) < 99999.5) {
        snprintf(text, 24, fabs(value) < 999.5 ? "%.3g" : "%.0f", value);
        return;
    }
    snprintf(text, 24, "%.2e", value);
    char *from = strchr(text, 'e');
    char *to = from;
    while (to[-1] == '0') {
        to--;
    }
    to -= to[-1] == '.';
    const bool is_small = from[1] == '-';
    from += 2;
    while (from[0] == '0' && from[1] != '\0') {
        from++;
    }
    *to++ = 'e';
    if (is_small) {
        *to++ = '-';
    }
    memmove(to, from, strlen(from) + 1);
}
