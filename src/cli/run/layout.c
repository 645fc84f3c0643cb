/* SPDX-License-Identifier: MIT */
#include "run/layout.h"

#include <sched.h>
#include <stdlib.h>

#include "message.h"
#include "run/engine.h"
#include "within.h"

/* With so many frames a device or more, each device gets whole frames: nothing is merged, and no
 * device waits for another before the end. */
enum { FRAMES_A_DEVICE = 4 };

/* A device takes 0.3 s to open; it must gain more than that. */
#define WORTH_MS 1000.0

/* How much is read ahead of a device, mostly while it is being opened. */
#define AHEAD_BYTES ((size_t)1 << 30)

/* How much memory is page-locked. */
#define PINNED_BYTES ((size_t)256 << 20)

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t count_cores(const cli_options *options)
{
    cpu_set_t cores;
    if (options->settings.threads > 0)
        return (size_t)options->settings.threads;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? (size_t)CPU_COUNT(&cores) : 1;
}

typedef struct device_list {
    tm_device_info devices[PIPELINE_MOST_DEVICES];
    size_t count;
} device_list;

static void list_devices(void *data)
{
    device_list *list = data;
    if (tm_list_devices(list->devices, PIPELINE_MOST_DEVICES, &list->count, NULL, 0) != TM_OK)
        list->count = 1; /* the CPU */
}

static size_t count_devices(const layout *l)
{
    device_list *list = calloc(1, sizeof *list);
    if (!list)
        return 0;
    if (!within(l->settings.device_timeout * 1e3, list_devices, list)) {
        message(NULL, "%sCUDA did not answer within %g s", l->may_open_device ? "warning: " : "",
                l->settings.device_timeout);
        engine_note_driver_hangs();
        return 0;
    }
    const size_t count = list->count - 1;
    free(list);
    return count;
}

bool layout_has_device(const layout *l)
{
    return count_devices(l) > 0;
}

/* How many engines these devices get; how many "all devices" are is not known yet, and counts as
 * one. */
static size_t count_engines(uint64_t mask, size_t frames)
{
    const size_t count = mask == TM_ALL_DEVICES ? 1 : (size_t)__builtin_popcountll(mask);
    return frames == 0 || frames >= FRAMES_A_DEVICE * count ? count : 1;
}

size_t layout_find_devices(layout *l, size_t frames)
{
    if (l->device_mask == TM_ALL_DEVICES) {
        const size_t count = count_devices(l);
        if (count < PIPELINE_MOST_DEVICES)
            l->device_mask = (UINT64_C(1) << count) - 1;
    }
    const size_t count = count_engines(l->device_mask, frames);
    l->a_device_each = count > 1;
    return l->a_device_each ? count : 1;
}

/* Divides --max-memory among the frames in memory. The library leaves five eighths of its part to
 * frames and maps that come by rows, so a whole frame may have as much. */
static void limit_memory(layout *l, const cli_options *options, pipeline_settings *s, size_t frames)
{
    const size_t at_once = frames ? min_size(frames, s->in_flight_ahead) : s->in_flight_ahead;
    const bool with_map = options->map || options->heatmap;
    /* The library holds the maps of eight poses besides the one that it makes of them. */
    const size_t maps = !with_map ? 0 : options->posed ? 9 : 1;
    const size_t element = maps * tm_map_element_size(l->settings.metric);

    s->ahead_bytes = 0;
    l->settings.host_memory = (options->max_memory - (int64_t)s->held_bytes) / (int64_t)at_once;
    if (l->settings.host_memory == 0)
        l->settings.host_memory = 1;
    l->room = (cli_room){l->settings.host_memory / 8 * 5, (int64_t)element};
}

/* As long as there are frames for all cores, each frame is matched by one thread on the CPU, which
 * needs no barriers. */
void layout_make(layout *l, const cli_options *options, pipeline_settings *s, size_t frames)
{
    const size_t cores = count_cores(options);

    *l = (layout){.settings = options->settings, .room = {INT64_MAX, 0}};
    s->devices = l->settings.device == TM_DEVICE_CUDA;
    s->workers = frames ? min_size(cores, frames) : cores;
    if (options->in_flight)
        s->workers = min_size(s->workers, (size_t)options->in_flight);
    s->engine_count = s->devices ? 1 : s->workers;
    if (s->devices) {
        l->device_mask = l->settings.device_mask ? l->settings.device_mask
                                                 : UINT64_C(1) << l->settings.device_index;
        s->engine_count = count_engines(l->device_mask, frames);
    } else if (s->workers > 1) {
        l->may_open_device = l->settings.device == TM_DEVICE_AUTO && !options->verify &&
                             (options->settings.algorithm == TM_ALGORITHM_AUTO ||
                              options->settings.algorithm == TM_ALGORITHM_DIRECT);
        l->settings.device = TM_DEVICE_CPU;
        l->settings.threads = (int)(cores / s->workers);
    }
    /* Each worker has a frame, and each engine has one that it matches and one that waits. */
    s->in_flight_ahead = s->workers + 2 * (s->devices ? s->engine_count : 1);
    s->in_flight = s->devices ? s->in_flight_ahead : s->workers;
    if (options->in_flight)
        s->in_flight = s->in_flight_ahead = (size_t)options->in_flight;
    s->ahead_bytes = options->in_flight ? 0 : AHEAD_BYTES;
    s->pinned_bytes = options->max_memory ? 0 : PINNED_BYTES;
    s->worth_ms = WORTH_MS;
    if (options->max_memory)
        limit_memory(l, options, s, frames);
    if (!options->verbose || frames == 1)
        return;
    if (s->ahead_bytes && (s->devices || l->may_open_device))
        message_info(NULL,
                "%zu frames are read at a time; in memory are at most %zu%s, or more up to %d MiB",
                s->workers, s->in_flight_ahead,
                l->device_mask == TM_ALL_DEVICES ? " and 2 for each device after the first" : "",
                (int)(AHEAD_BYTES >> 20));
    else
        message_info(NULL, "%zu frames are read at a time, and at most %zu are in memory", s->workers,
                l->may_open_device ? s->in_flight_ahead : s->in_flight);
}

tm_settings layout_device(const layout *l, size_t i)
{
    tm_settings settings = l->settings;
    uint64_t mask = l->device_mask;

    settings.device = TM_DEVICE_CUDA;
    if (!l->a_device_each)
        return settings;
    while (i-- > 0)
        mask &= mask - 1;
    settings.device_mask = mask & -mask;
    return settings;
}
