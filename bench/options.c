/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct spec {
    const char *name, *argument, *help;
} specs[OPTION_COUNT] = {
    [OPTION_SUITE] = {"suite", "NAME",
                      "thesis: the thesis's tables; targets: the project's; peers: more\n"
                      "sizes beside other programs; large: templates for FFT;\n"
                      "crossing: around where FFT gets faster; grid: the plan's; or\n"
                      "short; may be repeated"},
    [OPTION_DEVICES] = {"devices", "LIST", "of cpu, cpu:THREADS and cuda:N, separated by commas"},
    [OPTION_ALGORITHMS] = {"algorithms", "LIST",
                           "direct, direct-many, fft, reference, thesis-cpu, thesis-gpu,\n"
                           "cufft, cufft-double, npp-normlevel, npp-normlevel-advanced"},
    [OPTION_ALGORITHM] = {"algorithm", "NAME", "auto, direct or fft"},
    [OPTION_METRIC] = {"metric", "lcc|ccorr", "of the sizes that follow"},
    [OPTION_DOMAIN] = {"domain", "valid|same|full", "of the sizes that follow"},
    [OPTION_BEST] = {"best", NULL, "the sizes that follow make no map"},
    [OPTION_TEMPLATES] = {"templates", "N", "so many templates of the sizes that follow"},
    [OPTION_SAMPLES] = {"samples", "N", "of each time, at most 201"},
    [OPTION_BUDGET] = {"budget", "SECONDS", "of each measurement (1)"},
    [OPTION_THESIS_LIMIT] = {"thesis-cpu-limit", "TAPS",
                             "the thesis's CPU program runs up to this work (2.5e9)"},
    [OPTION_THREADS] = {"threads", "N", "of the CPU (all)"},
    [OPTION_SEED] = {"seed", "N", "of the frames"},
    [OPTION_FORMAT] = {"format", "NAME", "of the pictures: gray8, gray16, rgb8, float, ..."},
    [OPTION_MAP] = {"map", NULL, "the score map comes back, too"},
    [OPTION_PAGEABLE] = {"pageable", NULL, "frame and map lie in plain memory, not in pinned"},
    [OPTION_GPUS] = {"gpus", "N", "at most so many (all)"},
    [OPTION_LIMIT] = {"limit", "MS", "leave out what is estimated to take longer (20000)"},
    [OPTION_COPIES] = {"copies", NULL, "only the copies to a GPU and back"},
    [OPTION_JSON] = {"json", "FILE", "write machine and results there, after each result"},
    [OPTION_PEERS] = {"peers", "FILE", "put what peers.py wrote into the JSON"},
    [OPTION_COSTS] = {"costs", "FILE", "choose by what tmatch --calibrate wrote there"},
    [OPTION_TABLES] = {"tables", "FILE", "the thesis's tables"},
};
enum { OPERAND = 1, FIRST_OPTION = 256, HELP = FIRST_OPTION + OPTION_COUNT };

bool bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "tmatch-bench: %s: %s\n", what, why);
    return false;
}

static bool refuse(const char *what, const char *argument)
{
    fprintf(stderr, "tmatch-bench: %s: '%s'\nTry 'tmatch-bench --help'.\n", what, argument);
    return false;
}

bool bench_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return !list;
}

bench_name bench_device_name(const bench_device *device)
{
    bench_name name = {"cpu"};
    if (device->kind == TM_DEVICE_CUDA)
        snprintf(name.text, sizeof name.text, "cuda:%d", device->index);
    return name;
}

tm_settings bench_settings(const bench_device *device, tm_algorithm algorithm)
{
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    settings.device = device->kind;
    settings.algorithm = algorithm;
    settings.threads = device->threads;
    if (device->kind == TM_DEVICE_CUDA)
        settings.device_mask = UINT64_C(1) << device->index;
    return settings;
}

