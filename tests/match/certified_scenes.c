/* SPDX-License-Identifier: MIT */
#include "certified_scenes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "certified_frames.h"
#include "check.h"

static canvas canvas_make(int64_t width, int64_t height)
{
    const canvas c = {width, height, malloc((size_t)(width * height))};
    CHECK(c.samples);
    return c;
}

/* Takes the canvas's samples. */
static drawn finish(canvas *c, const char *name)
{
    const int64_t apart = c->width + check_random_in(0, 9) * (int64_t)(check_random() % 2);
    drawn d = {.memory = malloc((size_t)(apart * c->height)), .name = name};

    CHECK(d.memory);
    memset(d.memory, 0xa5, (size_t)(apart * c->height));
    d.image = (tm_image){.samples = d.memory, .width = c->width, .height = c->height, .stride = apart};
    if (check_random() % 8 == 0) {
        d.image.samples = d.memory + (c->height - 1) * apart;
        d.image.stride = -apart;
    }
    for (int64_t y = 0; y < c->height; y++)
        memcpy((uint8_t *)d.image.samples + y * d.image.stride, c->samples + y * c->width, (size_t)c->width);
    free(c->samples);
    return d;
}

static drawn draw_frame(int64_t width, int64_t height)
{
    canvas c = canvas_make(width, height);
    const char *name = certified_frame(&c);
    return finish(&c, name);
}

drawn draw_smooth(int64_t width, int64_t height)
{
    canvas c = canvas_make(width, height);
    certified_texture(&c, 0.55, 40);
    return finish(&c, "smooth");
}

/* Sets each sample to gain times the frame's, an offset, and noise. */
static drawn cut(const drawn *frame, int64_t left, int64_t top, int64_t width, int64_t height,
                 const double change[3], const char *name)
{
    canvas c = canvas_make(width, height);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const double sample = frame->image.samples[(top + y) * frame->image.stride + left + x];
            const double noise = change[2] > 0 ? change[2] * certified_normal() : 0;
            c.samples[y * width + x] = certified_sample(change[0] * sample + change[1] + noise);
        }
    return finish(&c, name);
}

drawn cut_template(const drawn *frame, int64_t x, int64_t y, int64_t width, int64_t height)
{
    static const double change[3] = {0.8, 10, 1};
    return cut(frame, x, y, width, height, change, "cut with noise, gain and offset");
}

/* Cut from the frame, as it is or with noise, gain and offset, or inverted; or not from it. */
static drawn draw_template(const drawn *frame, int64_t width, int64_t height)
{
    static const struct {
        const char *name;
        double change[3];
    } ways[] = {
        {"cut", {1, 0, 0}},
        {"cut with a little noise", {1, 0, 1}},
        {"cut with noise", {1, 0, 5}},
        {"cut with noise, gain and offset", {0.8, 20, 5}},
        {"cut with much noise", {0.7, 30, 25}},
        {"cut with too much contrast", {3, -200, 0}},
        {"cut with hardly any contrast", {0.02, 120, 0}},
        {"inverted", {-1, 255, 0}},
    };
    enum { WAYS = sizeof ways / sizeof *ways };
    const size_t way = check_random() % (WAYS + WAYS / 2);
    if (way >= WAYS)
        return draw_frame(width, height);
    return cut(frame, check_random_in(0, frame->image.width - width),
               check_random_in(0, frame->image.height - height), width, height, ways[way].change,
               ways[way].name);
}

void drawn_free(drawn *d)
{
    free(d->memory);
    *d = (drawn){0};
}

typedef struct scene_size {
    int64_t map_width, map_height, width, height;
} scene_size;

static scene_size draw_template_size(void)
{
    scene_size s = {1, 1, check_random_in(3, 70), check_random_in(3, 70)};

    switch (check_random() % 11) {
    case 0: /* tiny */
        s.width = check_random_in(1, 3);
        s.height = check_random_in(s.width == 1 ? 2 : 1, 3);
        break;
    case 1: /* one row */
        s.width = check_random_in(2, 300);
        s.height = 1;
        break;
    case 2: /* one column */
        s.width = 1;
        s.height = check_random_in(2, 300);
        break;
    case 3: /* long ones */
        s.width = check_random_in(2, 9);
        s.height = check_random_in(30, 250);
        if (check_random() & 1)
            s = (scene_size){1, 1, s.height, s.width};
        break;
    case 4: /* large ones, up to just above the largest that windows are left out of */
        s.width = check_random_in(60, 260);
        s.height = check_random_in(60, 260);
        break;
    case 5:
    case 6: /* a number of blocks, or nearly */
        s.width = certified_period() * check_random_in(1, 9) + check_random_in(0, 2);
        s.height = certified_period() * check_random_in(1, 9) + check_random_in(1, 2);
        break;
    case 7: /* around those of the smallest cells on a GPU */
        s.width = check_random_in(8, 30);
        s.height = check_random_in(8, 30);
        break;
    default:
        break;
    }
    return s;
}

