/* SPDX-License-Identifier: MIT */
/* The input as a name: crops, endings, and files that other programs read. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "io/format.h"

static void split(const char *operand, uint32_t control)
{
    char *path;
    io_crop crop = {0};
    bool has_crop;
    io_error error = {.reason = ""};
    fuzz_fail_allocation(control & 3, false);
    const bool good = io_split_crop(operand, &path, &crop, &has_crop, &error);
    const bool starved = fuzz_allocations_succeed();
    if (!good) {
        FUZZ_CHECK(error.reason[0] && (starved || strrchr(operand, '[')));
        return;
    }
    const size_t length = strlen(path);
    FUZZ_CHECK(strncmp(operand, path, length) == 0 && (operand[length] == '\0') == !has_crop);
    if (has_crop) {
        FUZZ_CHECK(operand[length] == '[' && crop.width > 0 && crop.height > 0 && crop.x >= 0 && crop.y >= 0);
        const int64_t width = control >> 8 & 15, height = control >> 12 & 15;
        const bool inside = io_check_crop(&crop, width, height, &error);
        FUZZ_CHECK(inside == ((__int128)crop.x + crop.width <= width && (__int128)crop.y + crop.height <= height));
    }
    free(path);
}

static void cut(const io_crop *crop)
{
    enum { SIDE = 16 };
    io_error error;
    uint8_t *samples = malloc(SIDE * SIDE);
    FUZZ_CHECK(samples);
    for (int i = 0; i < SIDE * SIDE; i++)
        samples[i] = (uint8_t)i;
    io_picture picture = {.width = SIDE, .height = SIDE, .channels = 1, .bits = 8, .samples = samples};
    if (io_crop_picture(&picture, crop, &error)) {
        FUZZ_CHECK(picture.width == crop->width && picture.height == crop->height);
        for (int64_t i = 0; i < crop->width * crop->height; i++)
            FUZZ_CHECK(picture.samples[i] == (crop->y + i / crop->width) * SIDE + crop->x + i % crop->width);
    }
    io_picture_free(&picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t control = fuzz_control(data, &size);
    char *name = (char *)fuzz_copy(data, size, true);
    uint8_t *copy = fuzz_copy(data, size, false);
    const io_source source = {.data = copy, .size = size};
    io_error error;
    int64_t numbers[4] = {0};

    split(name, control);
    memcpy(numbers, data, size < sizeof numbers ? size : sizeof numbers);
    cut(&(io_crop){numbers[0], numbers[1], numbers[2], numbers[3]});
    cut(&(io_crop){numbers[0] & 31, numbers[1] & 31, numbers[2] & 31, numbers[3] & 31});
    error.reason[0] = '\0';
    if (io_explain_foreign(&source, name, control & 1 ? "- TEMPLATE" : "FRAME -", &error))
        FUZZ_CHECK(error.reason[0] && strlen(error.reason) < sizeof error.reason);
    error.reason[0] = '\0';
    FUZZ_CHECK(io_can_write(name, &error) || error.reason[0]);
    FUZZ_CHECK(!io_is_picture_name(name) || io_named_format(name));
    io_foreign_ending(name);
    io_may_have_pages(name, control & 1);
    free(copy);
    free(name);
    return 0;
}
