/* SPDX-License-Identifier: MIT */
#include "batch/layout.h"

#include <sched.h>

#include "message.h"

enum {
    MAX_DEVICES = 64,
    /* From so many frames a device on, each gets whole ones: nothing is merged, and no
     * device waits for another but at the end. */
    FRAMES_A_DEVICE = 4
};

/* A device takes 0.3 s to open; it must gain more than that. */
#define WORTH_MS 1000.0

/* What is read ahead of a device, mostly while it is being opened. */
#define AHEAD_BYTES ((size_t)1 << 30)

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

static size_t count_devices(void)
{
    tm_device_info devices[MAX_DEVICES];
    size_t count = 0;
    if (tm_list_devices(devices, MAX_DEVICES, &count, NULL, 0) != TM_OK)
        return 0;
    return count - 1; /* the CPU is one */
}

bool layout_has_device(void)
{
    return count_devices() > 0;
}

static uint64_t devices_of(const tm_settings *settings)
{
    const uint64_t mask = settings->device_mask ? settings->device_mask
                                                : UINT64_C(1) << settings->device_index;
    if (mask != TM_ALL_DEVICES)
        return mask;
    const size_t count = count_devices();
    return count >= MAX_DEVICES ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* The frames in memory share --max-memory; of a frame's share, the library leaves as
 * much to frames and maps that come by rows. */
static void limit_memory(layout *l, const cli_options *options, pipeline_settings *s, size_t frames)
{
    const size_t at_once = frames ? min_size(frames, s->in_flight_ahead) : s->in_flight_ahead;
    const bool with_map = options->map || options->heatmap;
    const size_t element = with_map ? tm_map_element_size(l->settings.metric) : 0;

    s->ahead_bytes = 0;
    l->settings.host_memory = options->max_memory / (int64_t)at_once;
    if (l->settings.host_memory == 0)
        l->settings.host_memory = 1;
    l->room = (cli_room){l->settings.host_memory / 8 * 5, (int64_t)element};
}

/* On the CPU one thread a frame needs no barriers, as long as there are frames for
 * all cores. */
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
        l->device_mask = devices_of(&l->settings);
        const size_t count = (size_t)__builtin_popcountll(l->device_mask);
        l->a_device_each = count > 1 && (frames == 0 || frames >= FRAMES_A_DEVICE * count);
        if (l->a_device_each)
            s->engine_count = count;
    } else if (s->workers > 1) {
        l->may_open_device = l->settings.device == TM_DEVICE_AUTO && !options->verify &&
                             (options->settings.algorithm == TM_ALGORITHM_AUTO ||
                              options->settings.algorithm == TM_ALGORITHM_DIRECT);
        l->settings.device = TM_DEVICE_CPU;
        l->settings.threads = (int)(cores / s->workers);
    }
    /* One for each worker, and for each engine one that it matches and one that waits. */
    s->in_flight_ahead = s->workers + 2 * (s->devices ? s->engine_count : 1);
    s->in_flight = s->devices ? s->in_flight_ahead : s->workers;
    if (options->in_flight)
        s->in_flight = s->in_flight_ahead = (size_t)options->in_flight;
    s->ahead_bytes = options->in_flight ? 0 : AHEAD_BYTES;
    s->worth_ms = WORTH_MS;
    if (options->max_memory)
        limit_memory(l, options, s, frames);
    if (!options->verbose || frames == 1)
        return;
    if (s->ahead_bytes && (s->devices || l->may_open_device))
        message(NULL, "%zu frames are read at a time; in memory are at most %zu, or more up to %d MiB",
                s->workers, s->in_flight_ahead, (int)(AHEAD_BYTES >> 20));
    else
        message(NULL, "%zu frames are read at a time, and at most %zu are in memory", s->workers,
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
