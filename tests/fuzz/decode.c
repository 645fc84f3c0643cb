/* SPDX-License-Identifier: MIT */
/* A picture of the format TARGET_FORMAT, decoded whole and by rows, which have to agree, with memory
 * that runs out and without, cropped, shown, and written as PNG. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "io/format.h"

/* Where they get no memory, libtiff loses what it has, and libwebp 1.2.4 dies. */
#ifndef LIBRARY_NEEDS_MEMORY
#define LIBRARY_NEEDS_MEMORY false
#endif

enum { MOST_PIXELS = 1 << 16, MOST_PAGES = 4 };

typedef struct how {
    io_request request;
    io_limits limits;
    unsigned failing; /* the allocation that fails */
    bool crop, again, late, frugal;
    int bits; /* that samples become, or 0 */
} how;

static void *take(io_memory *memory, size_t size)
{
    (void)memory;
    return size % 2 ? NULL : malloc(size);
}

static void give_back(io_memory *memory, void *data)
{
    (void)memory;
    free(data);
}

static how read_control(uint32_t control)
{
    static const int bits[] = {0, 8, 16, 32};
    static io_memory memory = {take, give_back};
    return (how){.request = {.color = control & 1 ? IO_RGB : IO_GRAY,
                             .deep = control & 2,
                             .alpha = control & 4,
                             .floats = (io_floats)((control >> 3 & 3) % 3),
                             .stored_orientation = control & 32,
                             .memory = control & 64 ? &memory : NULL},
                 .crop = control & 128,
                 .again = control & 256,
                 .limits = {control & 512 ? (control >> 10 & 63) + 1 : MOST_PIXELS},
                 .failing = control >> 16 & 255,
                 .late = control >> 24 & 1,
                 .frugal = control >> 27 & 1,
                 .bits = bits[control >> 25 & 3]};
}

static bool decode(const io_source *source, const how *h, io_picture *picture, io_error *error)
{
    error->reason[0] = '\0';
    const bool good = io_decode_as(source, &h->request, &h->limits, picture, error);
    if (!good) {
        FUZZ_CHECK(error->reason[0] && strlen(error->reason) < sizeof error->reason);
        return false;
    }
    FUZZ_CHECK(picture->width > 0 && picture->height > 0 && picture->samples);
    FUZZ_CHECK(picture->width <= h->limits.max_pixels / picture->height);
    FUZZ_CHECK(picture->channels == (int)h->request.color);
    FUZZ_CHECK(picture->bits == 0 || picture->bits == 8 || (picture->bits == 16 && h->request.deep) ||
               (picture->bits == 32 && h->request.floats == IO_FLOATS_KEPT));
    FUZZ_CHECK(!picture->mask || (h->request.alpha && !picture->alpha_ignored));
    FUZZ_CHECK(picture->orientation == 0 || (picture->orientation >= 2 && picture->orientation <= 8));
    return true;
}

/* What rows make of the file is what decoding it whole makes of it. */
static void compare_rows(io_source *source, const how *h)
{
    how plain = *h;
    plain.request = (io_request){.color = h->request.color, .stored_orientation = h->request.stored_orientation};
    io_picture whole;
    io_rows *rows;
    io_error error = {.reason = ""};
    const bool good = decode(source, &plain, &whole, &error);

    if (!io_rows_open_as(&rows, source, &plain.request, &plain.limits, &error)) {
        FUZZ_CHECK(error.reason[0] && !good);
        return;
    }
    const int64_t width = io_rows_width(rows), height = io_rows_height(rows);
    FUZZ_CHECK(width > 0 && height > 0 && width <= plain.limits.max_pixels / height);
    FUZZ_CHECK(!good || (whole.width == width && whole.height == height));
    FUZZ_CHECK(!good || (io_rows_colored(rows) == whole.colored && io_rows_alpha_ignored(rows) == whole.alpha_ignored));
    FUZZ_CHECK(!good || strcmp(io_rows_format(rows), whole.format) == 0);
    FUZZ_CHECK(!good || io_rows_orientation(rows) == whole.orientation);
    FUZZ_CHECK(io_rows_decoder_bytes(rows) >= 0 && io_rows_sample_size(rows) >= 1 && io_rows_sample_size(rows) <= 4);
    const size_t stride = (size_t)(width * plain.request.color);
    uint8_t *row = malloc(stride);
    FUZZ_CHECK(row);
    bool by_rows = !io_rows_whole(rows);
    for (int64_t y = 0; y < height && by_rows; y++) {
        error.reason[0] = '\0';
        by_rows = io_rows_read(rows, row, &error);
        FUZZ_CHECK(by_rows || (error.reason[0] && !good));
        FUZZ_CHECK(!by_rows || !good || memcmp(row, whole.samples + (size_t)y * stride, stride) == 0);
    }
    FUZZ_CHECK(!by_rows || good);
    free(row);
    io_rows_close(&rows);
    if (good)
        io_picture_free(&whole);
}

