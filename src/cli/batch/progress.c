/* SPDX-License-Identifier: MIT */
#include "batch/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"

/* Short work needs no bar, and the eye no more than some pictures a second. */
#define FIRST_MS 500.0
#define AGAIN_MS 100.0

enum { MAX_WIDTH = 160, MAX_BAR = 40 };

void progress_begin(cli_progress *p, size_t total, bool wanted)
{
    *p = (cli_progress){.wanted = wanted && isatty(STDERR_FILENO),
                        .shared = isatty(STDOUT_FILENO),
                        .total = total,
                        .start_ms = clock_ms()};
}

void progress_hide(cli_progress *p)
{
    if (p->width > 0)
        fprintf(stderr, "\r%*s\r", p->width, "");
    p->width = 0;
}

static int columns(void)
{
    struct winsize size;
    const int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    return width < MAX_WIDTH ? width : MAX_WIDTH;
}

static void write_duration(char *text, size_t size, double seconds)
{
    const long s = seconds < 359999 ? (long)(seconds + 0.5) : 359999;
    if (s >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
}

/* "[=====>    ] 61%  1234/2000", in what the rest of the line leaves free. */
static int write_bar(char *line, size_t size, const cli_progress *p, size_t done, int room)
{
    char count[64], bar[MAX_BAR + 1] = "";
    const double share = (double)done / (double)p->total;

    snprintf(count, sizeof count, "%3d%%  %zu/%zu", (int)(share * 100), done, p->total);
    int width = room - (int)strlen(count) - 3;
    width = width > MAX_BAR ? MAX_BAR : width;
    if (width < 5)
        return snprintf(line, size, "%s", count);
    const int filled = (int)(share * width);
    memset(bar, ' ', (size_t)width);
    memset(bar, '=', (size_t)filled);
    if (filled < width)
        bar[filled] = '>';
    return snprintf(line, size, "[%.*s] %s", width, bar, count);
}

void progress_show(cli_progress *p, size_t done, size_t fresh, size_t failed)
{
    const double now = clock_ms(), seconds = (now - p->start_ms) * 1e-3;
    char line[MAX_WIDTH + 1], rest[96], left[32];

    if (!p->wanted || now - p->start_ms < FIRST_MS || now - p->drawn_ms < AGAIN_MS)
        return;
    const double rate = (double)fresh / seconds;
    int used = snprintf(rest, sizeof rest, "  %.1f frames/s", rate);
    if (p->total && fresh > 0) {
        write_duration(left, sizeof left, (double)(p->total - done) / rate);
        used += snprintf(rest + used, sizeof rest - (size_t)used, "  %s left", left);
    }
    if (failed > 0)
        snprintf(rest + used, sizeof rest - (size_t)used, "  %zu failed", failed);
    const int width = columns() - 1;
    used = p->total ? write_bar(line, sizeof line, p, done, width - (int)strlen(rest))
                    : snprintf(line, sizeof line, "%zu frames", done);
    snprintf(line + used, sizeof line - (size_t)used, "%s", rest);
    line[width] = '\0';
    const int length = (int)strlen(line);
    fprintf(stderr, "\r%s%*s", line, p->width > length ? p->width - length : 0, "");
    p->width = length;
    p->drawn_ms = now;
}
