/* SPDX-License-Identifier: MIT */
/* The command line: arguments that each end with a line. What is accepted is in range; what is not
 * is told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "message.h"
#include "options.h"

enum { MOST_ARGUMENTS = 40 };

static void check_accepted(const cli_options *o, int argc)
{
    const tm_settings *s = &o->settings;
    FUZZ_CHECK(o->frame_count + o->template_count < argc);
    FUZZ_CHECK(o->frame_count >= 0 && o->template_count >= 0);
    FUZZ_CHECK(o->overlap >= 0 && o->overlap <= 1 && o->most_matches >= 0);
    FUZZ_CHECK(o->max_pixels >= 0 && o->max_memory >= 0 && o->in_flight >= 0);
    FUZZ_CHECK(isfinite(o->min_score));
    FUZZ_CHECK(s->threads >= 0 && s->device_memory >= 0);
    FUZZ_CHECK(!o->has_roi || (o->roi.x >= 0 && o->roi.y >= 0 && o->roi.width > 0 && o->roi.height > 0));
    FUZZ_CHECK(tm_metric_name(s->metric) != NULL);
    FUZZ_CHECK(o->poses.angle_from <= o->poses.angle_to && o->poses.scale_from <= o->poses.scale_to);
    FUZZ_CHECK(o->poses.scale_from >= 0.05 && o->poses.scale_to <= 20);
    FUZZ_CHECK(fabs(o->poses.angle_from) <= 3600 && fabs(o->poses.angle_to) <= 3600);
    FUZZ_CHECK(o->poses.angle_step >= 0 && o->poses.scale_step >= 0);
    FUZZ_CHECK(!o->posed || o->action != CLI_MATCH || (!o->map && !o->heatmap));
    if (o->action == CLI_MATCH)
        FUZZ_CHECK(o->template_count > 0 && (o->frame_count > 0 || o->files_from || o->watch));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t control = fuzz_control(data, &size);
    char *text = (char *)fuzz_copy(data, size, true), *argv[MOST_ARGUMENTS + 2] = {"tmatch"}, *said = NULL;
    size_t length;
    int argc = 1;
    FILE *messages = open_memstream(&said, &length);
    cli_options options;

    FUZZ_CHECK(messages);
    for (char *at = text; argc <= MOST_ARGUMENTS && *at; argc++) {
        argv[argc] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    argv[argc] = NULL;
    fuzz_forget_options();
    message_redirect(messages);
    fuzz_fail_allocation(control & 7, true);
    const bool good = cli_options_parse(&options, argc, argv);
    const bool starved = fuzz_allocations_succeed();
    message_redirect(NULL);
    FUZZ_CHECK(fclose(messages) == 0);
    if (good)
        check_accepted(&options, argc);
    else
        FUZZ_CHECK(length > 0 && said[length - 1] == '\n');
    FUZZ_CHECK(good ? length == 0 || starved : strncmp(said, "tmatch: ", 8) == 0);
    cli_options_free(&options);
    free(said);
    free(text);
    return 0;
}
