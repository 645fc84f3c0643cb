/* SPDX-License-Identifier: MIT */
#include "run/interval_files.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ending.h"
#include "message.h"
#include "run/edl.h"
#include "text.h"

/* Writes the name with what stands for each of these characters, and without ends of lines. */
static void put_name(FILE *out, const char *name, const char *special, const char *const *instead)
{
    for (const char *s = text_base_name(name); *s; s++) {
        const char *found = strchr(special, *s);
        if (found)
            fputs(instead[found - special], out);
        else
            putc(*s == '\n' || *s == '\r' ? ' ' : *s, out);
    }
}

/* What is seen when nothing is; its name is what people do not search for. */
#define NOTHING "-"

static void put_chapter(FILE *out, double start, double end, const char *title)
{
    static const char *const escaped[] = {"\\=", "\\;", "\\#", "\\\\"};
    fprintf(out, "[CHAPTER]\nTIMEBASE=1/1000000\nSTART=%lld\nEND=%lld\ntitle=", llround(start * 1e6), llround(end * 1e6));
    put_name(out, title, "=;#\\", escaped);
    putc('\n', out);
}

/* FFmpeg's own metadata format. MP4 and many players know where a chapter begins and let it last up to the next: so there
 * are chapters where nothing is seen, too. */
static void put_ffmetadata(FILE *out, const interval_movie *movie, const cli_appearance *first)
{
    double reached = 0;

    fputs(";FFMETADATA1\n", out);
    for (const cli_appearance *a = first; a; a = a->next) {
        if (a->first.time > reached)
            put_chapter(out, reached, a->first.time, NOTHING);
        put_chapter(out, a->first.time, a->end, a->tmpl);
        reached = a->end > reached ? a->end : reached;
    }
    if (first && movie->end > reached)
        put_chapter(out, reached, movie->end, NOTHING);
}

static void put_webvtt(FILE *out, const cli_appearance *first)
{
    static const char *const escaped[] = {"&amp;", "&lt;", "&gt;"};
    char start[TEXT_CLOCK_SIZE], end[TEXT_CLOCK_SIZE];

    fputs("WEBVTT\n", out);
    for (const cli_appearance *a = first; a; a = a->next) {
        text_clock(start, a->first.time);
        text_clock(end, a->end);
        fprintf(out, "\n%s --> %s\n", start, end);
        put_name(out, a->tmpl, "&<>", escaped);
        putc('\n', out);
    }
}

static bool put_chapters(FILE *out, const char *path, const cli_intervals *intervals, io_error *error)
{
    const interval_movie *movie = intervals_movies(intervals);
    if (movie && movie->next) {
        snprintf(error->reason, sizeof error->reason, "not written: it would have the chapters of several movies");
        return false;
    }
    if (has_ending(path, ".vtt"))
        put_webvtt(out, intervals_kept(intervals));
    else
        put_ffmetadata(out, movie, intervals_kept(intervals));
    return true;
}


static bool write_file(const char *path, const cli_intervals *intervals,
                       bool (*put)(FILE *, const char *, const cli_intervals *, io_error *))
{
    io_output output;
    io_error error;

    if (!io_output_open(&output, path, &error)) {
        message(path, "%s", error.reason);
        return false;
    }
    bool good = put(output.file, path, intervals, &error);
    if (good)
        good = io_output_commit(&output, &error);
    else
        io_output_abort(&output);
    if (!good)
        message(path, "%s", error.reason);
    return good;
}

bool interval_files_write(const cli_options *o, const cli_intervals *intervals)
{
    bool good = true;
    if (o->chapters)
        good = write_file(o->chapters, intervals, put_chapters);
    if (o->edl)
        good = write_file(o->edl, intervals, edl_put) && good;
    return good;
}
