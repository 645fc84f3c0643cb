/* SPDX-License-Identifier: MIT */
#include "options_poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* Angles and scales are rounded to millionths. */
#define LEAST_STEP 1e-6

typedef struct range {
    const char *option; /* without the dashes */
    const char *example;
    double low, high; /* that FROM and TO may be */
} range;

static const range angles = {"angle", "-15:15 or 0:360:0.5", -3600, 3600};
static const range scales = {"scale", "0.8:1.25 or 1:2:0.25", 0.05, 20};

/* Reads a number that a colon or the end follows, and leaves *text behind the colon. */
static bool read_number(const char **text, double *value)
{
    char *end;
    *value = strtod(*text, &end);
    if (end == *text || !strchr(":", *end) || !isfinite(*value))
        return false;
    *text = end + (*end == ':');
    return true;
}

/* False where the text is not of the form FROM, FROM:TO or FROM:TO:STEP. */
static bool read_range(const char *text, double *from, double *to, double *step)
{
    *step = 0;
    if (!*text || text[strlen(text) - 1] == ':' || !read_number(&text, from))
        return false;
    *to = *from;
    if (!*text)
        return true;
    if (!read_number(&text, to))
        return false;
    if (!*text || strcmp(text, "auto") == 0)
        return true;
    if (!read_number(&text, step) || *text)
        return false;
    *step = *step == 0 ? -1 : *step; /* it was given, and means nothing */
    return true;
}

/* The numbers are the grid's. */
static bool parse(const range *r, const char *text, const tm_pose_grid *grid, double *from, double *to, double *step)
{
    if (!read_range(text, from, to, step))
        message_usage("--%s: '%s' is not FROM:TO or FROM:TO:STEP, such as %s", r->option, text,
                      r->example);
    else if (*from < r->low || *to > r->high || *from > r->high || *to < r->low)
        message_usage("--%s: '%s' is not from %g to %g", r->option, text, r->low, r->high);
    else if (*from > *to)
        message_usage("--%s: '%s' begins above its end; FROM is TO or less, as in %s", r->option,
                      text, r->example);
    else if (*step != 0 && *step < LEAST_STEP)
        message_usage("--%s: the step of '%s' is not 0.000001 or more", r->option, text);
    else if (tm_pose_grid_fault(grid)) /* no other one is left */
        message_usage("--%s: the step of '%s' is longer than the range: only %.10g would be searched", r->option, text, *from);
    else
        return true;
    return false;
}

bool options_angle(const char *text, tm_pose_grid *grid)
{
    if (!parse(&angles, text, grid, &grid->angle_from, &grid->angle_to, &grid->angle_step))
        return false;
    if (grid->angle_to - grid->angle_from <= 360)
        return true;
    message_usage("--angle: '%s' is more than a whole turn, which has 360 degrees", text);
    return false;
}

bool options_scale(const char *text, tm_pose_grid *grid)
{
    return parse(&scales, text, grid, &grid->scale_from, &grid->scale_to, &grid->scale_step);
}

bool options_check_poses(const cli_options *o)
{
    const char *posed = o->posed ? NULL : "but neither --angle nor --scale";

    if (o->posed && o->action == CLI_BENCH)
        message_usage("--bench measures templates as they are, without --angle and --scale");
    else if (posed && o->poses.support != TM_SUPPORT_AUTO)
        message_usage("--support, %s", posed);
    else if (posed && o->settings.strategy == TM_STRATEGY_PYRAMID)
        message_usage("--search pyramid, %s", posed);
    else if (o->settings.strategy == TM_STRATEGY_PYRAMID && (o->heatmap || o->map))
        message_usage("--search pyramid scores few positions, and makes no --%s", o->map ? "map" : "heatmap");
    else if (posed && o->upright)
        message_usage("--upright, %s", posed);
    else if (o->upright && !o->crops)
        message_usage("--upright, but no --crops FOLDER");
    else if (o->posed && o->depth == 32)
        message_usage("--angle and --scale are for samples of 8 and 16 bits, not for --depth float");
    else
        return true;
    return false;
}