/* What takes memory to be faster makes the same of the file. */
static void compare_frugal(const io_source *source, const how *h)
{
    how frugal = *h;
    io_picture a, b;
    io_error a_error, b_error;
    frugal.request.frugal = true;
    const bool good = decode(source, h, &a, &a_error);
    FUZZ_CHECK(decode(source, &frugal, &b, &b_error) == good);
    if (!good) {
        FUZZ_CHECK(strcmp(a_error.reason, b_error.reason) == 0);
        return;
    }
    const size_t pixels = (size_t)(a.width * a.height);
    FUZZ_CHECK(a.width == b.width && a.height == b.height && io_sample_size(&a) == io_sample_size(&b));
    FUZZ_CHECK(a.colored == b.colored && a.alpha_ignored == b.alpha_ignored && !a.mask == !b.mask);
    FUZZ_CHECK(memcmp(a.samples, b.samples, pixels * (size_t)(a.channels * io_sample_size(&a))) == 0);
    FUZZ_CHECK(!a.mask || memcmp(a.mask, b.mask, pixels) == 0);
    io_picture_free(&a);
    io_picture_free(&b);
}

/* Writes the picture as PNG, and reads the same again. */
static void write_and_read(const io_picture *picture)
{
    char *data = NULL;
    size_t size;
    io_picture again;
    io_error error;
    FILE *file = open_memstream(&data, &size);
    FUZZ_CHECK(file && io_encode(picture, "again.png", file, &error) && fclose(file) == 0);
    const io_source source = {.data = (uint8_t *)data, .size = size};
    const io_request request = {.color = (io_color)picture->channels, .deep = true};
    FUZZ_CHECK(io_decode_as(&source, &request, &(io_limits){INT64_MAX}, &again, &error));
    FUZZ_CHECK(io_sample_size(&again) == io_sample_size(picture) && again.width == picture->width);
    const size_t count = (size_t)(picture->width * picture->height * picture->channels);
    FUZZ_CHECK(memcmp(again.samples, picture->samples, count * (size_t)io_sample_size(picture)) == 0);
    io_picture_free(&again);
    free(data);
}

static void write_small(const io_picture *picture)
{
    char *data = NULL;
    size_t size;
    io_error error;
    FILE *file = open_memstream(&data, &size);
    FUZZ_CHECK(file && io_write_thumbnail(picture, 40, file, &error) && fclose(file) == 0 && size > 0);
    free(data);
}

static void use(io_picture *picture, const how *h)
{
    io_error error;
    io_picture small;
    if (h->crop) {
        const io_crop crop = {picture->width - picture->width / 3, picture->height - picture->height / 3,
                              picture->width / 3, picture->height / 3};
        FUZZ_CHECK(io_crop_picture(picture, &crop, &error));
    }
    if (h->again && picture->bits != 32)
        write_and_read(picture);
    if (h->bits && (picture->bits != 32 || h->bits == 32)) {
        FUZZ_CHECK(io_set_bits(picture, h->bits, &error));
        FUZZ_CHECK(picture->bits == h->bits);
    }
    io_show(picture);
    if (h->bits)
        write_small(picture);
    if (h->again && io_shrink(picture, 7, 5, &small, &error)) {
        FUZZ_CHECK(small.width <= 7 && small.height <= 5);
        io_picture_free(&small);
    }
}

/* What cannot be decoded in time is an error. */
static void come_late(io_source *source, const how *h)
{
    io_picture picture;
    io_error error;
    source->deadline = 1;
    FUZZ_CHECK(!decode(source, h, &picture, &error));
    source->deadline = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const how h = read_control(fuzz_control(data, &size));
    if (!TARGET_FORMAT.probe(data, size))
        return 0;
    uint8_t *copy = fuzz_copy(data, size, false);
    io_source source = {.data = copy, .size = size};
    io_picture picture;
    io_error error;

    if (h.failing) {
        fuzz_fail_allocation(h.failing, LIBRARY_NEEDS_MEMORY);
        const bool good = decode(&source, &h, &picture, &error);
        fuzz_allocations_succeed();
        if (good)
            io_picture_free(&picture);
    }
    if (h.late)
        come_late(&source, &h);
    const int64_t pages = io_count_pages(&source);
    for (source.page = 0; source.page < pages && source.page < MOST_PAGES; source.page++) {
        compare_rows(&source, &h);
        if (h.frugal)
            compare_frugal(&source, &h);
        if (!decode(&source, &h, &picture, &error))
            continue;
        use(&picture, &h);
        io_picture_free(&picture);
    }
    free(copy);
    return 0;
}
