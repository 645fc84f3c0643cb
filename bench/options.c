/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "Usage: tmatch-bench [OPTION]... [FRAME,TEMPLATE]...\n"
    "Check, then time template matching. Sizes are WxH or N: 1920x1080,64x48 5020,21\n"
    "\n"
    "  --suite thesis|targets|peers|large|crossing|short\n"
    "                       the thesis's tables, the project's targets, more sizes\n"
    "                       beside other programs, large templates, those around\n"
    "                       which FFT gets faster, or a few; may be repeated\n"
    "  --devices LIST       of cpu, cpu:THREADS, cuda:N (default: cpu:1, cpu, all GPUs)\n"
    "  --algorithms LIST    of direct, direct-many, fft, reference, thesis-cpu,\n"
    "                       thesis-gpu, cufft, cufft-double, npp-normlevel,\n"
    "                       npp-normlevel-advanced (default: all)\n"
    "  --metric lcc|ccorr --domain valid|same|full --best --templates N\n"
    "                       of the sizes that follow; --best makes no map\n"
    "  --samples N          of each time (default 21, at most 201)\n"
    "  --budget SECONDS     of each measurement (default 1)\n"
    "  --thesis-cpu-limit TAPS\n"
    "                       the thesis's CPU program is run up to this work (2.5e9)\n"
    "  --threads N          of device cpu (default: all)\n"
    "  --seed N             of the frames\n"
    "  --json FILE          write the results after every size\n"
    "  --peers FILE         put peers.py's results into the JSON\n"
    "  --tables FILE        the thesis's tables\n"
    "\n"
    "Exit status: 0, 2 an error or a result that differs from the oracle.\n";

bool bench_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return !list;
}

enum {
    SUITE = 256, DEVICES, ALGORITHMS, METRIC, DOMAIN, BEST, TEMPLATES, SAMPLES, BUDGET, LIMIT,
    THREADS, SEED, JSON, PEERS, TABLES, HELP
};

static const struct option long_options[] = {
    {"suite", required_argument, NULL, SUITE},
    {"devices", required_argument, NULL, DEVICES},
    {"algorithms", required_argument, NULL, ALGORITHMS},
    {"metric", required_argument, NULL, METRIC},
    {"domain", required_argument, NULL, DOMAIN},
    {"best", no_argument, NULL, BEST},
    {"templates", required_argument, NULL, TEMPLATES},
    {"samples", required_argument, NULL, SAMPLES},
    {"budget", required_argument, NULL, BUDGET},
    {"thesis-cpu-limit", required_argument, NULL, LIMIT},
    {"threads", required_argument, NULL, THREADS},
    {"seed", required_argument, NULL, SEED},
    {"json", required_argument, NULL, JSON},
    {"peers", required_argument, NULL, PEERS},
    {"tables", required_argument, NULL, TABLES},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static bool refuse(const char *what, const char *argument)
{
    fprintf(stderr, "tmatch-bench: %s: '%s'\nTry 'tmatch-bench --help'.\n", what, argument);
    return false;
}

static bool number(const char *text, double low, double high, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= low && *value <= high))
        return refuse("not a number in range", text);
    return true;
}

static bool pick(const char *text, const char *const *names, int *value)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *value = i;
            return true;
        }
    }
    return refuse("no such choice", text);
}

static bool add_size(bench_options *o, bench_case form, const char *text)
{
    if (!bench_parse_case(text, &form))
        return refuse("not a FRAME,TEMPLATE size", text);
    return bench_cases_add(&o->cases, &form) || refuse("out of memory", text);
}

static bool add_suite(bench_options *o, const char *suite)
{
    const char *fault = bench_add_suite(&o->cases, suite, o->tables);
    return !fault || refuse(fault, suite);
}

static bool option(bench_options *o, bench_case *form, int which, const char *text)
{
    static const char *const metrics[] = {"lcc", "ccorr", NULL};
    static const char *const domains[] = {"valid", "same", "full", NULL};
    double value = 0;
    int choice = 0;
    bool good = true;

    switch (which) {
    case 1: return add_size(o, *form, text);
    case SUITE: return add_suite(o, text);
    case DEVICES: o->devices = text; break;
    case ALGORITHMS: o->algorithms = text; break;
    case METRIC: good = pick(text, metrics, &choice); form->metric = (tm_metric)choice; break;
    case DOMAIN: good = pick(text, domains, &choice); form->domain = (tm_domain)choice; break;
    case BEST: form->map = false; break;
    case TEMPLATES: good = number(text, 1, 4096, &value); form->templates = (int)value; break;
    case SAMPLES: good = number(text, 1, BENCH_MAX_SAMPLES, &value); o->effort.samples = (int)value; break;
    case BUDGET: good = number(text, 0, 1e6, &value); o->effort.budget_ms = value * 1e3; break;
    case LIMIT: good = number(text, 0, 1e18, &value); o->effort.thesis_cpu_taps = value; break;
    case THREADS: good = number(text, 0, 4096, &value); o->effort.threads = (int)value; break;
    case SEED: good = number(text, 0, 9e15, &value); o->seed = (uint64_t)value; break;
    case JSON: o->json = text; break;
    case PEERS: o->peers = text; break;
    case TABLES: o->tables = text; break;
    default: return refuse("no such option, or its argument is missing", text ? text : "");
    }
    return good;
}

bool bench_options_parse(bench_options *o, int argc, char **argv, bool *help)
{
    bench_case form = {.suite = "sizes", .map = true, .templates = 1};
    int which;

    *o = (bench_options){.effort = {.samples = 21, .budget_ms = 1000, .thesis_cpu_taps = 2.5e9},
                         .tables = BENCH_TABLES,
                         .seed = 20100};
    *help = false;
    opterr = 0;
    /* "-": sizes stay where they stand among the options that describe them */
    while ((which = getopt_long(argc, argv, "-", long_options, NULL)) != -1) {
        if (which == HELP) {
            fputs(help_text, stdout);
            *help = true;
            return true;
        }
        if (!option(o, &form, which, which == '?' ? argv[optind - 1] : optarg))
            return false;
    }
    while (optind < argc) {
        if (!add_size(o, form, argv[optind++]))
            return false;
    }
    if (!o->cases.count && !add_suite(o, "short"))
        return false;
    return true;
}
