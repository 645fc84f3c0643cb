/* SPDX-License-Identifier: MIT */
/* The command line as a struct. Parsing decides nothing about files, except
 * that output names have endings that can be written. */
#ifndef TMATCH_CLI_OPTIONS_H
#define TMATCH_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <tmatch/tmatch.h>

#include "io/movie/movie.h"
#include "option_table.h"

typedef enum cli_action {
    CLI_MATCH,
    CLI_HELP,
    CLI_VERSION,
    CLI_LIST_DEVICES,
    CLI_CALIBRATE,
    CLI_BENCH, /* the operands, in frames, are sizes */
    CLI_MERGE  /* they are logs */
} cli_action;

typedef struct cli_options {
    cli_action action;
    tm_settings settings;
    cli_format format;
    /* The strings are argv's, the arrays are ours. */
    char **argv; /* the command line, NULL after the last */
    const char **frames, **templates;
    int frame_count, template_count;
    const char *files_from; /* a file that lists more frames, or NULL */
    bool null_names;        /* its names end with NUL, not with a newline */
    bool recursive;
    const char *resume, *report;
    const char *watch; /* a folder whose new files are frames, or NULL */
    uint64_t fingerprint; /* a hash of the options that change results or outputs */
    int64_t shard, shards; /* this run takes the frames of one of so many shards; 0: all frames */
    const struct cli_shard *merged; /* for the report of --merge: all frames are in the log of this run; or NULL */
    int64_t in_flight; /* most frames in memory at a time; 0: as many as are useful */
    const char *output, *crops, *map, *heatmap, *dump_template;
    bool upright; /* crops are turned so */
    bool heatmap_overlay; /* the heat map lies over the frame */
    bool has_min_score;
    double min_score; /* for float metrics rounded to a float */
    int64_t most_matches; /* 0: all */
    double overlap;
    bool only_matches;
    bool subpixel;
    bool posed;         /* the template is searched in the grid's poses */
    tm_pose_grid poses;
    bool has_rows;      /* only rows [rows_first, rows_end) of the maps are wanted */
    int64_t rows_first, rows_end;
    io_movie_wish movie; /* which of a movie's frames are wanted */
    bool intervals; /* appearances are printed, not each frame's result */
    const char *chapters, *edl; /* files that have them, or NULL */
    double gap;     /* seconds for which an appearance may be missing; negative: the default */
    bool has_roi;
    io_crop roi;
    int64_t max_pixels; /* 0: io_limits' default */
    int64_t max_memory; /* bytes; 0: no limit */
    double max_frame_ms; /* milliseconds; 0: no limit */
    bool sandbox;
    cli_decoder decoder;
    bool color;
    int depth; /* 8, 16 or 32, floats; 0: as the files have it */
    bool ignore_orientation; /* the one that EXIF tells */
    const char *mask, *frame_mask;
    bool verify, time, verbose, quiet;
} cli_options;

/* False after a message on standard error. The options are to be freed in
 * either case. */
bool cli_options_parse(cli_options *options, int argc, char **argv);
void cli_options_free(cli_options *options);

#endif
