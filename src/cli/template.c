/* SPDX-License-Identifier: MIT */
#include "template.h"

#include <stdio.h>

const char *library_reason(const tm_matcher *matcher, tm_status status)
{
    const char *reason = matcher ? tm_matcher_message(matcher) : "";
    return *reason ? reason : tm_strerror(status);
}

static bool prepare(tm_template **prepared, tm_matcher *matcher, const tm_image *image,
                    io_error *error)
{
    const tm_status status = tm_template_create(prepared, matcher, image);
    if (status == TM_OK)
        return true;
    *prepared = NULL;
    snprintf(error->reason, sizeof error->reason, "%s", library_reason(matcher, status));
    return false;
}

bool cli_template_load(cli_template *tmpl, tm_matcher *matcher, tm_matcher *oracle,
                       const io_limits *limits, bool verbose)
{
    cli_input input;

    if (!input_load(&input, &tmpl->operand, limits, &tmpl->error))
        return false;
    if (verbose)
        input_describe(&input, &tmpl->operand);
    const tm_image image = input_image(&input);
    tmpl->width = image.width;
    tmpl->height = image.height;
    const bool good = prepare(&tmpl->prepared, matcher, &image, &tmpl->error) &&
                      (!oracle || prepare(&tmpl->truth, oracle, &image, &tmpl->error));
    input_free(&input);
    if (!good)
        tm_template_destroy(&tmpl->prepared);
    return good;
}

void cli_template_free(cli_template *tmpl)
{
    tm_template_destroy(&tmpl->prepared);
    tm_template_destroy(&tmpl->truth);
    operand_free(&tmpl->operand);
}
