/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

bool bench_parse_size(const char *text, int64_t *width, int64_t *height)
{
    char *end;
    errno = 0;
    *width = *height = strtoll(text, &end, 10);
    if (end != text && *end == 'x') {
        const char *second = end + 1;
        *height = strtoll(second, &end, 10);
        if (end == second)
            return false;
    }
    return end != text && !*end && !errno && *width > 0 && *height > 0 && *width <= INT32_MAX &&
           *height <= INT32_MAX;
}

bool bench_parse_case(const char *text, bench_case *parsed)
{
    char frame[64];
    const char *comma = strchr(text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof frame)
        return false;
    snprintf(frame, sizeof frame, "%.*s", (int)(comma - text), text);
    return bench_parse_size(frame, &parsed->frame_width, &parsed->frame_height) &&
           bench_parse_size(comma + 1, &parsed->template_width, &parsed->template_height) &&
           parsed->template_width <= parsed->frame_width &&
           parsed->template_height <= parsed->frame_height;
}

bool bench_cases_add(bench_cases *cases, const bench_case *item)
{
    bench_case *grown = realloc(cases->items, (size_t)(cases->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    grown[cases->count++] = *item;
    cases->items = grown;
    return true;
}

static const char out_of_memory[] = "out of memory";

static const char *add_all(bench_cases *cases, const bench_case *items, size_t count,
                           const char *suite)
{
    for (size_t i = 0; i < count; i++) {
        bench_case item = items[i];
        snprintf(item.suite, sizeof item.suite, "%s", suite);
        if (!bench_cases_add(cases, &item))
            return out_of_memory;
    }
    return NULL;
}

static const bench_case targets[] = {
    {"", 5020, 5020, 21, 21, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
    {"", 5020, 5020, 21, 21, TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1, 0},
    {"", 2080, 2080, 21, 21, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
    {"", 4096, 4096, 64, 64, TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1, 0},
    {"", 11572, 11572, 21, 21, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
    {"", 1920, 1080, 32, 32, TM_METRIC_LCC, TM_DOMAIN_VALID, false, 64, 0},
    {"", 4096, 4096, 128, 128, TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1, 0},
};

/* Whole maps, which other programs make as well; those of targets come on top. */
static const bench_case peers[] = {
    {"", 610, 610, 21, 21, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
    {"", 2048, 2048, 64, 64, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
    {"", 4096, 4096, 64, 64, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
    {"", 2048, 2048, 128, 128, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
    {"", 4096, 4096, 128, 128, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
};

/* Templates for FFT: the best match, and maps beside cuFFT's; its transforms alone are
 * those of correlation. */
#define LARGE(frame, size, metric, map) \
    {"", frame, frame, size, size, metric, TM_DOMAIN_VALID, map, 1, 0}
static const bench_case large[] = {
    LARGE(4096, 128, TM_METRIC_LCC, false),  LARGE(4096, 128, TM_METRIC_LCC, true),
    LARGE(4096, 128, TM_METRIC_CCORR, true), LARGE(4096, 256, TM_METRIC_LCC, false),
    LARGE(4096, 256, TM_METRIC_LCC, true),   LARGE(4096, 256, TM_METRIC_CCORR, true),
    LARGE(2048, 256, TM_METRIC_LCC, false),  LARGE(2048, 256, TM_METRIC_LCC, true),
    LARGE(2048, 256, TM_METRIC_CCORR, true), LARGE(16384, 512, TM_METRIC_LCC, false),
    LARGE(16384, 512, TM_METRIC_LCC, true),
};

/* Template sizes, in frames of 2048 and 4096 squared. */
static const int crossing[] = {24, 32, 48, 64, 80, 96, 128, 160, 192, 256};

static const char *add_crossing(bench_cases *cases)
{
    for (int64_t frame = 2048; frame <= 4096; frame *= 2) {
        for (size_t i = 0; i < sizeof crossing / sizeof *crossing; i++) {
            const bench_case item = {"crossing",    frame,         frame, crossing[i], crossing[i],
                                     TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1,           0};
            if (!bench_cases_add(cases, &item))
                return out_of_memory;
        }
    }
    return NULL;
}

/* The greatest frames take long, so they have only every second template. */
static const char *add_grid(bench_cases *cases)
{
    static const int templates[] = {3, 8, 16, 24, 32, 48, 64, 96, 128, 200, 300, 600};
    for (int64_t frame = 256; frame <= 8192; frame *= 2) {
        for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
            const bench_case item = {"grid",        frame,           frame, templates[i], templates[i],
                                     TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1,            0};
            if (2 * templates[i] <= frame && (frame <= 4096 || i % 2 == 0) &&
                !bench_cases_add(cases, &item))
                return out_of_memory;
        }
    }
    return NULL;
}

static const bench_case small[] = {
    {"", 640, 480, 32, 32, TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1, 0},
    {"", 1920, 1080, 64, 48, TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1, 0},
    {"", 2080, 2080, 21, 21, TM_METRIC_LCC, TM_DOMAIN_VALID, true, 1, 0},
};

/* A line is table,algorithm,template,frame,... and then the thesis's own figures. */
static const char *add_thesis(bench_cases *cases, const char *tables)
{
    char line[512], algorithm[32];
    int table;
    long long template_size, frame_size;
    const int before = cases->count;
    FILE *file = fopen(tables, "r");
    if (!file)
        return "the thesis's tables cannot be read; name them with --tables";

    const char *fault = NULL;
    while (!fault && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%d,%31[^,],%lld,%lld,", &table, algorithm, &template_size,
                   &frame_size) != 4)
            continue; /* the header */
        const bench_case item = {"thesis",      frame_size,    frame_size,
                                 template_size, template_size,
                                 strcmp(algorithm, "lcc") == 0 ? TM_METRIC_LCC : TM_METRIC_CCORR,
                                 TM_DOMAIN_FULL, true,         1,
                                 table};
        if (!bench_cases_add(cases, &item))
            fault = out_of_memory;
    }
    fclose(file);
    return fault ? fault : cases->count == before ? "the thesis's tables are empty" : NULL;
}

const char *bench_add_suite(bench_cases *cases, const char *suite, const char *tables)
{
    if (strcmp(suite, "targets") == 0)
        return add_all(cases, targets, sizeof targets / sizeof *targets, suite);
    if (strcmp(suite, "peers") == 0)
        return add_all(cases, peers, sizeof peers / sizeof *peers, suite);
    if (strcmp(suite, "large") == 0)
        return add_all(cases, large, sizeof large / sizeof *large, suite);
    if (strcmp(suite, "crossing") == 0)
        return add_crossing(cases);
    if (strcmp(suite, "grid") == 0)
        return add_grid(cases);
    if (strcmp(suite, "short") == 0)
        return add_all(cases, small, sizeof small / sizeof *small, suite);
    if (strcmp(suite, "thesis") == 0)
        return add_thesis(cases, tables);
    return "no such suite: any of thesis, targets, peers, large, crossing, grid, short";
}
