/* SPDX-License-Identifier: MIT */
/* The public API without a matcher: defaults, checks, names of errors, and which devices there are. */
#include "match/settings.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cpu/cpu.h"
#include "match/cuda_loader.h"

const char *tm_version(void)
{
    return TM_VERSION;
}

const char *tm_strerror(tm_status status)
{
    switch (status) {
    case TM_OK:
        return "no error";
    case TM_ERR_INVALID:
        return "invalid argument";
    case TM_ERR_MEMORY:
        return "out of memory";
    case TM_ERR_FLAT_TEMPLATE:
        return "flat template: all its samples are equal, or none counts, so it correlates with nothing";
    case TM_ERR_TEMPLATE_TOO_LARGE:
        return "template too large for exact 64-bit sums";
    case TM_ERR_FRAME_TOO_SMALL:
        return "template larger than the frame";
    case TM_ERR_NO_DEVICE:
        return "no such device";
    case TM_ERR_DEVICE_MEMORY:
        return "out of device memory";
    case TM_ERR_DEVICE:
        return "device failure";
    case TM_ERR_NO_POSITION:
        return "the frame's mask leaves no position";
    case TM_ERR_ROWS:
        return "the frame's rows were not delivered, or the map's not taken";
    }
    return "unknown status";
}

void tm_settings_default(tm_settings *settings, size_t size)
{
    tm_settings defaults = {.size = size, .cpu_features = UINT32_MAX};
    if (settings && size >= sizeof settings->size)
        memcpy(settings, &defaults, size < sizeof defaults ? size : sizeof defaults);
}

void tm_search_default(tm_search *search, size_t size)
{
    tm_search defaults = {.size = size, .min_score = NAN, .overlap = 0.3, .peaks = 1 << 20};
    if (search && size >= sizeof search->size)
        memcpy(search, &defaults, size < sizeof defaults ? size : sizeof defaults);
}

const char *tm_search_read(tm_search *s, const tm_search *given)
{
    if (!given || given->size < sizeof given->size)
        return tm_strerror(TM_ERR_INVALID);
    tm_search_default(s, sizeof *s);
    memcpy(s, given, given->size < sizeof *s ? given->size : sizeof *s);
    if (s->most < 0)
        return "a number of matches is never negative";
    if (!(s->overlap >= 0 && s->overlap <= 1))
        return "an overlap is from 0 to 1";
    if (s->peaks < 1 || s->peaks > INT32_MAX)
        return "peaks must be 1 to 2147483647";
    if (!(s->margin_ratio >= 0 && s->margin_ratio < 1))
        return "a margin's ratio is 0, or above 0 and below 1";
    return NULL;
}

const char *tm_settings_fault(const tm_settings *s)
{
    if (!tm_metric_name(s->metric))
        return "no such metric";
    if (s->domain < TM_DOMAIN_VALID || s->domain > TM_DOMAIN_FULL)
        return "no such domain";
    if (s->algorithm < TM_ALGORITHM_AUTO || s->algorithm > TM_ALGORITHM_CUFFT)
        return "no such algorithm";
    if (s->device < TM_DEVICE_AUTO || s->device > TM_DEVICE_CUDA)
        return "no such kind of device";
    if (s->device_index < 0)
        return "a device index is never negative";
    if (s->device_memory < 0 || s->host_memory < 0)
        return "a limit of memory is never negative";
    if (!(s->device_timeout >= 0 && s->device_timeout <= 1e9))
        return "a limit of time is 0 to 1e9 seconds";
    if (s->threads < 0 || s->threads > 4096)
        return "threads must be 0 to 4096";
    if (s->strategy < TM_STRATEGY_AUTO || s->strategy > TM_STRATEGY_PYRAMID)
        return "no such strategy";
    if (s->strategy == TM_STRATEGY_CERTIFIED && s->algorithm != TM_ALGORITHM_AUTO &&
        s->algorithm != TM_ALGORITHM_DIRECT)
        return "certified search is of the direct algorithm";
    if (s->strategy == TM_STRATEGY_PYRAMID && s->algorithm != TM_ALGORITHM_AUTO &&
        s->algorithm != TM_ALGORITHM_DIRECT)
        return "pyramid search is of the direct algorithm";
    if (s->strategy == TM_STRATEGY_PYRAMID && s->device == TM_DEVICE_CUDA)
        return "pyramid search runs on the CPU only";
    if (s->algorithm == TM_ALGORITHM_REFERENCE && s->device == TM_DEVICE_CUDA)
        return "the reference algorithm runs on the CPU only";
    if (s->algorithm == TM_ALGORITHM_CUFFT && s->device == TM_DEVICE_CPU)
        return "the cufft algorithm runs on CUDA devices only";
    return NULL;
}

