/* SPDX-License-Identifier: MIT */
#include "costs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io/io.h"
#include "message.h"
#include "signals.h"
#include "text.h"

enum { MOST_BYTES = 64 << 10, FIELDS = 6 }; /* before the rates, by tabs */
static const char start[] = "tmatch-costs\t";

/* As the XDG base directory specification has it: a path that is not absolute counts for nothing. */
static bool cache_path(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool has_cache = cache && cache[0] == '/';
    int length = -1;

    if (has_cache)
        length = snprintf(path, size, "%s/tmatch/costs", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, size, "%s/.cache/tmatch/costs", home);
    return length > 0 && (size_t)length < size;
}

/* Whether each line begins as ours do, and is whole. */
static bool is_ours(const char *text, size_t size)
{
    if (strlen(text) != size)
        return false;
    for (const char *line = text; *line; line++) {
        if (strncmp(line, start, sizeof start - 1) != 0 || !(line = strchr(line, '\n')))
            return false;
    }
    return true;
}

char *costs_read(bool quiet)
{
    char path[PATH_MAX];
    FILE *file = cache_path(path, sizeof path) ? fopen(path, "rbe") : NULL;
    char *text = file ? malloc(MOST_BYTES + 1) : NULL;

    if (text) {
        const size_t size = fread(text, 1, MOST_BYTES + 1, file);
        text[size < MOST_BYTES ? size : MOST_BYTES] = '\0';
        if (ferror(file) || size > MOST_BYTES || !is_ours(text, size)) {
            if (!quiet)
                message_note(path, "damaged, and not used: tmatch --calibrate writes it anew");
            free(text);
            text = NULL;
        }
    }
    if (file)
        fclose(file);
    return text;
}

/* The rates of a line, and how long it is up to them. */
static const char *rates_of(const char *line, size_t *length)
{
    const char *end = line;
    for (int i = 0; i < FIELDS && end; i++)
        end = (end = strchr(end, '\t')) ? end + 1 : NULL;
    *length = end ? (size_t)(end - line) : 0;
    return end;
}

static const char *field(const char *line, int which, int *length)
{
    for (int i = 0; i < which; i++)
        line = strchr(line, '\t') + 1;
    *length = (int)strcspn(line, "\t");
    return line;
}

/* "cpu, AMD EPYC: window sums 1.02, ..." of a line of "windows=1020 ...". */
static void print_line(const char *line)
{
    static const struct {
        const char *name, *words;
        bool cuda; /* alone */
    } rates[] = {{"windows", "window sums", false}, {"products", "products", false}, {"plain", "without tensor cores", true},
                 {"fft", "FFT", false},             {"floats", "floats", false},     {"pinned", "copies of pinned memory", true},
                 {"pageable", "of other memory", true}};
    size_t length;
    int kind_length, name_length;
    const char *rest = rates_of(line, &length), *kind = field(line, 2, &kind_length), *name = field(line, 3, &name_length);
    const bool cuda = strncmp(kind, "cuda", 4) == 0;
    char text[128];

    snprintf(text, sizeof text, "%.*s: %.*s", kind_length, kind, name_length, name);
    text_line(stdout, text);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const size_t size = strlen(rates[i].name);
        if (strncmp(rest, rates[i].name, size) != 0)
            break;
        char *end;
        const long long value = strtoll(rest + size + 1, &end, 10);
        if (cuda || !rates[i].cuda)
            printf("%s %s %lld.%02lld", i ? "," : ":", rates[i].words, value / 1000, value % 1000 / 10);
        rest = end + 1;
    }
    putchar('\n');
}

/* Lines of before that no new line replaces. */
static void keep(FILE *file, const char *old, const char *made)
{
    for (const char *line = old; line && *line; line = strchr(line, '\n') + 1) {
        size_t length;
        bool replaced = !rates_of(line, &length);
        for (const char *other = made; !replaced && *other; other = strchr(other, '\n') + 1)
            replaced = strncmp(line, other, length) == 0;
        if (!replaced)
            fwrite(line, 1, strcspn(line, "\n") + 1, file);
    }
}

/* Makes the folder of the path and the one that it is in, which is the user's cache. Whether files can be written there. */
static bool make_folders(const char *path)
{
    char folder[PATH_MAX];
    char *slash;

    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    if ((slash = strrchr(folder, '/')) && slash > folder) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
    mkdir(folder, 0700); /* where these fail, so does opening the file, with the same reason */
    return access(folder, W_OK) == 0;
}

