/* SPDX-License-Identifier: MIT */
/* Random matching problems and their comparison with the oracle. */
#ifndef TMATCH_TESTS_BACKENDS_H
#define TMATCH_TESTS_BACKENDS_H

#include <stdbool.h>

#include "pictures.h"

/* A frame and a template in malloc'ed memory with random strides. */
typedef struct problem {
    tm_image frame, tmpl;
    void *frame_memory, *tmpl_memory;
    char text[160]; /* what was drawn, for a failure's message */
} problem;

void problem_random(problem *p);
void problem_make(problem *p, int64_t frame_width, int64_t frame_height, int64_t tmpl_width,
                  int64_t tmpl_height);
/* With these contents; cut: the template is a part of the frame instead. */
void problem_make_of(problem *p, int64_t frame_width, int64_t frame_height, int64_t tmpl_width,
                     int64_t tmpl_height, picture_content frame_content,
                     picture_content tmpl_content, bool cut);
/* Noise alone, the template cut from the frame or not: hardly any window is flat. */
void problem_make_noise(problem *p, int64_t frame_width, int64_t frame_height, int64_t tmpl_width,
                        int64_t tmpl_height);
void problem_free(problem *p);

/* Whether an image of 8-bit gray has one value alone, under its mask if it has one. */
bool image_is_flat(const tm_image *image);

/* Matchers of one device, for both metrics and all domains, kept across cases. */
typedef struct matchers {
    tm_settings settings; /* device, threads, features */
    tm_matcher *tested[2][3], *reference[2][3];
} matchers;

/* Fails the test where map or best differ in a bit from the oracle's. Returns
 * the number of map elements that were compared. */
int64_t compare_with_reference(matchers *m, const problem *p, tm_metric metric, tm_domain domain);

/* The same for that many random problems of both metrics and all domains, on
 * matchers of these settings. Prints how many map elements were compared. */
void compare_random_with_reference(tm_settings settings, int64_t cases);

/* One call with several templates, cut from the frame and of few sizes, against
 * the oracle's single calls. */
void compare_many_with_reference(matchers *m, tm_metric metric, tm_domain domain);

/* The same with so many templates of the problem's size, at most 80, without maps; under one mask if masked. */
void compare_group_with_reference(matchers *m, const problem *p, size_t count, bool masked);

void matchers_free(matchers *m);

/* Default settings but for these. */
tm_settings settings_of(tm_device_kind device, tm_algorithm algorithm, int threads);

/* The bits of an instruction set and of all that it builds on; skips the running test where the
 * processor or this build lacks one. */
uint32_t require_features(const char *name);

/* Skips the running test if there is no CUDA device, with the reason. */
void require_cuda(void);

/* Likewise where the CUDA backend finds no cuFFT. */
void require_cufft(void);

/* Likewise where the device, or the algorithm on it, is not there. */
void require_backend(tm_device_kind device, tm_algorithm algorithm);

/* The test of this name: run(device, algorithm, number), where that is there. */
#define DEVICE_TEST(name, run, device, algorithm, number) \
    static void name(void)                                \
    {                                                     \
        require_backend(device, algorithm);               \
        run(device, algorithm, number);                   \
    }

#endif