tm_algorithm bench_algorithm(const bench_options *o)
{
    return !o->algorithms                         ? TM_ALGORITHM_AUTO
           : strcmp(o->algorithms, "direct") == 0 ? TM_ALGORITHM_DIRECT
           : strcmp(o->algorithms, "fft") == 0    ? TM_ALGORITHM_FFT
                                                  : TM_ALGORITHM_AUTO;
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

static bool add_device(bench_options *o, const char *name)
{
    bench_device *d = &o->devices[o->device_count];
    int value = 0, length = 0;

    if (o->device_count == MOST_LISTED)
        return refuse("too many devices", name);
    if (strcmp(name, "cpu") == 0)
        *d = (bench_device){.kind = TM_DEVICE_CPU};
    else if (sscanf(name, "cpu:%d%n", &value, &length) == 1 && !name[length] && value > 0)
        *d = (bench_device){.kind = TM_DEVICE_CPU, .threads = value};
    else if (sscanf(name, "cuda:%d%n", &value, &length) == 1 && !name[length] && value >= 0 &&
             value < 64)
        *d = (bench_device){.kind = TM_DEVICE_CUDA, .index = value};
    else
        return refuse("no such device, any of cpu, cpu:THREADS, cuda:N", name);
    o->device_count++;
    return true;
}

static bool add_devices(bench_options *o, const char *list)
{
    while (*list) {
        char name[16];
        const size_t size = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)size, list);
        if (!add_device(o, name))
            return false;
        list += size + (list[size] == ',');
    }
    return true;
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

static bool add_usual_sizes(bench_options *o, bench_case form, const char *sizes)
{
    while (*sizes) {
        char word[32];
        const size_t size = strcspn(sizes, " ");
        snprintf(word, sizeof word, "%.*s", (int)size, sizes);
        if (!(strchr(word, ',') ? add_size(o, form, word) : add_suite(o, word)))
            return false;
        sizes += size + (sizes[size] == ' ');
    }
    return true;
}

static bool add_operand(bench_options *o, const bench_command *command, const bench_case *form,
                        char *text)
{
    if (command->sizes)
        return add_size(o, *form, text);
    if (!command->operands)
        return refuse("takes no operand", text);
    o->words[o->word_count++] = text;
    return true;
}

static bool option(bench_options *o, bench_case *form, int which, const char *text)
{
    static const char *const metrics[] = {"lcc", "ccorr", NULL};
    static const char *const domains[] = {"valid", "same", "full", NULL};
    static const char *const algorithms[] = {"auto", "direct", "fft", NULL};
    double value = 0;
    int choice = 0;
    bool good = true;

    switch (which) {
    case OPTION_SUITE: return add_suite(o, text);
    case OPTION_DEVICES: return add_devices(o, text);
    case OPTION_ALGORITHMS: o->algorithms = text; break;
    case OPTION_ALGORITHM: good = pick(text, algorithms, &choice); o->algorithms = text; break;
    case OPTION_METRIC: good = pick(text, metrics, &choice); form->metric = (tm_metric)choice; break;
    case OPTION_DOMAIN: good = pick(text, domains, &choice); form->domain = (tm_domain)choice; break;
    case OPTION_BEST: form->map = false; break;
    case OPTION_TEMPLATES: good = number(text, 1, 4096, &value); form->templates = (int)value; break;
    case OPTION_SAMPLES:
        good = number(text, 1, BENCH_MAX_SAMPLES, &value);
        o->effort.samples = (int)value;
        break;
    case OPTION_BUDGET: good = number(text, 0, 1e6, &value); o->effort.budget_ms = value * 1e3; break;
    case OPTION_THESIS_LIMIT: good = number(text, 0, 1e18, &value); o->effort.thesis_cpu_taps = value; break;
    case OPTION_THREADS: good = number(text, 0, 4096, &value); o->effort.threads = (int)value; break;
    case OPTION_SEED: good = number(text, 0, 9e15, &value); o->seed = (uint64_t)value; break;
    case OPTION_FORMAT: o->format = text; break;
    case OPTION_MAP: o->map = true; break;
    case OPTION_PAGEABLE: o->pageable = true; break;
    case OPTION_GPUS: good = number(text, 1, 64, &value); o->gpus = (int)value; break;
    case OPTION_LIMIT: good = number(text, 0, 1e12, &value); o->limit_ms = value; break;
    case OPTION_COPIES: o->copies = true; break;
    case OPTION_JSON: o->json = text; break;
    case OPTION_PEERS: o->peers = text; break;
    case OPTION_TABLES: o->tables = text; break;
    case OPTION_COSTS: o->costs = text; break;
    default: return refuse("no such option, or its argument is missing", text ? text : "");
    }
    return good;
}

