/* SPDX-License-Identifier: MIT */
#include "device_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "lcc/lcc.h"

/* Rows that lie apart, or upside down; pixels that lie apart, or mirrored; and channels in planes. */
static void choose_layout(placed_picture *p, const tm_image *image, ptrdiff_t *first)
{
    const ptrdiff_t size = (ptrdiff_t)tm_sample_size(image->type);
    const int channels = tm_image_channels(image);
    const bool planar = check_random() % 3 == 0, usual = check_random() % 3 == 0;
    const ptrdiff_t pixel = planar ? size : size * (channels + (check_random() % 4 ? 0 : check_random_in(1, 2)));
    const ptrdiff_t row = pixel * image->width + size * (check_random() % 2 ? 0 : check_random_in(1, 70));
    tm_device_image *d = &p->image;

    d->pixel_stride = pixel;
    d->channel_stride = planar ? row * image->height : size;
    d->image.stride = row;
    *first = size * check_random_in(0, 5);
    p->size = (size_t)(*first + row * image->height * (planar ? channels : 1));
    if (usual && pixel == size * channels && !planar)
        d->pixel_stride = d->channel_stride = 0;
    else if (check_random() % 4 == 0) {
        *first += (image->width - 1) * pixel;
        d->pixel_stride = -pixel;
    }
    if (check_random() % 4 == 0) {
        *first += (image->height - 1) * row;
        d->image.stride = -row;
    }
}

static void fill(placed_picture *p, const tm_image *image, ptrdiff_t first)
{
    const ptrdiff_t size = (ptrdiff_t)tm_sample_size(image->type);
    const int channels = tm_image_channels(image);
    const tm_device_image *d = &p->image;
    const ptrdiff_t pixel = d->pixel_stride ? d->pixel_stride : size * channels,
                    channel = d->channel_stride ? d->channel_stride : size;

    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < channels; c++)
                memcpy(p->copy + first + y * d->image.stride + x * pixel + c * channel,
                       image->samples + y * image->stride + (x * channels + c) * size, (size_t)size);
}

void place_picture(placed_picture *p, const tm_image *image, int device, void *stream)
{
    ptrdiff_t first, first_mask = 0;

    *p = (placed_picture){.image = {.size = sizeof p->image, .image = *image, .device = device, .stream = stream}};
    choose_layout(p, image, &first);
    if (image->mask) {
        first_mask = (ptrdiff_t)p->size;
        p->image.image.mask_stride = (ptrdiff_t)(image->width + check_random_in(0, 9));
        p->size += (size_t)(p->image.image.mask_stride * image->height);
    }
    p->memory = device_alloc(device, p->size);
    p->copy = device_alloc_host(p->size);
    p->noise = device_alloc_host(p->size);
    for (size_t i = 0; i < p->size; i++) {
        p->copy[i] = (uint8_t)check_random();
        p->noise[i] = (uint8_t)(~p->copy[i] & 0x3f); /* and no float that is not finite */
    }
    fill(p, image, first);
    p->image.image.samples = p->memory + first;
    if (!image->mask)
        return;
    p->image.image.mask = p->memory + first_mask;
    for (int64_t y = 0; y < image->height; y++)
        memcpy(p->copy + first_mask + y * p->image.image.mask_stride, image->mask + y * image->mask_stride,
               (size_t)image->width);
}

void put_picture(const placed_picture *p)
{
    device_put(p->memory, p->copy, p->size, p->image.stream);
}

void spoil_picture(const placed_picture *p)
{
    device_put(p->memory, p->noise, p->size, p->image.stream);
}

void placed_picture_free(placed_picture *p)
{
    device_free(p->memory);
    device_free_host(p->copy);
    device_free_host(p->noise);
}

tm_matcher *kept_matcher(const kind_problem *p, const tm_settings *settings)
{
    enum { KEPT = 200 };
    static struct {
        tm_matcher *matcher;
        tm_settings settings;
    } kept[KEPT];
    tm_settings own = *settings;
    int i = 0;

    own.metric = p->metric;
    own.domain = p->domain;
    while (i < KEPT && kept[i].matcher && memcmp(&kept[i].settings, &own, sizeof own) != 0)
        i++;
    CHECK(i < KEPT);
    if (!kept[i].matcher && tm_matcher_create(&kept[i].matcher, &own) != TM_OK)
        check_fail(__FILE__, __LINE__, "no matcher: %s", tm_matcher_message(kept[i].matcher));
    kept[i].settings = own;
    return kept[i].matcher;
}

