/* SPDX-License-Identifier: MIT */
/* Results on standard output, a line each, in the format that was asked for. */
#ifndef TMATCH_CLI_REPORT_H
#define TMATCH_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tmatch/tmatch.h>

#include "options.h"
#include "run/score_map.h"

typedef struct cli_intervals cli_intervals;

typedef struct cli_report {
    const cli_options *options;
    bool several_templates; /* so that each line names its template */
    cli_intervals *intervals; /* where appearances are asked for; or NULL */
    bool timed;             /* CSV has a column for the time of a movie's frames */
    FILE *out;
    int error; /* errno of the first write that failed, or 0 */
} cli_report;

/* A turned or resized match. */
typedef struct cli_pose {
    double angle, scale; /* of the grid */
    double fine_angle, fine_scale; /* with --subpixel, else the same */
    double center[2];
    double corners[4][2]; /* as tm_posed_hit's */
} cli_pose;

/* One frame against one template. Sizes and positions are the whole frame's. */
typedef struct cli_match {
    int64_t x, y; /* in the whole frame */
    int64_t w, h; /* the template's, or the upright box that holds the turned one */
    int64_t pixels; /* of the template, as many as count */
    double score;
    double margin; /* NAN: there is none; with json, --resume and --report only */
    double margin_below; /* in poses: what no other place scores, where the margin is NAN; else NAN */
    double dx, dy; /* fractions, with --subpixel */
    bool weak;     /* it may be chance */
    cli_pose pose; /* where the result has poses */
} cli_match;

/* Positions of equal score are counted up to this. */
enum { RESULT_MOST_EQUAL = 100 };

typedef struct cli_result {
    const char *frame, *tmpl;
    int64_t index; /* of the picture in its file or stream, from 1; 0: it is the only one */
    bool timed;    /* the frame is a movie's, */
    double time;   /* after so many seconds */
    int64_t frame_width, frame_height;
    int64_t template_width, template_height;
    int64_t template_pixels; /* how many pixels the mask leaves */
    size_t poses; /* in how many the template was searched; 0: just as it is */
    bool has_rows;       /* only these rows of the map were matched: */
    int64_t first_row, end_row;
    cli_match *matches; /* to be reported; owned by the result */
    size_t match_count, match_capacity;
    size_t weak_count;  /* how many of the matches are weak: the last ones */
    double rest;        /* the best other score, as in weak_is */
    bool knows_margins; /* matches have margins, where there are any */
    bool none;          /* nothing reached --min-score, */
    bool has_best;      /* and */
    cli_match best;     /* this came nearest */
    /* For hints: */
    bool flat;          /* the frame is of one gray everywhere */
    int equal;          /* how many positions score as the best does; 0: not counted */
    bool integers; /* the scores are integers */
    char algorithm[16], device[160];
    const char *search; /* tm_matcher_strategy */
    double scored;      /* tm_matcher_scored */
    double read_ms;
    tm_times times;
    bool verified; /* verification was asked for and done */
    verification verification;
} cli_result;

/* What the rows of a part begin with in JSON. */
#define REPORT_ROWS ",\"rows\":["

/* Whether not even the best match is more than chance may make. */
static inline bool result_is_weak(const cli_result *result)
{
    return result->match_count > 0 && result->weak_count == result->match_count;
}

/* Each returns false when standard output has failed, now or before. To be ended in either case. */
bool report_begin(cli_report *report, const cli_options *options, size_t templates, bool timed, FILE *out);
bool report_result(cli_report *report, const cli_result *result);

/* Takes the result for appearances only; failed: there is none. */
bool report_take(cli_report *report, const cli_result *result, bool failed);

/* Prints what is still to be printed. One that has not begun is allowed. */
bool report_end(cli_report *report);
void report_free(cli_report *report);

/* Writes what is the same whenever and wherever it is computed, so neither times nor devices, as a
 * JSON object without its closing brace. error NULL: the pair has a result. */
void report_constant(const cli_options *options, FILE *out, const cli_result *result,
                     const char *error);

/* What of it is found, from the metric on. */
void report_found(const cli_options *options, FILE *out, const cli_result *result);

/* A score as it is printed; x and y with this between them. */
void report_score(FILE *out, bool integers, double score);
void report_place(const cli_options *options, FILE *out, const cli_match *match, const char *between);

/* Reports a pair that has no result; only json has a line for it. */
bool report_failure(cli_report *report, const cli_result *result, const char *reason);

#endif
