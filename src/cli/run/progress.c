/* SPDX-License-Identifier: MIT */
#include "run/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "message.h"

/* The bar is shown after half a second, and drawn ten times a second. */
#define FIRST_MS 500.0
#define AGAIN_MS 100.0

enum { MAX_BAR = 40, LEAST_BAR = 5 };

void progress_begin(cli_progress *p, size_t total, bool wanted)
{
    *p = (cli_progress){.wanted = wanted && isatty(STDERR_FILENO),
                        .shared = isatty(STDOUT_FILENO),
                        .total = total,
                        .start_ms = clock_ms()};
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* A terminal that became narrower has broken the bar into several lines. */
void progress_hide(cli_progress *p)
{
    flockfile(stderr);
    const int broken = p->width > 0 ? (p->width - 1) / columns() : 0;
    if (p->width > 0 && !style_moves_cursor())
        fprintf(stderr, "\r%*s\r", p->width, "");
    else if (broken > 0)
        fprintf(stderr, "\r\x1b[%dA\x1b[J", broken);
    else if (p->width > 0)
        fputs("\r\x1b[K", stderr);
    p->width = 0;
    funlockfile(stderr);
}

static void write_duration(char *text, size_t size, double seconds)
{
    const long s = seconds < 359999 ? (long)(seconds + 0.5) : 359999;
    if (s >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
}

/* Writes "[=====>    ]" of so many columns or less, and a space. */
static void write_bar(char *text, int width, double share)
{
    char bar[MAX_BAR + 1] = "";

    width = width - 3 > MAX_BAR ? MAX_BAR : width - 3;
    *text = '\0';
    if (width < LEAST_BAR)
        return;
    const int filled = (int)(share * width);
    memset(bar, ' ', (size_t)width);
    memset(bar, '=', (size_t)filled);
    if (filled < width)
        bar[filled] = '>';
    sprintf(text, "[%.*s] ", width, bar);
}

/* Writes "[=====>    ]  61%  1234/2000  51.0 frames/s  0:15 left  3 failed". Where there is no room
 * for all, the bar is left out first, then the rate, then the time. */
static void write_line(cli_progress *p, int room, size_t done, size_t fresh, size_t failed)
{
    const double seconds = (clock_ms() - p->start_ms) * 1e-3, rate = (double)fresh / seconds;
    const double share = p->total ? (double)done / (double)p->total : 0;
    char bar[MAX_BAR + 4] = "", count[64], speed[48], left[48] = "", broken[48] = "", time[32];

    if (p->total)
        snprintf(count, sizeof count, "%3d%%  %zu/%zu", (int)(share * 100), done, p->total);
    else
        snprintf(count, sizeof count, "%zu frame%s", done, done == 1 ? "" : "s");
    snprintf(speed, sizeof speed, "  %.1f frames/s", rate);
    if (p->total && fresh > 0) {
        write_duration(time, sizeof time, (double)(p->total - done) / rate);
        snprintf(left, sizeof left, "  %s left", time);
    }
    if (failed > 0)
        snprintf(broken, sizeof broken, "  %zu failed", failed);

    char *const parts[] = {broken, left, speed}; /* the most wanted first */
    room -= (int)strlen(count);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((int)strlen(parts[i]) > room)
            *parts[i] = '\0';
        room -= (int)strlen(parts[i]);
    }
    if (p->total)
        write_bar(bar, room, share);
    snprintf(p->line, sizeof p->line, "%s%s%s%s%s", bar, count, speed, left, broken);
}

void progress_show(cli_progress *p, size_t done, size_t fresh, size_t failed)
{
    const double now = clock_ms();
    const bool stale = now - p->made_ms >= AGAIN_MS;

    if (!p->wanted || now - p->start_ms < FIRST_MS || (!stale && p->width > 0))
        return;
    flockfile(stderr);
    const int all = columns(), width = all - 1 < PROGRESS_MAX_WIDTH ? all - 1 : PROGRESS_MAX_WIDTH;
    const int before = p->width;
    if (stale) {
        write_line(p, width, done, fresh, failed);
        p->made_ms = now;
    }
    if (before >= all) /* the terminal has become narrower and has broken it */
        progress_hide(p);
    const int length = (int)strlen(p->line) < width ? (int)strlen(p->line) : width;
    fprintf(stderr, "\r%.*s%*s", length, p->line,
            p->width > length && p->width < all ? p->width - length : 0, "");
    p->width = length;
    funlockfile(stderr);
}
