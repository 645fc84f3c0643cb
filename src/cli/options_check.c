/* SPDX-License-Identifier: MIT */
#include "options_check.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"

static bool has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

static bool check_heatmap(const cli_options *o)
{
    if (!o->heatmap_overlay || o->heatmap)
        return true;
    message_usage("--heatmap-style overlay, but no --heatmap FILE.png");
    return false;
}

static bool check_endings(const cli_options *o)
{
    if (o->map && !has_ending(o->map, ".npy")) {
        message(o->map, "a score map is written as .npy");
        return false;
    }
    if (o->report && !has_ending(o->report, ".html")) {
        message(o->report, "a report is written as .html");
        return false;
    }
    if (o->dump_template && !has_ending(o->dump_template, ".txt") &&
        !has_ending(o->dump_template, ".png")) {
        message(o->dump_template, "a template is dumped as .png or .txt");
        return false;
    }
    return true;
}

/* A score that a report printed must pass as --min-score: both are read as the
 * same float. */
static bool check_score(cli_options *o, const char *text)
{
    if (!o->has_min_score || tm_metric_is_integer(o->settings.metric))
        return true;
    if (o->settings.metric == TM_METRIC_LCC && (o->min_score < -1 || o->min_score > 1)) {
        message_usage("--min-score: '%s' is not from -1 to 1, as an lcc score is", text);
        return false;
    }
    o->min_score = strtof(text, NULL);
    return true;
}

/* All operands were taken as frames; without -t the second is the template. */
static bool check_operands(cli_options *o)
{
    const bool listed = o->files_from || o->watch;

    if (o->template_count == 0 && o->frame_count == 2 && !listed)
        o->templates[o->template_count++] = o->frames[--o->frame_count];
    if ((o->frame_count > 0 || listed) && o->template_count > 0)
        return true;
    if (o->template_count > 0)
        message_usage("no frame given");
    else if (o->frame_count == 0 && !listed)
        message_usage("no frame and no template given");
    else if (o->frame_count == 1 || listed)
        message_usage("no template given");
    else
        message_usage("%d operands given, not FRAME TEMPLATE; name templates with -t",
                      o->frame_count);
    return false;
}

/* The library says so too, but only when a device is opened. */
static bool check_device(const cli_options *o)
{
    if (o->settings.device != TM_DEVICE_CUDA || o->settings.algorithm != TM_ALGORITHM_REFERENCE)
        return true;
    message(NULL, "the reference algorithm runs on the CPU only");
    return false;
}

bool cli_options_check(cli_options *o, const char *score)
{
    return check_device(o) && check_operands(o) && check_score(o, score) && check_endings(o) &&
           check_heatmap(o);
}
