/* SPDX-License-Identifier: MIT */
#include "option_table.h"

#include <stdio.h>
#include <string.h>

#include <tmatch/tmatch.h>

static const choice domains[] = {
    {"valid", TM_DOMAIN_VALID, "the template lies inside the frame", false},
    {"same", TM_DOMAIN_SAME, "as many positions as the frame has pixels", false},
    {"full", TM_DOMAIN_FULL, "every overlap", false},
    {0}};

static const choice metrics[] = {
    {"lcc", TM_METRIC_LCC, "local correlation coefficient", false},
    {"ccorr", TM_METRIC_CCORR, "sum of products", false},
    {"ccorr_normed", TM_METRIC_CCORR_NORMED, "sum of products over both norms", false},
    {"ccoeff", TM_METRIC_CCOEFF, "sum of products of the differences from the means", false},
    {"sqdiff", TM_METRIC_SQDIFF, "sum of squared differences", false},
    {"sqdiff_normed", TM_METRIC_SQDIFF_NORMED, "sum of squared differences over both norms",
     false},
    {0}};

static const choice algorithms[] = {
    {"auto", TM_ALGORITHM_AUTO, "what is expected to be the quickest", false},
    {"reference", TM_ALGORITHM_REFERENCE, "the definition; slow", false},
    {"direct", TM_ALGORITHM_DIRECT, "sums over each window", false},
    {"fft", TM_ALGORITHM_FFT, "correlation by Fourier transforms", false},
    {0}};

static const choice depths[] = {{"auto", 0, "as the files have it", false},
                                {"8", 8, NULL, false},
                                {"16", 16, NULL, false},
                                {"float", 32, "whole numbers too, as they are", false},
                                {0}};

static const choice formats[] = {{"text", CLI_TEXT, "a line for each match", false},
                                 {"json", CLI_JSON, "an object for each frame and template", false},
                                 {"csv", CLI_CSV, "a row for each match, under a header", false},
                                 {0}};

static const choice devices[] = {
    {"auto", TM_DEVICE_AUTO, "what is expected to be the quickest", false},
    {"cpu", TM_DEVICE_CPU, NULL, false},
    {"cuda", TM_DEVICE_CUDA, "all NVIDIA GPUs", false},
    {"cuda:N,M", TM_DEVICE_CUDA, "those that --list-devices gives these numbers", true},
    {0}};

const char *const option_groups[GROUP_COUNT] = {
    [GROUP_INPUT] = "What to read",
    [GROUP_MATCHING] = "What to match",
    [GROUP_OUTPUT] = "What to write",
    [GROUP_COMPUTING] = "Where to compute (the result is the same everywhere, bit for bit; of "
                        "floats, within a bound)",
    [GROUP_OTHER] = "What to say",
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
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? "|" : "",
                                 c->name);
    return names;
}
