/* SPDX-License-Identifier: MIT */
#include "run/weak.h"

#include <math.h>

#define HOPELESS 0.6    /* a match that scores less is weak */
#define CLEAR 0.05      /* a match so near to 1 is not weak, if the template has FULL_SIZE pixels or more */
#define FULL_SIZE 1024.0 /* smaller templates score more by chance */

bool weak_is_judged(const cli_options *o)
{
    return !o->has_min_score && o->settings.metric == TM_METRIC_LCC;
}

bool weak_sets_thresholds(const cli_options *o)
{
    return weak_is_judged(o) && o->most_matches == 0;
}

int64_t weak_most_pixels(const cli_options *o, int64_t pixels)
{
    const double scale = o->posed ? o->poses.scale_to : 1;
    return (int64_t)ceil((double)pixels * scale * scale);
}

static double size_factor(int64_t pixels)
{
    return (double)pixels < FULL_SIZE ? (double)pixels / FULL_SIZE : 1;
}

double weak_clear_score(int64_t pixels)
{
    return 1 - CLEAR * size_factor(pixels);
}

double weak_least_score(int64_t pixels)
{
    return 1 - (1 - WEAK_LEAST_SCORE) * size_factor(pixels);
}

bool weak_needs_rest(double score, int64_t pixels)
{
    return score >= HOPELESS && score < weak_clear_score(pixels);
}

bool weak_is(double score, double rest, int64_t pixels)
{
    if (!weak_needs_rest(score, pixels))
        return score < HOPELESS;
    if (isnan(rest))
        return score < weak_least_score(pixels);
    return 1 - score > TM_MARGIN_RATIO * (1 - rest);
}
