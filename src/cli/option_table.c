/* SPDX-License-Identifier: MIT */
#include "option_table.h"

#include <stdio.h>
#include <string.h>

#include <tmatch/tmatch.h>

static const choice domains[] = {
    {.name = "valid", .value = TM_DOMAIN_VALID, .meaning = "the template lies inside the frame"},
    {.name = "same", .value = TM_DOMAIN_SAME, .meaning = "one for each pixel of the frame"},
    {.name = "full", .value = TM_DOMAIN_FULL, .meaning = "every overlap"},
    {0}};

/* The names that OpenCV and others use lead to ours; OpenCV's ccoeff_normed is lcc. */
static const choice metrics[] = {
    {.name = "lcc",
     .value = TM_METRIC_LCC,
     .meaning = "local correlation coefficient",
     .also = "zncc ncc znccorr normxcorr2 pearson ccoeff_normed tm_ccoeff_normed"},
    {.name = "ccorr",
     .value = TM_METRIC_CCORR,
     .meaning = "sum of products",
     .also = "tm_ccorr correlation"},
    {.name = "ccorr_normed",
     .value = TM_METRIC_CCORR_NORMED,
     .meaning = "sum of products over both norms",
     .also = "tm_ccorr_normed cosine"},
    {.name = "ccoeff",
     .value = TM_METRIC_CCOEFF,
     .meaning = "sum of products of the differences from the means",
     .also = "tm_ccoeff covariance"},
    {.name = "sqdiff",
     .value = TM_METRIC_SQDIFF,
     .meaning = "sum of squared differences",
     .also = "tm_sqdiff ssd mse"},
    {.name = "sqdiff_normed",
     .value = TM_METRIC_SQDIFF_NORMED,
     .meaning = "sum of squared differences over both norms",
     .also = "tm_sqdiff_normed"},
    {0}};

static const choice algorithms[] = {
    {.name = "auto", .value = TM_ALGORITHM_AUTO, .meaning = "what is expected to be quickest"},
    {.name = "reference", .value = TM_ALGORITHM_REFERENCE, .meaning = "the definition; slow"},
    {.name = "direct", .value = TM_ALGORITHM_DIRECT, .meaning = "sums over each window"},
    {.name = "fft", .value = TM_ALGORITHM_FFT, .meaning = "by Fourier transforms"},
    {.name = "cufft",
     .value = TM_ALGORITHM_CUFFT,
     .meaning = "by the Fourier transforms of NVIDIA's cuFFT, on a GPU"},
    {0}};

static const choice strategies[] = {
    {.name = "auto", .value = TM_STRATEGY_AUTO, .meaning = "what is expected to be quicker"},
    {.name = "exhaustive",
     .value = TM_STRATEGY_EXHAUSTIVE,
     .meaning = "every window",
     .also = "full all brute-force"},
    {.name = "certified",
     .value = TM_STRATEGY_CERTIFIED,
     .meaning = "all but those that a bound rules out",
     .also = "pruned bounded"},
    {.name = "pyramid",
     .value = TM_STRATEGY_PYRAMID,
     .meaning = "with --angle or --scale, those that look likely in a reduced frame; may miss matches",
     .also = "coarse-to-fine heuristic"},
    {0}};

static const choice depths[] = {{.name = "auto", .value = 0, .meaning = "as the files have it"},
                                {.name = "8", .value = 8, .also = "uint8 u8"},
                                {.name = "16", .value = 16, .also = "uint16 u16"},
                                {.name = "float",
                                 .value = 32,
                                 .meaning = "whole numbers too, as they are",
                                 .also = "32 float32 f32"},
                                {0}};

static const choice heatmap_styles[] = {
    {.name = "map", .value = false, .meaning = "the scores by themselves"},
    {.name = "overlay", .value = true, .meaning = "over the frame", .also = "frame blend"},
    {0}};

static const choice supports[] = {
    {.name = "auto", .value = TM_SUPPORT_AUTO, .meaning = "what suits template and angles"},
    {.name = "disc",
     .value = TM_SUPPORT_DISC,
     .meaning = "those in a circle that all poses share",
     .also = "circle disk"},
    {.name = "full", .value = TM_SUPPORT_FULL, .meaning = "all pixels", .also = "box all"},
    {0}};

static const choice formats[] = {
    {.name = "text", .value = CLI_TEXT, .meaning = "a line for each match", .also = "txt plain"},
    {.name = "json",
     .value = CLI_JSON,
     .meaning = "an object for each frame and template",
     .also = "jsonl ndjson"},
    {.name = "csv", .value = CLI_CSV, .meaning = "a row for each match, under a header"},
    {0}};

static const choice devices[] = {
    {.name = "auto", .value = TM_DEVICE_AUTO, .meaning = "what is expected to be quickest"},
    {.name = "cpu", .value = TM_DEVICE_CPU},
    {.name = "cuda", .value = TM_DEVICE_CUDA, .meaning = "all NVIDIA GPUs", .also = "gpu nvidia"},
    {.name = "cuda:N,M",
     .value = TM_DEVICE_CUDA,
     .meaning = "those that --list-devices gives these numbers",
     .pattern = true},
    {0}};

static const choice decoders[] = {
    {.name = "libjpeg", .value = CLI_LIBJPEG, .meaning = "everything on the CPU", .also = "libjpeg-turbo turbojpeg"},
    {.name = "nvjpeg",
     .value = CLI_NVJPEG,
     .meaning = "JPEG by NVIDIA's nvJPEG, on the GPU that matches; samples differ by a rounding here and there"},
    {.name = "auto", .value = CLI_AUTO_DECODER, .meaning = "JPEG by nvJPEG where it can, else by libjpeg"},
    {.name = "nvdec", .value = CLI_NVDEC, .meaning = "movies by that GPU's video decoder", .also = "cuvid"},
    {0}};

const option_heading option_groups[GROUP_COUNT] = {
    [GROUP_INPUT] = {"What to read", NULL},
    [GROUP_MATCHING] = {"What to match", NULL},
    [GROUP_OUTPUT] = {"What to write", NULL},
    [GROUP_COMPUTING] = {"Where to compute",
                         "the result is the same everywhere, bit for bit; of floats, within a "
                         "bound"},
    [GROUP_OTHER] = {"What to say", NULL},
};

const option_row option_table[OPTION_COUNT] = {
#define OPTION(id, ...) [OPT_##id] = {__VA_ARGS__},
#include "option_table.def"
#undef OPTION
};

const char *option_argument(const option_row *row)
{
    static char names[128];

    if (row->argument)
        return row->argument;
    size_t used = 0;
    names[0] = '\0';
    for (const choice *c = row->choices; c && c->name; c++)
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? "|" : "", c->name);
    return names;
}
