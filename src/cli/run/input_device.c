/* SPDX-License-Identifier: MIT */
#include "run/input_device.h"

#include <stdio.h>
#include <string.h>

/* Whether the upright picture has the stored one's width as its height. */
static bool is_turned(const io_picture *p)
{
    return p->orientation >= 5 && !p->as_stored;
}

/* Sets what gray will be, of a picture of that size as it is stored. */
static bool describe(cli_input *input, const cli_operand *operand, const input_settings *settings, io_error *error)
{
    io_picture *p = &input->gray;
    const io_crop *crop = &operand->crop;

    p->as_stored = settings->stored_orientation;
    input->whole_width = is_turned(p) ? p->height : p->width;
    input->whole_height = is_turned(p) ? p->width : p->height;
    if (operand->has_crop && !io_check_crop(crop, input->whole_width, input->whole_height, error))
        return false;
    p->width = operand->has_crop ? crop->width : input->whole_width;
    p->height = operand->has_crop ? crop->height : input->whole_height;
    return true;
}

bool input_leave_to_device(cli_input *input, const cli_operand *operand, const input_settings *settings,
                           io_error *error)
{
    switch (io_nvjpeg_look(&input->source, &settings->limits, &input->gray, error)) {
    case IO_NVJPEG_SUITED:
        input->undecoded = describe(input, operand, settings, error);
        return input->undecoded;
    case IO_NVJPEG_BROKEN:
        return false;
    case IO_NVJPEG_UNSUITED:
        snprintf(input->obstacle, sizeof input->obstacle, "%.63s", error->reason);
        if (settings->jpeg == INPUT_EITHER_JPEG)
            break;
        snprintf(error->reason, sizeof error->reason,
                 "nvJPEG does not decode this JPEG: %s; --decoder auto leaves it to libjpeg", input->obstacle);
        return false;
    case IO_NVJPEG_OTHER:
        break;
    }
    return input_decode(input, operand, settings, error);
}

io_nvjpeg_frame input_for_device(const cli_input *input)
{
    const bool turned = is_turned(&input->gray);
    return (io_nvjpeg_frame){.data = input->source.data,
                             .size = input->source.size,
                             .width = turned ? input->whole_height : input->whole_width,
                             .height = turned ? input->whole_width : input->whole_height};
}

/* Which way EXIF's orientations go through a stored picture: whether a step to the right in the upright one, or down,
 * is one along its rows or its columns, forwards or back. */
static void take_place(cli_input *input, const cli_operand *operand, const io_luma *luma, void *stream)
{
    const io_picture *p = &input->gray;
    const int o = p->as_stored ? 0 : p->orientation;
    const ptrdiff_t sample = luma->bits / 8, pitch = (ptrdiff_t)luma->pitch;
    const bool from_right = o == 2 || o == 3 || o == 7 || o == 8, from_bottom = o == 3 || o == 4 || o == 6 || o == 7;
    const ptrdiff_t column = from_right ? -sample : sample, row = from_bottom ? -pitch : pitch;
    const ptrdiff_t right = is_turned(p) ? row : column, down = is_turned(p) ? column : row;
    const uint8_t *first = luma->memory;

    if (from_right)
        first += (luma->width - 1) * sample;
    if (from_bottom)
        first += (luma->height - 1) * pitch;
    if (operand->has_crop)
        first += operand->crop.x * right + operand->crop.y * down;
    input->place = (tm_device_image){
        .size = sizeof input->place,
        .image = {.samples = first, .width = p->width, .height = p->height, .stride = down,
                  .type = luma->bits == 16 ? TM_SAMPLE_U16 : TM_SAMPLE_U8, .channels = 1},
        .pixel_stride = right,
        .device = luma->device,
        .stream = stream};
    input->undecoded = false;
}

void input_take_place(cli_input *input, const cli_operand *operand, const io_nvjpeg_frame *frame, int device,
                      void *stream)
{
    const io_luma luma = {.memory = frame->memory, .pitch = frame->pitch, .width = frame->width,
                          .height = frame->height, .bits = 8, .device = device};
    take_place(input, operand, &luma, stream);
}

static io_picture gray_of(const io_luma *luma)
{
    return (io_picture){.width = luma->width, .height = luma->height, .channels = 1, .bits = luma->bits, .format = "movie",
                        .colored = luma->colored, .alpha_ignored = luma->alpha_ignored, .orientation = luma->orientation};
}

bool input_stay_on_device(cli_input *input, const cli_operand *operand, const input_settings *settings,
                          io_error *error)
{
    io_luma luma;

    if (!io_movie_on_device(&input->source, &luma))
        return input_decode(input, operand, settings, error);
    input->gray = gray_of(&luma);
    if (!describe(input, operand, settings, error))
        return false;
    take_place(input, operand, &luma, NULL);
    return true;
}

bool input_stay_in_frame(cli_input *input, const cli_operand *operand, const input_settings *settings)
{
    io_error error; /* who decodes it comes to the same */
    io_luma luma;

    if (!settings->lends || !io_movie_on_host(&input->source, &settings->limits, &luma))
        return false;
    input->gray = gray_of(&luma);
    if ((luma.orientation > 1 && !settings->stored_orientation) || !describe(input, operand, settings, &error)) {
        input->gray = (io_picture){0};
        return false;
    }
    const io_crop crop = operand->has_crop ? operand->crop : (io_crop){0};
    input->lent = (tm_image){.samples = luma.memory + crop.y * luma.pitch + crop.x, .width = input->gray.width,
                             .height = input->gray.height, .stride = (ptrdiff_t)luma.pitch, .type = TM_SAMPLE_U8, .channels = 1};
    return true;
}

bool input_take_back(cli_input *input, const cli_operand *operand, const input_settings *settings, io_error *error)
{
    input->undecoded = false;
    input->gray = (io_picture){0};
    return input_decode(input, operand, settings, error);
}
