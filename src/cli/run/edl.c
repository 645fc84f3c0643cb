/* SPDX-License-Identifier: MIT */
#include "run/edl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text.h"

/* A list's title and comments are lines of 80 columns at most in old readers; names are cut there. */
enum { MOST_TITLE = 70 };

/* What a movie is taken to have whose frames cannot tell. */
#define DEFAULT_RATE 25

/* The frames a second of the movie: that of those in use which is nearest to what its frames say. */
static double rate_of(const interval_movie *movie)
{
    static const double rates[] = {24000.0 / 1001, 24, 25, 30000.0 / 1001, 30, 48, 50, 60000.0 / 1001, 60, 100, 120};
    const double seconds = movie->last_time - movie->first_time;
    const double own = seconds > 0 ? (double)(movie->last_index - movie->first_index) / seconds : DEFAULT_RATE;
    double best = round(own) < 1 ? 1 : round(own);

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (fabs(rates[i] - own) < 0.02 * own && fabs(rates[i] - own) <= fabs(best - own))
            best = rates[i];
    return best;
}

/* The timecode counts frames, also those of 29.97 a second, which it takes for 30: that is "non-drop". */
static void put_timecode(FILE *out, int64_t frame, double rate)
{
    const int64_t whole = (int64_t)ceil(rate), seconds = frame / whole;
    fprintf(out, " %02" PRId64 ":%02" PRId64 ":%02" PRId64 ":%02" PRId64, seconds / 3600, seconds / 60 % 60, seconds % 60,
            frame % whole);
}

static bool check_rates(const interval_movie *first, io_error *error)
{
    for (const interval_movie *movie = first; movie; movie = movie->next)
        if (rate_of(movie) != rate_of(first)) {
            snprintf(error->reason, sizeof error->reason,
                     "not written: a list has one frame rate, and the movies have %.6g and %.6g frames a second",
                     rate_of(first), rate_of(movie));
            return false;
        }
    return true;
}

bool edl_put(FILE *out, const char *path, const cli_intervals *intervals, io_error *error)
{
    const char *name = text_base_name(path), *dot = strrchr(name, '.');
    const int length = dot && dot - name < MOST_TITLE ? (int)(dot - name) : MOST_TITLE;
    int64_t record = 0, event = 0;

    if (!check_rates(intervals_movies(intervals), error))
        return false;
    fprintf(out, "TITLE: %.*s\nFCM: NON-DROP FRAME\n", length, name);
    for (const cli_appearance *a = intervals_kept(intervals); a; a = a->next) {
        const double rate = rate_of(a->movie);
        const int64_t from = llround(a->first.time * rate);
        const int64_t end = llround(a->end * rate), to = end > from ? end : from + 1;
        fprintf(out, "\n%03" PRId64 "  AX       V     C       ", ++event);
        put_timecode(out, from, rate);
        put_timecode(out, to, rate);
        put_timecode(out, record, rate);
        put_timecode(out, record += to - from, rate);
        fputs("\n* FROM CLIP NAME: ", out);
        text_line(out, text_base_name(a->movie->name));
        fputs("\n* COMMENT: ", out);
        text_line(out, text_base_name(a->tmpl));
        fprintf(out, " X=%" PRId64 " Y=%" PRId64 " SCORE=", a->best.match.x, a->best.match.y);
        report_score(out, a->integers, a->best.match.score);
        putc('\n', out);
    }
    return true;
}
