/* SPDX-License-Identifier: MIT */
/* Pictures in a device's memory, in any layout, and matches of them with what the CPU finds. */
#ifndef TMATCH_TESTS_DEVICE_FRAMES_H
#define TMATCH_TESTS_DEVICE_FRAMES_H

#include "device_memory.h"
#include "kinds.h"

/* A picture in a device's memory, which put_picture copies there, and spoil_picture overwrites, in the
 * stream's order. */
typedef struct placed_picture {
    tm_device_image image;
    uint8_t *memory, *copy, *noise; /* the last two page-locked */
    size_t size;
} placed_picture;

/* Chooses a layout for the picture at random. */
void place_picture(placed_picture *p, const tm_image *image, int device, void *stream);
void put_picture(const placed_picture *p);
void spoil_picture(const placed_picture *p);
void placed_picture_free(placed_picture *p);

/* A problem, what the CPU finds, and where the device is to leave its own. */
typedef struct device_case {
    kind_problem problem;
    tm_status created, matched; /* on the CPU */
    tm_peak best;
    void *map; /* packed */
    int64_t map_width, map_height;
    size_t element;

    placed_picture frame, tmpl;
    tm_template *prepared;
    ptrdiff_t stride;
    uint8_t *device_map, *got_map; /* the latter page-locked */
    tm_peak *device_best, *got_best;
} device_case;

/* Matchers of a metric and domain each: of the CPU, or of these settings; kept. */
tm_matcher *kept_matcher(const kind_problem *p, const tm_settings *settings);

/* Draws a problem of this metric and domain, matches it on the CPU, and places it. The template is
 * prepared from host or device memory: false where it is flat. */
bool device_case_draw(device_case *c, tm_metric metric, tm_domain domain, tm_matcher *matcher, int device,
                      void *stream);
void device_case_free(device_case *c);

/* The map on the device. */
tm_map device_case_map(const device_case *c);

/* Fetches map and best after what was launched on the stream so far; and compares what has come. */
void device_case_get(const device_case *c, void *stream, bool best);
void device_case_check_map(const device_case *c);
void device_case_check_best(const device_case *c, const tm_peak *best);

/* Checks that the last match was this device's alone, and that nothing of an 8- or 16-bit frame crossed the
 * bus. */
void check_device_report(tm_matcher *matcher, int device);

#endif
