/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "message.h"

void operand_init(cli_operand *operand, const cli_frame *frame)
{
    *operand = (cli_operand){.given = frame->path};
    if (frame->error)
        snprintf(operand->error.reason, sizeof operand->error.reason, "%s", frame->error);
    else if (frame->named)
        io_split_crop(frame->path, &operand->path, &operand->crop, &operand->has_crop,
                      &operand->error);
    else if (!(operand->path = strdup(frame->path)))
        strcpy(operand->error.reason, tm_strerror(TM_ERR_MEMORY));
}

void operand_restrict(cli_operand *operand, const io_crop *roi)
{
    if (operand->has_crop) {
        operand_free(operand);
        strcpy(operand->error.reason, "has a crop, and --roi gives it another one");
    }
    operand->has_crop = true;
    operand->crop = *roi;
}

void operand_free(cli_operand *operand)
{
    free(operand->path);
    operand->path = NULL;
}

const char *operand_name(const cli_operand *operand)
{
    return operand->path ? operand->path : operand->given;
}

bool input_load(cli_input *input, const cli_operand *operand, const io_limits *limits,
                io_error *error)
{
    const double start = clock_ms();

    *input = (cli_input){0};
    if (!operand->path) {
        *error = operand->error;
        return false;
    }
    if (!io_source_open(&input->source, operand->path, error))
        return false;
    input->opened = true;
    input->bytes = (int64_t)input->source.size;
    if (!io_decode(&input->source, IO_GRAY, limits, &input->gray, error))
        goto close_source;
    input->whole_width = input->gray.width;
    input->whole_height = input->gray.height;
    if (operand->has_crop && !io_crop_picture(&input->gray, &operand->crop, error))
        goto free_picture;
    input->read_ms = clock_ms() - start;
    return true;

free_picture:
    io_picture_free(&input->gray);
close_source:
    io_source_close(&input->source);
    return false;
}

void input_free(cli_input *input)
{
    io_picture_free(&input->gray);
    io_source_close(&input->source);
}

void input_describe(const cli_input *input, const cli_operand *operand)
{
    char crop[128] = "";
    if (operand->has_crop)
        snprintf(crop, sizeof crop, ", cropped to %" PRId64 "x%" PRId64 "+%" PRId64 "+%" PRId64,
                 operand->crop.width, operand->crop.height, operand->crop.x, operand->crop.y);
    message(operand_name(operand), "%s, %" PRId64 "x%" PRId64 "%s%s", input->gray.format,
            input->whole_width, input->whole_height, crop,
            input->gray.alpha_ignored ? ", alpha ignored" : "");
}

tm_image input_image(const cli_input *input)
{
    const io_picture *gray = &input->gray;
    return (tm_image){.samples = gray->samples,
                      .width = gray->width,
                      .height = gray->height,
                      .stride = (ptrdiff_t)gray->width};
}
