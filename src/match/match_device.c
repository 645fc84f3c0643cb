/* SPDX-License-Identifier: MIT */
/* The public API: frames and templates in the memory of a CUDA device. They are checked here and
 * matched as others are, by the one device. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "match/matcher.h"
#include "match/settings.h"

/* What a caller gave, as the rest of the library takes it. */
typedef struct device_picture {
    tm_image image;
    tm_on_device place;
} device_picture;

/* A caller built against an older header has a shorter struct. */
static const char *read_image(device_picture *p, const tm_device_image *given)
{
    tm_device_image d = {0};

    if (!given)
        return "no picture";
    if (given->size < sizeof given->size)
        return "the picture in a device's memory lacks its size";
    memcpy(&d, given, given->size < sizeof d ? given->size : sizeof d);
    const char *fault = tm_picture_fault(&d.image);
    if (fault)
        return fault;
    const int64_t size = tm_sample_size(d.image.type);
    const int channels = tm_image_channels(&d.image);
    p->image = d.image;
    p->place = (tm_on_device){
        .device = d.device,
        .stream = d.stream,
        .samples = d.image.samples,
        .pixel_stride = d.pixel_stride ? d.pixel_stride : (ptrdiff_t)(channels * size),
        .channel_stride = d.channel_stride ? d.channel_stride : (ptrdiff_t)size,
    };
    if (!tm_span_fits(p->image.stride, p->image.height) ||
        !tm_span_fits(p->place.pixel_stride, p->image.width) ||
        !tm_span_fits(p->place.channel_stride, channels) ||
        (p->image.mask && !tm_span_fits(p->image.mask_stride, p->image.height)))
        return "a picture's strides are beyond all memory";
    if ((uintptr_t)p->image.samples % (uintptr_t)size || p->image.stride % size ||
        p->place.pixel_stride % size || p->place.channel_stride % size)
        return "samples must lie at addresses that are multiples of their size";
    return NULL;
}

tm_status tm_matcher_open_devices(tm_matcher *m)
{
    if (m->settings.device == TM_DEVICE_CPU)
        return tm_matcher_fail(m, TM_ERR_INVALID,
                               "this is about a device's memory, and the matcher is of the CPU");
    if (m->settings.algorithm == TM_ALGORITHM_REFERENCE)
        return tm_matcher_fail(m, TM_ERR_INVALID,
                               "this is about a device's memory, and the reference algorithm runs on "
                               "the CPU only");
    return m->pool ? TM_OK : tm_matcher_open_cuda(m);
}

tm_status tm_device_memory_alloc(tm_matcher *matcher, int device, size_t size, void **memory)
{
    if (!matcher)
        return TM_ERR_INVALID;
    if (!memory || !size)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    const tm_status status = tm_matcher_open_devices(matcher);
    return status == TM_OK ? tm_pool_device_alloc(matcher->pool, device, size, memory, &matcher->message)
                           : status;
}

void tm_device_memory_free(tm_matcher *matcher, int device, void *memory)
{
    if (matcher && matcher->pool && memory)
        tm_pool_device_free(matcher->pool, device, memory);
}

static tm_status begin(tm_matcher *m, device_picture *p, const tm_device_image *given)
{
    const char *fault = read_image(p, given);

    if (fault)
        return tm_matcher_fail(m, TM_ERR_INVALID, "%s", fault);
    return tm_matcher_open_devices(m);
}

tm_status tm_template_create_device(tm_template **tmpl, tm_matcher *matcher,
                                    const tm_device_image *image)
{
    device_picture p;

    if (!tmpl || !matcher)
        return TM_ERR_INVALID;
    tm_status status = begin(matcher, &p, image);
    if (status == TM_OK)
        status = tm_template_pixels(matcher, &p.image);
    if (status != TM_OK)
        return status;
    tm_image copy = p.image;
    copy.stride = (ptrdiff_t)tm_image_row_bytes(&copy);
    copy.mask_stride = (ptrdiff_t)copy.width;
    uint8_t *samples = malloc((size_t)(copy.stride * copy.height));
    uint8_t *mask = copy.mask ? malloc((size_t)(copy.width * copy.height)) : NULL;
    if (!samples || (copy.mask && !mask)) {
        status = tm_matcher_fail_plain(matcher, TM_ERR_MEMORY);
    } else {
        status = tm_pool_fetch(matcher->pool, &p.image, &p.place, samples, mask, &matcher->message);
        copy.samples = samples;
        copy.mask = mask;
        if (status == TM_OK)
            status = tm_template_create(tmpl, matcher, &copy);
    }
    free(samples);
    free(mask);
    return status;
}

tm_status tm_match_device(tm_matcher *matcher, const tm_device_image *frame,
                          const tm_template *const *tmpls, size_t count, tm_peak *best,
                          const tm_map *maps)
{
    device_picture p;

    if (!matcher)
        return TM_ERR_INVALID;
    tm_status status = begin(matcher, &p, frame);
    if (status != TM_OK)
        return status;
    matcher->on_device = &p.place;
    status = tm_match_many(matcher, &p.image, tmpls, count, best, maps);
    matcher->on_device = NULL;
    return status;
}

tm_status tm_match_device_peaks(tm_matcher *matcher, const tm_device_image *frame,
                                const tm_template *const *tmpls, size_t count,
                                const tm_search *search, tm_hits *hits, const tm_map *maps)
{
    device_picture p;

    if (!matcher)
        return TM_ERR_INVALID;
    if (!hits)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    for (size_t i = 0; i < count; i++)
        hits[i] = (tm_hits){0};
    tm_status status = begin(matcher, &p, frame);
    if (status != TM_OK)
        return status;
    matcher->on_device = &p.place;
    status = tm_match_peaks(matcher, &p.image, tmpls, count, search, hits, maps);
    matcher->on_device = NULL;
    return status;
}

tm_status tm_match_device_async(tm_matcher *matcher, const tm_device_image *frame,
                                const tm_template *const *tmpls, size_t count, tm_peak *best,
                                const tm_map *maps)
{
    const double start = clock_ms();
    device_picture p;
    tm_job *jobs;

    if (!matcher)
        return TM_ERR_INVALID;
    tm_status status = begin(matcher, &p, frame);
    if (status != TM_OK)
        return status;
    if ((uintptr_t)best % _Alignof(tm_peak))
        return tm_matcher_fail(matcher, TM_ERR_INVALID,
                               "best matches must lie at an address that is a multiple of %d",
                               (int)_Alignof(tm_peak));
    p.place.async = true;
    p.place.bests = best;
    matcher->on_device = &p.place;
    status = tm_matcher_prepare(matcher, &p.image, tmpls, count, maps, &jobs);
    if (status == TM_OK)
        status = tm_matcher_run(matcher, jobs, count);
    matcher->on_device = NULL;
    if (status == TM_OK)
        matcher->times.total = clock_ms() - start;
    return status;
}