/* Whether rows of so many bytes can lie a stride apart, in either direction. */
static bool fits(ptrdiff_t stride, int64_t row, int64_t height)
{
    ptrdiff_t span;
    return height == 1 || ((stride >= row || stride <= -row) &&
                           !__builtin_mul_overflow(stride, height, &span));
}

bool tm_span_fits(ptrdiff_t stride, int64_t count)
{
    ptrdiff_t span;
    return !__builtin_mul_overflow(stride, count, &span) && span > -PTRDIFF_MAX / 4 && span < PTRDIFF_MAX / 4;
}

const char *tm_picture_fault(const tm_image *image)
{
    if (!image || !image->samples)
        return "no picture";
    if (image->width < 1 || image->height < 1 || image->width > INT32_MAX ||
        image->height > INT32_MAX)
        return "a picture's width and height must be 1 to 2147483647";
    if (!tm_sample_type_name(image->type))
        return "no such type of samples";
    if (image->channels < 0 || image->channels > TM_MAX_CHANNELS)
        return "a picture has 1 to 4 channels";
    return NULL;
}

const char *tm_image_fault(const tm_image *image)
{
    const char *fault = tm_picture_fault(image);
    if (fault)
        return fault;
    const int64_t size = tm_sample_size(image->type);
    if (!fits(image->stride, tm_image_row_bytes(image), image->height))
        return "a picture's stride must be at least its width";
    if ((uintptr_t)image->samples % (uintptr_t)size || (image->height > 1 && image->stride % size))
        return "samples must lie at addresses that are multiples of their size";
    if (image->mask && !fits(image->mask_stride, image->width, image->height))
        return "a mask's stride must be at least its width";
    return NULL;
}

const char *tm_map_fault(const tm_map *map, int64_t width, int64_t height, size_t element)
{
    if (!map->data)
        return NULL;
    if ((uintptr_t)map->data % element)
        return "a map must lie at an address that is a multiple of its element's size";
    if (height > 1 && (map->stride < 0 || map->stride % (int64_t)element ||
                       !fits(map->stride, width * (int64_t)element, height)))
        return "a map's stride must be at least its row, and a multiple of its element";
    return NULL;
}

tm_status tm_list_devices(tm_device_info *devices, size_t capacity, size_t *count, char *why,
                          size_t why_size)
{
    tm_cuda_library library = {0};
    tm_message message = {""};
    int cuda_devices = 0;

    if (!count || (capacity && !devices))
        return TM_ERR_INVALID;
    if (capacity)
        tm_cpu_backend()->describe(0, &devices[0], &message);
    *count = 1;
    if (tm_cuda_load(&library, &message) == TM_OK)
        cuda_devices = library.plugin->count(&message);
    for (int i = 0; i < cuda_devices; i++) {
        tm_device_info info = {.kind = TM_DEVICE_CUDA, .index = i};
        if (library.plugin->describe(i, &info, &message) != TM_OK)
            snprintf(info.name, sizeof info.name, "%.100s", message.text);
        if (*count < capacity)
            devices[*count] = info;
        ++*count;
    }
    tm_cuda_unload(&library);
    if (why && why_size)
        snprintf(why, why_size, "%s", cuda_devices ? "" : message.text);
    return TM_OK;
}
