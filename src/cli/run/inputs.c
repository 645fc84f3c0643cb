/* SPDX-License-Identifier: MIT */
#include "run/inputs.h"

#include <stdlib.h>

#include "message.h"
#include "run/decoder.h"

bool inputs_open(cli_inputs *inputs, cli_plan *plan)
{
    const cli_options *o = plan->options;
    io_error error;
    if (o->sandbox && !io_sandbox_open(&inputs->sandbox, o->max_memory, &error)) {
        message(NULL, "--sandbox: files cannot be decoded in processes of their own: %s", error.reason);
        return false;
    }
    if (o->sandbox && o->verbose)
        message_info(NULL, "sandbox: %s", io_sandbox_describe(inputs->sandbox));
    const input_settings settings = {
        .decoder = inputs->sandbox ? io_sandbox_decoder(inputs->sandbox) : NULL,
        .reader = "- TEMPLATE", .limits = {.max_pixels = o->max_pixels}, .max_memory = o->max_memory,
        .max_wait_ms = o->max_frame_ms, .color = o->color, .depth = o->depth, .stored_orientation = o->ignore_orientation};

    plan->frame_input = plan->template_input = settings;
    plan->frame_input.jpeg = o->decoder == CLI_NVJPEG         ? INPUT_NVJPEG
                             : o->decoder == CLI_AUTO_DECODER ? INPUT_EITHER_JPEG
                                                              : INPUT_LIBJPEG;
    plan->frame_input.stays = o->decoder == CLI_NVDEC && decoder_leaves_frames(o);
    plan->frame_input.lends = !o->color && o->depth <= 8 && !o->frame_mask && !o->has_rows && !o->max_memory;
    plan->frame_input.max_ms = o->max_frame_ms;
    plan->template_input.alpha = true;
    plan->template_input.reader = "FRAME -";
    if (o->mask) {
        if (!mask_load(&inputs->masks.tmpl, o->mask, &settings, o->quiet))
            return false;
        plan->template_input.mask = &inputs->masks.tmpl.picture;
    }
    if (o->frame_mask) {
        if (!mask_load(&inputs->masks.frame, o->frame_mask, &settings, o->quiet))
            return false;
        plan->frame_input.mask = &inputs->masks.frame.picture;
    }
    return true;
}

bool inputs_want_rows(cli_inputs *inputs, cli_plan *plan)
{
    const cli_options *o = plan->options;
    const cli_templates *templates = plan->templates;
    input_part *part = &inputs->part;

    inputs->heights = calloc(templates->count + 1, sizeof *inputs->heights);
    if (!inputs->heights) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    *part = (input_part){.first = o->rows_first, .end = o->rows_end, .domain = o->settings.domain,
                         .heights = inputs->heights};
    for (size_t i = 0; i < templates->count; i++)
        if (templates->list[i].usable)
            inputs->heights[part->count++] = templates->list[i].height;
    plan->frame_input.part = part;
    return true;
}

void inputs_close(cli_inputs *inputs)
{
    free(inputs->heights);
    masks_free(&inputs->masks);
    io_sandbox_close(&inputs->sandbox);
}
