/* SPDX-License-Identifier: MIT */
#include "options_intervals.h"

#include "message.h"

/* Which matches count, a threshold says, or what is known of lcc. */
bool options_check_intervals(const cli_options *o)
{
    const bool wanted = o->intervals;
    const char *fault = !wanted && o->gap >= 0 ? "--gap is about appearances, which --intervals prints"
                        : wanted && o->shards
                            ? "--intervals needs the results of all frames: --merge --intervals has them"
                        : wanted && o->has_rows ? "--intervals cannot be combined with --rows"
                        : wanted && !o->has_min_score && o->settings.metric != TM_METRIC_LCC
                            ? "--intervals needs --min-score, as only scores of lcc have a scale"
                            : NULL;
    if (fault)
        message_usage("%s", fault);
    return !fault;
}
