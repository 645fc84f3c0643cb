/* SPDX-License-Identifier: MIT */
#include "run/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* The longest side of a template's picture in a report. */
enum { SHOWN_SIDE = 512 };

bool cli_templates_init(cli_templates *templates, const cli_frames *names)
{
    *templates = (cli_templates){.list = calloc(names->count + 1, sizeof *templates->list)};
    if (!templates->list)
        return false;
    for (; templates->count < names->count; templates->count++) {
        cli_template *tmpl = &templates->list[templates->count];
        operand_init(&tmpl->operand, &names->list[templates->count]);
    }
    return true;
}

void cli_templates_free(cli_templates *templates)
{
    for (size_t i = 0; i < templates->count; i++) {
        input_free(&templates->list[i].input);
        io_picture_free(&templates->list[i].shown);
        operand_free(&templates->list[i].operand);
    }
    free(templates->list);
    *templates = (cli_templates){0};
}

void cli_template_fail(cli_templates *templates, cli_template *tmpl)
{
    if (tmpl->usable)
        templates->usable--;
    tmpl->usable = false;
    message(operand_name(&tmpl->operand), "%s", tmpl->error.reason);
}

/* Loads a template, which has to fit in memory. */
static bool load(cli_template *tmpl, const input_settings *settings)
{
    cli_input *input = &tmpl->input;
    if (!input_load(input, &tmpl->operand, settings, &tmpl->error))
        return false;
    if (!input->rows)
        return true;
    snprintf(tmpl->error.reason, sizeof tmpl->error.reason,
             "a template of %" PRId64 "x%" PRId64 " pixels is more than --max-memory has room for",
             input->gray.width, input->gray.height);
    input_free(input);
    return false;
}

static int64_t count_pixels(const io_picture *picture)
{
    const int64_t all = picture->width * picture->height;
    int64_t count = 0;
    for (int64_t i = 0; i < all && picture->mask; i++)
        count += picture->mask[i] != 0;
    return picture->mask ? count : all;
}

/* Draws squares where the mask is 0, as picture editors show transparency. */
static void put_squares(io_picture *shown, const uint8_t *mask)
{
    const int64_t shorter = shown->width < shown->height ? shown->width : shown->height;
    const int64_t side = shorter < 24 ? 2 : shorter / 12;
    for (int64_t i = 0; mask && i < shown->width * shown->height; i++) {
        const int64_t x = i % shown->width, y = i / shown->width;
        if (!mask[i])
            memset(shown->samples + i * 3, (x / side + y / side) % 2 ? 0x99 : 0xcc, 3);
    }
}

/* Makes the picture for the report. Errors are not told here: the template fails where it is used. */
static void show_template(cli_template *tmpl, const input_settings *settings)
{
    const io_request request = {.color = IO_RGB,
                                .deep = true,
                                .floats = IO_FLOATS_SHOWN,
                                .stored_orientation = settings->stored_orientation,
                                .frugal = settings->max_memory > 0};
    const cli_operand *operand = &tmpl->operand;
    io_picture picture;
    io_error error;

    if (!io_decode_as(&tmpl->input.source, &request, &settings->limits, &picture, &error))
        return;
    io_show(&picture);
    if (!operand->has_crop || io_crop_picture(&picture, &operand->crop, &error)) {
        put_squares(&picture, tmpl->input.gray.mask);
        if (!io_shrink(&picture, SHOWN_SIDE, SHOWN_SIDE, &tmpl->shown, &error))
            tmpl->shown = (io_picture){0};
    }
    io_picture_free(&picture);
}

void cli_templates_load(cli_templates *templates, const input_settings *settings, const cli_options *options)
{
    for (size_t i = 0; i < templates->count; i++) {
        cli_template *tmpl = &templates->list[i];
        tmpl->usable = load(tmpl, settings);
        if (!tmpl->usable) {
            cli_template_fail(templates, tmpl);
            continue;
        }
        templates->usable++;
        if (options->report)
            show_template(tmpl, settings);
        if (!options->quiet && io_rest_of(&tmpl->input.source) != IO_REST_NONE)
            message_note(operand_name(&tmpl->operand), "holds several pictures, of which the first is the template");
        io_source_close(&tmpl->input.source);
        tmpl->width = tmpl->input.gray.width;
        tmpl->height = tmpl->input.gray.height;
        tmpl->pixels = count_pixels(&tmpl->input.gray);
        if (options->verbose)
            input_describe(&tmpl->input, &tmpl->operand);
    }
}