/* Of the domain's map. */
static double products_of(const scene_size *s, tm_domain domain)
{
    int64_t width, height;
    CHECK_EQ(tm_map_size(domain, s->map_width + s->width - 1, s->map_height + s->height - 1, s->width, s->height,
                         &width, &height),
             TM_OK);
    return (double)(width * height) * (double)(s->width * s->height);
}

static void shrink_map(scene_size *s, double products, tm_domain domain)
{
    while (s->map_height > 1 && products_of(s, domain) > products)
        s->map_height = s->map_height * 2 / 3;
    while (s->map_width > 1 && products_of(s, domain) > products)
        s->map_width = s->map_width / 2;
}

/* Templates of sizes around those of blocks; maps within so many products if any is, and a domain
 * that allows it. */
static scene_size draw_size(double products, tm_domain *domain)
{
    static const int64_t edges[] = {8, 16, 32, 64, 128, 256, 512, 1024};
    scene_size s = draw_template_size();

    switch (check_random() % 8) {
    case 0:
        s.map_width = check_random_in(1, 2);
        s.map_height = check_random_in(1, 2);
        break;
    case 1:
        s.map_width = check_random_in(1, 200);
        s.map_height = check_random_in(1, 100);
        break;
    case 2:
        s.map_width = edges[check_random() % 8] + check_random_in(-2, 2);
        s.map_height = edges[check_random() % 6] + check_random_in(-2, 2);
        break;
    default:
        s.map_width = check_random_in(300, 1100);
        s.map_height = check_random_in(100, 400);
    }
    if (products_of(&(scene_size){1, 1, s.width, s.height}, *domain) > products)
        *domain = TM_DOMAIN_VALID;
    shrink_map(&s, products, *domain);
    return s;
}

/* The first one of that size, the others no larger. */
static void add_templates(scene *s, scene_size size)
{
    const size_t wanted = check_random() % 4 ? 1 : (size_t)check_random_in(2, SCENE_TEMPLATES);
    int used = snprintf(s->text, sizeof s->text, "frame %dx%d %s, domain %d,", (int)s->frame.image.width,
                        (int)s->frame.image.height, s->frame.name, (int)s->domain);
    for (size_t i = 0; i < wanted; i++) {
        const bool same = !i || check_random() % 2;
        const int64_t width = same ? size.width : check_random_in(1, size.width);
        const int64_t height = same ? size.height : check_random_in(1, size.height);
        drawn *t = &s->tmpls[s->count];
        *t = draw_template(&s->frame, width, height);
        if (image_is_flat(&t->image)) {
            drawn_free(t);
            continue;
        }
        if (used < (int)sizeof s->text)
            used += snprintf(s->text + used, sizeof s->text - (size_t)used, " template %dx%d %s", (int)width,
                             (int)height, t->name);
        s->count++;
    }
}

void scene_make(scene *s, double products)
{
    *s = (scene){.domain = (tm_domain)(check_random() % 3)};
    const scene_size size = draw_size(products, &s->domain);
    s->frame = draw_frame(size.map_width + size.width - 1, size.map_height + size.height - 1);
    add_templates(s, size);
}

void scene_make_easy(scene *s, double products)
{
    scene_size size = {check_random_in(300, 1100), check_random_in(200, 300), check_random_in(14, 70),
                             check_random_in(14, 70)};

    *s = (scene){.domain = (tm_domain)(check_random() % 3)};
    shrink_map(&size, products, s->domain);
    s->frame = draw_smooth(size.map_width + size.width - 1, size.map_height + size.height - 1);
    add_templates(s, size);
}

void scene_free(scene *s)
{
    drawn_free(&s->frame);
    for (size_t i = 0; i < s->count; i++)
        drawn_free(&s->tmpls[i]);
}
