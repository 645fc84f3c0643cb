/* SPDX-License-Identifier: MIT */
#include "run/mask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

/* Makes the mask a byte a pixel, 0 where all samples of the pixel are 0; in place. */
static void flatten(io_picture *mask)
{
    const int64_t count = mask->width * mask->height;
    const uint16_t *deep = mask->bits == 16 ? (const uint16_t *)(const void *)mask->samples : NULL;

    for (int64_t i = 0; i < count; i++) {
        bool set = false;
        for (int64_t k = i * mask->channels; k < (i + 1) * mask->channels; k++)
            set |= deep ? deep[k] != 0 : mask->samples[k] != 0;
        mask->samples[i] = set ? 255 : 0;
    }
    mask->channels = IO_GRAY;
    mask->bits = 8;
}

/* Decodes the mask as deep as the file is, and in colour: reduced to 8 bits or luma, small values
 * would become 0. */
static bool decode(const io_source *source, const input_settings *settings, io_picture *mask,
                   io_error *error)
{
    io_request request = {
        .color = IO_GRAY, .deep = true, .stored_orientation = settings->stored_orientation,
        .frugal = settings->max_memory > 0};
    if (!io_decode_as(source, &request, &settings->limits, mask, error))
        return false;
    if (mask->colored) {
        io_picture_free(mask);
        request.color = IO_RGB;
        if (!io_decode_as(source, &request, &settings->limits, mask, error))
            return false;
    }
    return true;
}

/* A mask is decoded whole, as deep as it is. Of the file only the size is read here. */
static bool has_room(io_source *source, const input_settings *settings, io_error *error)
{
    const io_request request = {.color = IO_GRAY, .stored_orientation = settings->stored_orientation};
    io_rows *rows;
    if (!settings->max_memory)
        return true;
    if (!io_rows_open_as(&rows, source, &request, &settings->limits, error))
        return false;
    const int64_t width = io_rows_width(rows), height = io_rows_height(rows);
    const int64_t pixel = io_rows_sample_size(rows) * (io_rows_colored(rows) ? IO_RGB : IO_GRAY) + io_rows_decoder_bytes(rows);
    const bool fits = width <= settings->max_memory / pixel / height;
    io_rows_close(&rows);
    if (!fits)
        snprintf(error->reason, sizeof error->reason,
                 "a mask of %" PRId64 "x%" PRId64 " pixels is more than --max-memory has room for", width, height);
    return fits;
}

static bool load(cli_mask *mask, const input_settings *settings, bool quiet, io_error *error)
{
    const cli_operand *operand = &mask->operand;
    io_source source;

    if (!operand->path) {
        *error = operand->error;
        return false;
    }
    if (!input_open(&source, operand, settings, error))
        return false;
    const bool good = !io_explain_foreign(&source, operand->path, "FRAME TEMPLATE --mask -", error) &&
                      has_room(&source, settings, error) && decode(&source, settings, &mask->picture, error) &&
                      (!operand->has_crop || io_crop_picture(&mask->picture, &operand->crop, error));
    if (good && !quiet && io_rest_of(&source) != IO_REST_NONE)
        message_note(operand_name(operand), "holds several pictures, of which the first is the mask");
    io_source_close(&source);
    if (good)
        flatten(&mask->picture);
    return good;
}

bool mask_load(cli_mask *mask, const char *name, const input_settings *settings, bool quiet)
{
    io_error error;

    *mask = (cli_mask){.frames = {.one_each = "a mask"}};
    if (!frames_add_file(&mask->frames, (cli_frame){.path = strdup(name), .named = true})) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    operand_init(&mask->operand, mask->frames.list);
    if (load(mask, settings, quiet, &error))
        return true;
    message(operand_name(&mask->operand), "%s", error.reason);
    return false;
}

void masks_free(cli_masks *masks)
{
    cli_mask *const both[] = {&masks->tmpl, &masks->frame};
    for (int i = 0; i < 2; i++) {
        io_picture_free(&both[i]->picture);
        operand_free(&both[i]->operand);
        frames_free(&both[i]->frames);
    }
}