static void match_on_cpu(device_case *c)
{
    const kind_problem *p = &c->problem;
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 1);
    tm_matcher *m = kept_matcher(p, &settings);
    tm_template *t = NULL;

    c->created = tm_template_create(&t, m, &p->tmpl);
    if (c->created != TM_OK)
        return;
    CHECK_EQ(tm_map_size(p->domain, p->frame.width, p->frame.height, p->tmpl.width, p->tmpl.height,
                         &c->map_width, &c->map_height),
             TM_OK);
    c->element = p->frame.type == TM_SAMPLE_F32 ? sizeof(float) : tm_map_element_size(p->metric);
    const tm_map map = {calloc((size_t)(c->map_width * c->map_height), c->element),
                        (ptrdiff_t)((size_t)c->map_width * c->element)};
    CHECK(c->map = map.data);
    c->matched = tm_match(m, &p->frame, t, &c->best, &map);
    tm_template_destroy(&t);
}

bool device_case_draw(device_case *c, tm_metric metric, tm_domain domain, tm_matcher *matcher, int device,
                      void *stream)
{
    *c = (device_case){0};
    kind_random(&c->problem, 1e5);
    c->problem.metric = metric;
    c->problem.domain = domain;
    match_on_cpu(c);
    place_picture(&c->tmpl, &c->problem.tmpl, device, stream);
    place_picture(&c->frame, &c->problem.frame, device, stream);
    const bool on_device = check_random() % 2;
    if (on_device)
        put_picture(&c->tmpl);
    CHECK_EQ(on_device ? tm_template_create_device(&c->prepared, matcher, &c->tmpl.image)
                       : tm_template_create(&c->prepared, matcher, &c->problem.tmpl),
             c->created);
    if (c->created != TM_OK)
        return false;
    c->stride = (ptrdiff_t)c->element * (ptrdiff_t)(c->map_width + (check_random() % 2 ? 0 : check_random_in(1, 9)));
    c->device_map = device_alloc(device, (size_t)(c->stride * c->map_height));
    c->got_map = device_alloc_host((size_t)(c->stride * c->map_height));
    c->device_best = device_alloc(device, sizeof *c->device_best);
    c->got_best = device_alloc_host(sizeof *c->got_best);
    memset(c->got_map, 0xcd, (size_t)(c->stride * c->map_height));
    device_put(c->device_map, c->got_map, (size_t)(c->stride * c->map_height), stream);
    return true;
}

void device_case_free(device_case *c)
{
    tm_template_destroy(&c->prepared);
    placed_picture_free(&c->frame);
    placed_picture_free(&c->tmpl);
    device_free(c->device_map);
    device_free_host(c->got_map);
    device_free(c->device_best);
    device_free_host(c->got_best);
    free(c->map);
    kind_free(&c->problem);
}

tm_map device_case_map(const device_case *c)
{
    return (tm_map){c->device_map, c->stride};
}

void device_case_get(const device_case *c, void *stream, bool best)
{
    device_get(c->got_map, c->device_map, (size_t)(c->stride * c->map_height), stream);
    if (best)
        device_get(c->got_best, c->device_best, sizeof *c->got_best, stream);
}

void device_case_check_map(const device_case *c)
{
    const size_t row = (size_t)c->map_width * c->element;

    for (int64_t y = 0; y < c->map_height; y++) {
        const uint8_t *got = c->got_map + y * c->stride;
        if (memcmp(got, (uint8_t *)c->map + (size_t)y * row, row) != 0)
            check_fail(__FILE__, __LINE__, "%s: the maps differ in row %lld", c->problem.text, (long long)y);
        for (ptrdiff_t i = (ptrdiff_t)row; i < c->stride; i++)
            if (got[i] != 0xcd)
                check_fail(__FILE__, __LINE__, "%s: row %lld was written beyond its end", c->problem.text,
                           (long long)y);
    }
}

void device_case_check_best(const device_case *c, const tm_peak *best)
{
    if (c->matched == TM_ERR_NO_POSITION) {
        CHECK(best->x == -1 && best->y == -1 && isnan(best->score));
        return;
    }
    if (best->x != c->best.x || best->y != c->best.y || best->score != c->best.score)
        check_fail(__FILE__, __LINE__, "%s: best (%lld, %lld) %.9g, expected (%lld, %lld) %.9g",
                   c->problem.text, (long long)best->x, (long long)best->y, best->score,
                   (long long)c->best.x, (long long)c->best.y, c->best.score);
}

void check_device_report(tm_matcher *m, int device)
{
    tm_device_report report;
    CHECK_EQ(tm_matcher_reports(m, &report, 1), 1);
    CHECK_EQ(report.index, device);
    CHECK_EQ(report.bytes_to_device, 0);
}
