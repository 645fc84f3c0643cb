/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define COMPILER "" /* the version names it */
#else
#define COMPILER "gcc "
#endif

/* The first line that a command prints, or "". */
static void first_line(const char *command, char *line, size_t size)
{
    FILE *pipe = popen(command, "r");
    line[0] = '\0';
    if (!pipe)
        return;
    if (!fgets(line, (int)size, pipe))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    pclose(pipe);
}

/* $TMATCH_COMMIT stands for a tree that was copied without its history; "-dirty"
 * at its end says that it had changes. */
static void describe_commit(machine *m)
{
    const char *given = getenv("TMATCH_COMMIT");
    char changed[256];

    if (given && *given) {
        const char *mark = strstr(given, "-dirty");
        m->dirty = mark != NULL;
        snprintf(m->commit, sizeof m->commit, "%.*s",
                 (int)(mark ? mark - given : (ptrdiff_t)strnlen(given, 63)), given);
        return;
    }
    first_line("git -C '" BENCH_SOURCE "' rev-parse HEAD 2>/dev/null", m->commit, sizeof m->commit);
    first_line("git -C '" BENCH_SOURCE "' status --porcelain 2>/dev/null", changed, sizeof changed);
    m->dirty = changed[0] != '\0';
    if (!m->commit[0])
        snprintf(m->commit, sizeof m->commit, "unknown");
}

void machine_describe(machine *m)
{
    size_t count = 0;
    time_t now = time(NULL);
    struct tm utc;

    *m = (machine){0};
    describe_commit(m);
    strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(m->compiler, sizeof m->compiler, "%.60s", COMPILER __VERSION__);
    tm_list_devices(m->devices, MOST_DEVICES, &count, m->no_cuda, sizeof m->no_cuda);
    m->device_count = (int)(count < MOST_DEVICES ? count : MOST_DEVICES);
    if (m->device_count > 1)
        first_line("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null",
                   m->driver, sizeof m->driver);
}
