/* SPDX-License-Identifier: MIT */
#include "run/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "io/movie/movie.h"
#include "message.h"
#include "run/input_device.h"
#include "run/streams.h"

/* Replaces the picture's own mask. */
static bool put_mask(cli_input *input, const cli_operand *operand, const io_picture *mask,
                     io_error *error)
{
    io_picture *gray = &input->gray;
    const bool whole = mask->width == input->whole_width && mask->height == input->whole_height;
    if (!whole && (mask->width != gray->width || mask->height != gray->height)) {
        snprintf(error->reason, sizeof error->reason,
                 "its mask has %" PRId64 "x%" PRId64 " pixels, not %" PRId64 "x%" PRId64,
                 mask->width, mask->height, gray->width, gray->height);
        return false;
    }
    uint8_t *samples = malloc((size_t)(gray->width * gray->height));
    if (!samples) {
        strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    const uint8_t *from = mask->samples;
    if (whole && operand->has_crop)
        from += operand->crop.y * mask->width + operand->crop.x;
    for (int64_t y = 0; y < gray->height; y++)
        memcpy(samples + y * gray->width, from + y * mask->width, (size_t)gray->width);
    free(gray->mask);
    gray->mask = samples;
    return true;
}

static bool decode(cli_input *input, io_picture *picture, io_color color,
                   const cli_operand *operand, const input_settings *settings, io_error *error)
{
    const io_request request = {
        .color = color, .deep = settings->depth != 8, .alpha = settings->alpha && color == IO_GRAY,
        .floats = IO_FLOATS_KEPT, .stored_orientation = settings->stored_orientation,
        .frugal = settings->max_memory > 0, .memory = settings->memory};
    if (!io_decode_as(&input->source, &request, &settings->limits, picture, error))
        return false;
    input->whole_width = picture->width;
    input->whole_height = picture->height;
    return (!operand->has_crop || io_crop_picture(picture, &operand->crop, error)) &&
           (!settings->depth || io_set_bits(picture, settings->depth, error));
}

static bool decode_whole(cli_input *input, const cli_operand *operand, const input_settings *settings,
                         io_error *error)
{
    return decode(input, &input->gray, IO_GRAY, operand, settings, error) &&
           (!settings->color || !input->gray.colored ||
            decode(input, &input->color, IO_RGB, operand, settings, error)) &&
           (!settings->mask || put_mask(input, operand, settings->mask, error));
}

bool input_read_rows(io_rows *rows, const io_crop *crop, io_color color, uint8_t *row,
                     int64_t count, uint8_t *to, ptrdiff_t stride, io_error *error)
{
    for (int64_t y = 0; y < count; y++, to += stride) {
        if (!io_rows_read(rows, row, error))
            return false;
        memcpy(to, row + crop->x * color, (size_t)(crop->width * color));
    }
    return true;
}

static bool open_for_rows(cli_input *input, io_color color, const input_settings *settings, io_error *error)
{
    const io_request request = {.color = color, .stored_orientation = settings->stored_orientation};
    return io_rows_open_as(&input->rows, &input->source, &request, &settings->limits, error);
}

/* Decodes a small part of a large picture; what lies below it is not even read. */
static bool decode_crop(cli_input *input, io_picture *picture, io_color color,
                        const io_picture *header, const cli_operand *operand, const input_settings *settings,
                        io_error *error)
{
    const io_crop *crop = &operand->crop;
    const size_t row_bytes = (size_t)(crop->width * color);
    uint8_t *row = malloc((size_t)(input->whole_width * color));
    uint8_t *samples = malloc(row_bytes * (size_t)crop->height);
    const bool good = row && samples && io_rows_skip(input->rows, crop->y, row, error) &&
                      input_read_rows(input->rows, crop, color, row, crop->height, samples,
                                      (ptrdiff_t)row_bytes, error);
    if (!row || !samples)
        strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
    free(row);
    *picture = *header;
    picture->samples = samples;
    picture->channels = color;
    io_rows_close(&input->rows);
    return good && (!settings->depth || io_set_bits(picture, settings->depth, error));
}

static bool decode_crops(cli_input *input, const cli_operand *operand, const input_settings *settings,
                         io_error *error)
{
    if (settings->alpha && input->gray.alpha_ignored) {
        strcpy(error->reason, "its transparency is read only where --max-memory has room for the "
                              "whole picture");
        return false;
    }
    const io_picture header = input->gray;
    return decode_crop(input, &input->gray, IO_GRAY, &header, operand, settings, error) &&
           (!settings->color || !header.colored ||
            (open_for_rows(input, IO_RGB, settings, error) &&
             decode_crop(input, &input->color, IO_RGB, &header, operand, settings, error))) &&
           (!settings->mask || put_mask(input, operand, settings->mask, error));
}

/* Whether there is memory for so many pixels until they are matched, with what is held beside them:
 * by the decoder, then while they are turned, then while they are matched. */
static bool fits(int64_t width, int64_t height, const io_rows *rows, const input_settings *settings)
{
    const bool color = settings->color && io_rows_colored(rows);
    const int size = io_rows_sample_size(rows), wanted = settings->depth / 8;
    const bool mask = settings->mask || (settings->alpha && io_rows_alpha_ignored(rows));
    const int64_t turning = io_rows_turned(rows) ? (color ? IO_RGB : IO_GRAY) * size : 0;
    const int64_t samples = (color ? IO_GRAY + IO_RGB : IO_GRAY) * (wanted > size ? wanted : size) + mask;
    int64_t beside = turning > io_rows_decoder_bytes(rows) ? turning : io_rows_decoder_bytes(rows);
    if (settings->decoder) /* another process hands out a copy of the samples */
        beside += samples;
    if (beside < settings->room.beside)
        beside = settings->room.beside;
    return width <= settings->room.bytes / (samples + beside) / height;
}

/* Whether a picture that does not fit in memory cannot be read by rows either, and why. */
static bool refuse_rows(const cli_input *input, const input_settings *settings, io_error *error)
{
    enum { ROW_BYTES = 9 }; /* a pixel in the decoder's two rows of RGBA, and in ours */
    const io_rows *rows = input->rows;
    const int64_t width = io_rows_width(rows), height = io_rows_height(rows);
    if (io_rows_whole(rows))
        snprintf(error->reason, sizeof error->reason,
                 "%s is decoded whole, and its %" PRId64 "x%" PRId64
                 " pixels are more than --max-memory has room for",
                 io_rows_whole(rows), width, height);
    else if (width > settings->room.bytes / ROW_BYTES)
        snprintf(error->reason, sizeof error->reason,
                 "a row of %" PRId64 " pixels is more than --max-memory has room for", width);
    else
        return false;
    return true;
}

/* Says of the picture what is known before it is decoded. */
static void describe_rows(cli_input *input, const input_settings *settings)
{
    const io_rows *rows = input->rows;
    input->whole_width = io_rows_width(rows);
    input->whole_height = io_rows_height(rows);
    input->gray = (io_picture){.width = input->whole_width,
                               .height = input->whole_height,
                               .channels = 1,
                               .format = io_rows_format(rows),
                               .colored = io_rows_colored(rows),
                               .alpha_ignored = io_rows_alpha_ignored(rows),
                               .orientation = io_rows_orientation(rows),
                               .as_stored = settings->stored_orientation};
}

/* Decides by the picture's size how it is read: whole, its crop only, or by rows while it is
 * matched. */
static bool open_rows(cli_input *input, const cli_operand *operand, const input_settings *settings,
                      io_error *error)
{
    if (!open_for_rows(input, IO_GRAY, settings, error))
        return decode_whole(input, operand, settings, error); /* it says what is wrong */
    const int64_t width = io_rows_width(input->rows), height = io_rows_height(input->rows);
    if (fits(width, height, input->rows, settings)) {
        io_rows_close(&input->rows);
        return decode_whole(input, operand, settings, error);
    }
    if (refuse_rows(input, settings, error))
        return false;
    describe_rows(input, settings);
    if (!operand->has_crop)
        return true;
    if (!io_check_crop(&operand->crop, width, height, error))
        return false;
    input->gray.width = operand->crop.width;
    input->gray.height = operand->crop.height;
    return !fits(operand->crop.width, operand->crop.height, input->rows, settings) ||
           decode_crops(input, operand, settings, error);
}

/* Which rows of a picture are needed. Where none are, as the maps have no such rows, one is read all the same:
 * matching says what is wrong with each template. */
static io_crop rows_needed(const input_part *p, int64_t width, int64_t height)
{
    const tm_part part = {.size = sizeof part, .frame_height = height, .first = p->first, .end = p->end};
    int64_t first = height, end = 0, top, bottom;

    for (size_t i = 0; i < p->count; i++) {
        if (tm_part_rows(p->domain, p->heights[i], &part, &top, &bottom) != TM_OK)
            continue;
        first = top < first ? top : first;
        end = bottom > end ? bottom : end;
    }
    return first < end ? (io_crop){width, end - first, 0, first} : (io_crop){width, 1, 0, 0};
}

/* Reads only the rows that are needed, where the format can be read by rows. */
static bool load_part(cli_input *input, const cli_operand *operand, const input_settings *settings,
                      io_error *error)
{
    cli_operand part = *operand;

    if (operand->has_crop) {
        strcpy(error->reason, "has a crop, and --rows is for whole frames");
        return false;
    }
    if (!open_for_rows(input, IO_GRAY, settings, error))
        return decode_whole(input, operand, settings, error); /* it says what is wrong */
    const int64_t width = io_rows_width(input->rows), height = io_rows_height(input->rows);
    part.has_crop = true;
    part.crop = rows_needed(settings->part, width, height);
    input->first_row = part.crop.y;
    if (io_rows_whole(input->rows)) {
        const bool room = settings->room.bytes == INT64_MAX || fits(width, height, input->rows, settings);
        if (!room && refuse_rows(input, settings, error))
            return false;
        io_rows_close(&input->rows);
        return decode_whole(input, &part, settings, error);
    }
    if (settings->room.bytes != INT64_MAX && !fits(width, part.crop.height, input->rows, settings)) {
        snprintf(error->reason, sizeof error->reason,
                 "--max-memory has no room for the %" PRId64 " rows of %" PRId64
                 " pixels that --rows needs: make the parts smaller",
                 part.crop.height, width);
        return false;
    }
    describe_rows(input, settings);
    input->gray.width = width;
    input->gray.height = part.crop.height;
    return decode_crops(input, &part, settings, error);
}

/* Opens the file, or takes over the bytes of a stream's picture, which are there already. */
static bool open_bytes(io_source *source, const char *path, cli_part *part, const input_settings *settings,
                        io_error *error)
{
    const stream_limits limits = {settings->limits.max_pixels, settings->max_memory, settings->max_wait_ms};
    if (part && cli_part_is_held(part)) {
        *source = part->held;
        part->held = (io_source){0};
        return true;
    }
    if (part && part->location.frame) {
        const io_movie_settings movie = {.max_pixels = limits.max_pixels, .max_memory = limits.max_memory,
                                         .max_ms = settings->max_ms};
        if (!settings->decoder)
            return io_movie_frame(source, path, part->location.frame, &movie, error);
        strcpy(error->reason, INPUT_NO_SANDBOX_FOR_MOVIES);
        return false;
    }
    if (part)
        return streams_admit(&limits, part->location.size, error) &&
               io_source_open_part(source, path, &part->location, error);
    if (io_is_stream(path))
        return streams_read_one(source, path, &limits, error);
    return settings->decoder ? io_source_map(source, path, error) : io_source_open(source, path, error);
}

static bool open_source(io_source *source, const char *path, cli_part *part, const input_settings *settings,
                        io_error *error)
{
    if (!open_bytes(source, path, part, settings, error))
        return false;
    source->decoder = settings->decoder;
    return true;
}

bool input_open(io_source *source, const cli_operand *operand, const input_settings *settings,
                io_error *error)
{
    return open_source(source, operand->path, operand->part, settings, error);
}

bool input_decode(cli_input *input, const cli_operand *operand, const input_settings *settings, io_error *error)
{
    return settings->part                      ? load_part(input, operand, settings, error)
           : settings->room.bytes == INT64_MAX ? decode_whole(input, operand, settings, error)
                                               : open_rows(input, operand, settings, error);
}

bool input_load(cli_input *input, const cli_operand *operand, const input_settings *settings,
                io_error *error)
{
    const double start = clock_ms();

    *input = (cli_input){0};
    error->passing = false;
    if (!operand->path) {
        *error = operand->error;
        return false;
    }
    if (!input_open(&input->source, operand, settings, error))
        return false;
    if (settings->max_ms > 0)
        input->source.deadline = start + settings->max_ms;
    input->opened = true;
    input->bytes = (int64_t)input->source.size;
    if (io_explain_foreign(&input->source, operand->path, settings->reader, error) ||
        !(input_stay_in_frame(input, operand, settings) ? true
          : settings->jpeg != INPUT_LIBJPEG             ? input_leave_to_device(input, operand, settings, error)
          : settings->stays                             ? input_stay_on_device(input, operand, settings, error)
                                                        : input_decode(input, operand, settings, error))) {
        /* another run may be luckier */
        input->opened = !io_source_lost(&input->source) && !io_source_late(&input->source, NULL) &&
                        !error->passing;
        input_free(input);
        return false;
    }
    input->read_ms = clock_ms() - start;
    return true;
}

void input_free(cli_input *input)
{
    io_rows_close(&input->rows);
    io_picture_free(&input->gray);
    io_picture_free(&input->color);
    io_source_close(&input->source);
    input->lent = (tm_image){0};
}

void input_describe(const cli_input *input, const cli_operand *operand)
{
    char crop[128] = "", orientation[48] = "", decoder[96] = "";
    if (input->gray.orientation)
        snprintf(orientation, sizeof orientation, ", EXIF orientation %d%s",
                 input->gray.orientation, input->gray.as_stored ? " ignored" : "");
    if (operand->has_crop)
        snprintf(crop, sizeof crop, ", cropped to %" PRId64 "x%" PRId64 "+%" PRId64 "+%" PRId64,
                 operand->crop.width, operand->crop.height, operand->crop.x, operand->crop.y);
    if (*input->obstacle)
        snprintf(decoder, sizeof decoder, ", by libjpeg: %s", input->obstacle);
    else if (input->undecoded)
        strcpy(decoder, ", by nvJPEG");
    else if (input->place.size)
        strcpy(decoder, ", by NVDEC");
    message_info(operand_name(operand), "%s, %" PRId64 "x%" PRId64 "%s%s%s%s%s%s", input->gray.format,
            input->whole_width, input->whole_height, input->gray.bits == 32   ? ", floats"
            : input->gray.bits == 16 ? ", 16 bits"
                                     : "",
            orientation, crop, input->gray.mask ? ", masked" : "",
            input->gray.alpha_ignored ? ", alpha ignored" : "", decoder);
}

tm_image input_image(const cli_input *input, bool color)
{
    const io_picture *p = color ? &input->color : &input->gray;
    if (!color && input->lent.samples)
        return input->lent;
    return (tm_image){.samples = p->samples,
                      .width = p->width,
                      .height = p->height,
                      .stride = (ptrdiff_t)(p->width * p->channels * io_sample_size(p)),
                      .type = p->bits == 32   ? TM_SAMPLE_F32
                              : p->bits == 16 ? TM_SAMPLE_U16
                                              : TM_SAMPLE_U8,
                      .channels = p->channels,
                      .mask = input->gray.mask,
                      .mask_stride = (ptrdiff_t)p->width};
}

tm_device_image input_view(const cli_input *input, bool color)
{
    return input->place.size ? input->place : (tm_device_image){.image = input_image(input, color)};
}
