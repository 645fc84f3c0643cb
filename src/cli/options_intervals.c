/* SPDX-License-Identifier: MIT */
#include "options_intervals.h"

#include "ending.h"
#include "message.h"

static bool check_endings(const cli_options *o)
{
    if (o->chapters && !has_ending(o->chapters, ".ffmeta") && !has_ending(o->chapters, ".txt") &&
        !has_ending(o->chapters, ".vtt")) {
        message(o->chapters, "chapters are written as .ffmeta, .txt or .vtt");
        return false;
    }
    if (o->edl && !has_ending(o->edl, ".edl")) {
        message(o->edl, "an edit decision list is written as .edl");
        return false;
    }
    return true;
}

/* Which matches count, a threshold says, or what is known of lcc. */
bool options_check_intervals(const cli_options *o)
{
    const char *option = o->intervals ? "intervals" : o->chapters ? "chapters" : o->edl ? "edl" : NULL;

    if (!option && !o->report && o->gap >= 0)
        message_usage("--gap is about appearances, of which --intervals, --chapters, --edl and --report tell");
    else if (option && o->shards)
        message_usage("--%s needs the results of all frames: --merge --%s has them", option, option);
    else if (option && o->has_rows)
        message_usage("--%s cannot be combined with --rows", option);
    else if (option && !o->has_min_score && o->settings.metric != TM_METRIC_LCC)
        message_usage("--%s needs --min-score, as only scores of lcc have a scale", option);
    else
        return check_endings(o);
    return false;
}