static bool save(const char *path, const char *made)
{
    char *old = costs_read(true);
    io_output output;
    io_error error = {.reason = ""};

    make_folders(path);
    bool good = io_output_open(&output, path, &error);
    if (good) {
        keep(output.file, old, made);
        fputs(made, output.file);
        good = io_output_commit(&output, &error);
    }
    free(old);
    if (!good)
        message(path, "%s", error.reason);
    return good;
}

/* What measuring the settings' devices gave, to be freed; NULL after a failure, which is said if label is not NULL. */
static char *measure(const tm_settings *settings, const char *label)
{
    enum { BYTES = 64 << 10 };
    char *made = malloc(BYTES);
    tm_matcher *matcher = NULL;

    tm_status status = made ? tm_matcher_create(&matcher, settings) : TM_ERR_MEMORY;
    if (status == TM_OK)
        status = tm_matcher_calibrate(matcher, made, BYTES);
    if (status != TM_OK && label)
        message(label, "%s", tm_matcher_message(matcher));
    tm_matcher_destroy(&matcher);
    if (status != TM_OK) {
        free(made);
        made = NULL;
    }
    return made;
}

int costs_calibrate(const tm_settings *settings)
{
    char path[PATH_MAX];
    const double begun = clock_ms();
    char *made = measure(settings, "--calibrate");
    bool good = made != NULL;

    if (good) {
        puts("times of this machine, as multiples of those that tmatch assumes:");
        for (const char *line = made; *line; line = strchr(line, '\n') + 1)
            print_line(line);
        if (cache_path(path, sizeof path)) {
            good = save(path, made);
        } else {
            message("--calibrate", "there is no folder for it: neither XDG_CACHE_HOME nor HOME is set");
            good = false;
        }
    }
    if (good) {
        fputs("kept in ", stdout);
        text_line(stdout, path);
        printf(" after %.1f s\n", (clock_ms() - begun) * 1e-3);
    }
    free(made);
    return good ? 0 : 2;
}

/* A run that takes less does not measure: the choices of one so short matter little. */
#define LEARN_AFTER_MS 1000.0

/* The results are out: a signal ends the process as if all had been done. */
static void end_with_status(void *data)
{
    _exit(*(const int *)data);
}

/* Whether the device is one of those that matched, and nobody knows yet what it takes. */
static bool is_unknown(const tm_device_info *device, uint64_t matched)
{
    if (device->kind != TM_DEVICE_CUDA || device->index >= 64 || !(matched >> device->index & 1))
        return false;
    char *known = costs_read(true);
    const bool unknown = !tm_costs_have(known, device);
    free(known);
    return unknown;
}

void costs_learn(const cli_options *options, uint64_t matched, double run_ms, int status)
{
    enum { MOST = 65 }; /* with the CPU */
    tm_settings settings = options->settings;
    char path[PATH_MAX];
    tm_device_info devices[MOST];
    size_t count;

    /* A device that may hang is not waited for here. */
    if (!matched || run_ms < LEARN_AFTER_MS || settings.device_timeout > 0 || !cache_path(path, sizeof path) || !make_folders(path))
        return;
    fflush(stdout); /* the results are there, whatever comes now */
    if (tm_list_devices(devices, MOST, &count, NULL, 0) != TM_OK)
        return;
    settings.device = TM_DEVICE_CUDA;
    settings.algorithm = TM_ALGORITHM_AUTO;
    settings.strategy = TM_STRATEGY_AUTO;
    for (size_t i = 0; i < count && i < MOST; i++) {
        if (!is_unknown(&devices[i], matched))
            continue;
        settings.device_mask = UINT64_C(1) << devices[i].index;
        const double begun = clock_ms();
        signals_on_interrupt(end_with_status, &status);
        char *made = measure(&settings, NULL);
        signals_on_interrupt(NULL, NULL);
        if (made && save(path, made) && options->verbose)
            message_info(NULL, "measured once what cuda:%d takes, in %.1f s, for the next runs: kept in %s", devices[i].index,
                         (clock_ms() - begun) * 1e-3, path);
        free(made);
    }
}