/* Prints an option, with the further lines of its help below the first. */
static void print_option(const struct spec *spec)
{
    char left[40];
    snprintf(left, sizeof left, "--%s%s%s", spec->name, spec->argument ? " " : "",
             spec->argument ? spec->argument : "");
    for (const char *line = spec->help; line;) {
        const size_t length = strcspn(line, "\n");
        printf("  %-24s %.*s\n", line == spec->help ? left : "", (int)length, line);
        line = line[length] ? line + length + 1 : NULL;
    }
}

static void print_help(const bench_command *command)
{
    printf("Usage: tmatch-bench %s%s%s%s\n%s.\n%s", command->name,
           command->options ? " [OPTION]..." : "", command->operands ? " " : "",
           command->operands ? command->operands : "", command->summary, command->details);
    if (command->sizes)
        printf("Sizes are WxH or N, such as 1920x1080,64x48 or 5020,21; without any: %s.\n",
               command->sizes);
    if (command->devices)
        printf("Without --devices: %s.\n", command->devices);
    puts("");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (command->options >> i & 1)
            print_option(&specs[i]);
    }
}

/* Lists the command's options and --help for getopt. */
static void list_options(const bench_command *command, struct option *list)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (command->options >> i & 1)
            *list++ = (struct option){specs[i].name,
                                      specs[i].argument ? required_argument : no_argument, NULL,
                                      FIRST_OPTION + i};
    }
    *list++ = (struct option){"help", no_argument, NULL, HELP};
    *list = (struct option){0};
}

bool bench_options_parse(bench_options *o, const bench_command *command, int argc, char **argv,
                         bool *help)
{
    struct option list[OPTION_COUNT + 2];
    bench_case form = {.suite = "sizes", .map = true, .templates = 1};
    int which;

    *o = (bench_options){
        .effort = {.samples = command->samples, .budget_ms = 1000, .thesis_cpu_taps = 2.5e9},
        .gpus = 64,
        .limit_ms = 20000,
        .tables = BENCH_TABLES,
        .seed = 20100,
        .words = calloc((size_t)argc, sizeof *o->words)};
    *help = false;
    if (!o->words)
        return bench_fail("options", "out of memory");
    list_options(command, list);
    opterr = 0;
    /* "-" keeps sizes where they stand among the options that describe them. */
    while ((which = getopt_long(argc, argv, "-", list, NULL)) != -1) {
        if (which == HELP) {
            print_help(command);
            *help = true;
            return true;
        }
        if (which == OPERAND ? !add_operand(o, command, &form, optarg)
                             : !option(o, &form, which - FIRST_OPTION,
                                       which == '?' ? argv[optind - 1] : optarg))
            return false;
    }
    while (optind < argc) {
        if (!add_operand(o, command, &form, argv[optind++]))
            return false;
    }
    if (!o->device_count && command->devices && !add_devices(o, command->devices))
        return false;
    for (int i = 0; i < o->device_count; i++) {
        if (o->devices[i].kind == TM_DEVICE_CPU && !o->devices[i].threads)
            o->devices[i].threads = o->effort.threads;
    }
    return !command->sizes || o->cases.count || add_usual_sizes(o, form, command->sizes);
}

void bench_options_free(bench_options *o)
{
    free(o->cases.items);
    free(o->words);
}
