/* SPDX-License-Identifier: MIT */
/* A matcher with the templates prepared for it. Each engine is used by one thread. */
#ifndef TMATCH_CLI_ENGINE_H
#define TMATCH_CLI_ENGINE_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "options.h"
#include "run/input.h"
#include "run/report.h"
#include "run/score_map.h"
#include "run/template.h"

typedef struct cli_engine {
    const cli_options *options;
    tm_settings settings;
    tm_matcher *matcher;
    tm_matcher *oracle; /* for --verify, else NULL */
    size_t count;       /* how many templates there are */
    /* Each template in gray, [0], and in colour, [1]. NULL where colours are not wanted, or the
     * template has none, or is not usable. truths: the same for the oracle. */
    tm_template **prepared[2], **truths[2];
    tm_posed_template **posed[2]; /* the same in poses, where those are wanted; else NULL */
    /* Room for one frame's templates. */
    const tm_template **chosen;
    tm_peak *peaks;
    tm_hits *hits;
    size_t *order;
    bool searches; /* for more than the best match */
    tm_search search;
    bool *doubtful; /* for each template, whether the last score did not decide if it is weak */
    bool alone;     /* there is only one frame, in all shards together */
} cli_engine;

/* False after a message. To be closed in either case. */
bool engine_open(cli_engine *engine, const cli_options *options, const tm_settings *settings,
                 size_t template_count);
void engine_close(cli_engine *engine);

/* For a run's first engine: prepares the templates; one that cannot be is no longer
 * usable. */
void engine_judge(cli_engine *engine, cli_templates *templates);

/* For the other engines. False after a message: memory ran out. */
bool engine_prepare(cli_engine *engine, const cli_templates *templates);

/* What came of one template and one frame. */
typedef struct cli_pair {
    cli_result result;
    score_map map; /* for --map, else empty; to be freed */
    bool done;     /* else error says why not */
    bool lasting;  /* another run would come to the same: no file, device or memory has failed */
    io_error error;
    tm_part_hits part; /* with --rows, else empty; to be freed */
    bool searched; /* by search; else only for the best match */
    tm_search search;
} cli_pair;

/* Remembers whether one of the engine's devices hangs; whether any engine's does. */
void engine_note_hangs(const cli_engine *engine);
bool engine_device_hangs(void);

/* The same of CUDA itself, before it has named a device. */
void engine_note_driver_hangs(void);
bool engine_driver_hangs(void);

/* The CUDA devices that the last match of an engine ran on, of all engines that were closed: bit i for device i. */
uint64_t engine_devices_used(void);

/* tm_match_peaks of a frame in the host's memory or in a device's. */
tm_status engine_peaks(tm_matcher *matcher, const tm_device_image *image,
                       const tm_template *const *tmpls, size_t count, const tm_search *search,
                       tm_hits *hits, const tm_map *map);

/* Finds several templates in the image, by the search, or where that is NULL the best match of
 * each. The hits are the caller's to free, and empty where it fails. map: for one template, or
 * NULL. */
tm_status engine_find(const cli_engine *engine, tm_matcher *matcher, const tm_device_image *image,
                      const tm_template *const *tmpls, size_t count, const tm_search *search,
                      tm_hits *hits, const tm_map *map);

/* The same for one template, by the pair's search; the map is filled where it has data. False
 * with the reason in pair->error. */
bool engine_find_one(const cli_engine *engine, tm_matcher *matcher, const tm_device_image *image,
                     const tm_template *tmpl, tm_hits *hits, const score_map *map, cli_pair *pair);

/* The matcher's own words for its failure, or the status's. */
const char *library_reason(const tm_matcher *matcher, tm_status status);

/* Copies them to error; always false. */
bool library_fail(io_error *error, const tm_matcher *matcher, tm_status status);

#endif
