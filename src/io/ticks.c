/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot.h"

static double times_power(double value, int exponent)
{
    /* Dividing by a power rounds once: 3 / 10 is 0.3, 3 * 0.1 is not. */
    return exponent < 0 ? value / pow(10, -exponent) : value * pow(10, exponent);
}

io_ticks io_ticks_between(double low, double high, int most)
{
    static const int mantissas[] = {1, 2, 5};
    io_ticks t = {.count = 0};

    if (!(high > low) || !isfinite(high - low))
        return t;
    const int first = (int)floor(log10((high - low) / most)) - 1;
    for (int i = 0; i == 0 || t.count > most; i++) {
        t.mantissa = mantissas[i % 3];
        t.exponent = first + i / 3;
        const double step = times_power(t.mantissa, t.exponent), slack = 1e-9 * step;
        const double from = ceil((low - slack) / step), to = floor((high + slack) / step);
        if (fabs(from) > 1e15 || fabs(to) > 1e15) /* the numbers would not differ in what can be printed */
            return (io_ticks){.count = 0};
        t.from = (int64_t)from;
        t.count = (int64_t)to - t.from + 1;
    }
    return t;
}

double io_tick(const io_ticks *t, int64_t i)
{
    return times_power((double)((t->from + i) * t->mantissa), t->exponent);
}

void io_tick_text(char text[IO_TICK_SIZE], const io_ticks *t, int64_t i)
{
    const double value = io_tick(t, i);
    const double greatest = fmax(fabs(io_tick(t, 0)), fabs(io_tick(t, t->count - 1)));
    if (greatest < 1e6 && t->exponent >= -6) {
        snprintf(text, IO_TICK_SIZE, "%.*f", t->exponent < 0 ? -t->exponent : 0, value);
        return;
    }
    const int digits = snprintf(NULL, 0, "%" PRId64, (t->from + i) * t->mantissa);
    snprintf(text, IO_TICK_SIZE, "%.*g", digits, value);
    /* 1.5e+09 becomes 1.5e9 */
    char *e = strchr(text, 'e');
    if (e) {
        char *to = e + 1 + (e[1] == '-');
        const char *from = e + 2 + strspn(e + 2, "0");
        memmove(to, from, strlen(from) + 1);
    }
}
