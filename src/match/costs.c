/* SPDX-License-Identifier: MIT */
/* A line has tabs between its fields, of which those before the rates say what was measured; rates are in
 * thousandths, so that no locale changes them. */
#include "match/costs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"

enum { KEY_BYTES = 400, RATES = sizeof(tm_rates) / sizeof(double) };
#define LEAST 1
#define MOST 1000000

static const char *const names[RATES] = {"windows", "products", "plain", "fft", "floats", "pinned", "pageable"};

static void write_key(char *key, const tm_device_info *d)
{
    const bool cuda = d->kind == TM_DEVICE_CUDA;
    int fields = 0;

    snprintf(key, KEY_BYTES, "tmatch-costs\t%s\t%s\t%.127s\t%d\t%.127s\t", tm_version(), cuda ? "cuda" : "cpu", d->name,
             cuda ? d->units : 1, d->detail);
    for (char *c = key; *c; c++) { /* what a name may have */
        fields += *c == '\t';
        if ((unsigned char)*c < ' ' && *c != '\t')
            *c = ' ';
    }
    if (fields != 6)
        key[0] = '\0';
}

/* Reads "name=thousandths" for each rate, with spaces between, up to the end of the line. */
static bool read_rates(const char *text, tm_rates *rates)
{
    double values[RATES];

    for (int i = 0; i < RATES; i++) {
        const size_t length = strlen(names[i]);
        char *end;
        if (strncmp(text, names[i], length) != 0 || text[length] != '=' || text[length + 1] < '0' || text[length + 1] > '9')
            return false;
        const long long value = strtoll(text + length + 1, &end, 10);
        if (value < LEAST || value > MOST || *end != (i + 1 < RATES ? ' ' : '\n'))
            return false;
        values[i] = (double)value / 1000;
        text = end + 1;
    }
    memcpy(rates, values, sizeof *rates);
    return true;
}

bool tm_costs_find(const char *text, const tm_device_info *device, tm_rates *rates)
{
    char key[KEY_BYTES];
    bool found = false;

    write_key(key, device);
    const size_t length = strlen(key);
    for (const char *line = text; line && *line && length; line++) {
        if (strncmp(line, key, length) == 0)
            found |= read_rates(line + length, rates);
        if (!(line = strchr(line, '\n')))
            break;
    }
    return found;
}

int tm_costs_have(const char *costs, const tm_device_info *device)
{
    tm_rates rates;
    return device && tm_costs_find(costs, device, &rates);
}

static int64_t thousandths(double rate)
{
    const double value = rate * 1000 + 0.5;
    return value > LEAST ? value < MOST ? (int64_t)value : MOST : LEAST;
}

bool tm_costs_add(char *text, size_t size, const tm_device_info *device, const tm_rates *rates)
{
    char line[KEY_BYTES + 32 * RATES];
    double values[RATES];

    memcpy(values, rates, sizeof values);
    write_key(line, device);
    if (!line[0])
        return false;
    for (int i = 0; i < RATES; i++)
        sprintf(line + strlen(line), "%s=%" PRId64 "%c", names[i], thousandths(values[i]), i + 1 < RATES ? ' ' : '\n');
    const size_t used = strlen(text);
    if (strlen(line) >= size - used)
        return false;
    strcpy(text + used, line);
    return true;
}

void tm_costs_cpu(tm_device_info *cpu, uint32_t features)
{
    tm_message message;
    size_t used = 0;

    tm_cpu_backend()->describe(0, cpu, &message);
    features &= tm_cpu_features();
    cpu->detail[0] = '\0';
    for (uint32_t bit = 1; bit && used < sizeof cpu->detail; bit <<= 1) {
        if (features & bit)
            used += (size_t)snprintf(cpu->detail + used, sizeof cpu->detail - used, "%s%s", used ? " " : "",
                                     tm_cpu_feature_name(bit));
    }
}
