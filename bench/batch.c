/* SPDX-License-Identifier: MIT */
/* Gives bench/batch.py what it needs beside tmatch itself: frames, and the time of each
 * half of a batch by itself. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tmatch/tmatch.h>

#include "io/io.h"
#include "options.h"

enum { WIDTH = 1920, HEIGHT = 1080, HELD = 64, TEMPLATE = 32 };

static const io_limits limits = {IO_DEFAULT_MAX_PIXELS};

typedef struct work {
    char **names;
    int count;
    const char *folder; /* frames: where to, and how many */
    int frames;
    io_picture *held; /* match: the frames in memory */
    const char *tmpl;
    pthread_barrier_t ready;
    atomic_int next;
} work;

static void die(const char *name, const char *reason)
{
    bench_fail(name, reason);
    exit(2);
}

static io_picture read_picture(const char *name, io_color color)
{
    io_source source;
    io_picture picture;
    io_error error;
    if (!io_source_open(&source, name, &error) ||
        !io_decode(&source, color, &limits, &picture, &error))
        die(name, error.reason);
    io_source_close(&source);
    return picture;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static int at(const io_picture *p, int64_t x, int64_t y, int c)
{
    return p->samples[((y % p->height) * p->width + x % p->width) * 3 + c];
}

/* Enlarges a picture as a camera would see it: smooth, with noise in the lowest bit
 * so that it does not compress better than a photograph. */
static void paint(io_picture *frame, const io_picture *from, uint32_t seed)
{
    const int64_t dx = mix(seed) % 997, dy = mix(seed + 1) % 991;
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++) {
                const int64_t u = x + dx, v = y + dy, i = u / 4, j = v / 4;
                const int fx = (int)(u % 4), fy = (int)(v % 4);
                const int value = ((at(from, i, j, c) * (4 - fx) + at(from, i + 1, j, c) * fx) * (4 - fy) +
                                   (at(from, i, j + 1, c) * (4 - fx) + at(from, i + 1, j + 1, c) * fx) * fy) / 16;
                const int noise = (int)(mix(seed ^ (uint32_t)((y * WIDTH + x) * 3 + c)) & 1);
                frame->samples[(y * WIDTH + x) * 3 + c] = (uint8_t)(value ^ noise);
            }
}

static void *make_frames(void *argument)
{
    work *w = argument;
    io_picture frame = {.width = WIDTH, .height = HEIGHT, .channels = 3,
                        .samples = malloc((size_t)WIDTH * HEIGHT * 3)};
    const int pictures = w->count;
    io_picture *from = calloc((size_t)pictures, sizeof *from);
    if (!frame.samples || !from)
        die("frames", "out of memory");
    for (int i = 0; i < pictures; i++)
        from[i] = read_picture(w->names[i], IO_RGB);
    for (int i; (i = atomic_fetch_add(&w->next, 1)) < w->frames;) {
        char name[4096];
        io_error error;
        snprintf(name, sizeof name, "%s/%06d.%s", w->folder, i, i % 2 ? "jpg" : "png");
        paint(&frame, &from[i / 2 % pictures], (uint32_t)i * 7919u);
        if (!io_write_picture(name, &frame, &error))
            die(name, error.reason);
    }
    for (int i = 0; i < pictures; i++)
        io_picture_free(&from[i]);
    free(from);
    io_picture_free(&frame);
    return NULL;
}

static void *decode(void *argument)
{
    work *w = argument;
    pthread_barrier_wait(&w->ready);
    for (int i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        io_picture picture = read_picture(w->names[i], IO_GRAY);
        io_picture_free(&picture);
    }
    return NULL;
}

/* Only HELD frames are kept in memory, because matching takes as long on every frame. */
static void *match(void *argument)
{
    work *w = argument;
    const bench_device one = {.kind = TM_DEVICE_CPU, .threads = 1};
    const tm_settings settings = bench_settings(&one, TM_ALGORITHM_AUTO);
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_peak peak;

    io_picture picture = read_picture(w->tmpl, IO_GRAY);
    const tm_image image = {.samples = picture.samples + 500 * picture.width + 900,
                            .width = TEMPLATE, .height = TEMPLATE, .stride = picture.width};
    if (tm_matcher_create(&matcher, &settings) != TM_OK ||
        tm_template_create(&tmpl, matcher, &image) != TM_OK)
        die(w->tmpl, "cannot be prepared");
    pthread_barrier_wait(&w->ready);
    for (int i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        const io_picture *p = &w->held[i % HELD];
        const tm_image frame = {.samples = p->samples, .width = p->width, .height = p->height,
                                .stride = p->width};
        if (tm_match(matcher, &frame, tmpl, &peak, NULL) != TM_OK)
            die("match", tm_matcher_message(matcher));
    }
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    io_picture_free(&picture);
    return NULL;
}

static void run(work *w, int threads, void *(*step)(void *), bool timed)
{
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    if (!ids)
        die("run", "out of memory");
    pthread_barrier_init(&w->ready, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, step, w) != 0)
            die("run", "no thread");
    if (timed)
        pthread_barrier_wait(&w->ready);
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    if (timed) {
        json j = {.out = stdout};
        json_begin(&j, NULL, '{');
        json_number(&j, "wall_s", seconds(CLOCK_MONOTONIC) - wall);
        json_number(&j, "cpu_s", seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
        json_end(&j, '}');
        puts("");
    }
    free(ids);
}

bool bench_batch(bench_options *o, bench_report *report)
{
    const int threads = o->effort.threads ? o->effort.threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    const char *step = o->word_count ? o->words[0] : "";
    char **names = o->words + 1;
    const int count = o->word_count - 1;
    work w = {0};

    (void)report;
    if (strcmp(step, "frames") == 0 && count > 2) {
        w = (work){.names = names + 2, .count = count - 2, .folder = names[0],
                   .frames = atoi(names[1])};
        run(&w, threads, make_frames, false);
    } else if (strcmp(step, "decode") == 0 && count > 0) {
        w = (work){.names = names, .count = count};
        run(&w, threads, decode, true);
    } else if (strcmp(step, "match") == 0 && count > 1) {
        w = (work){.names = names + 1, .count = count - 1, .tmpl = names[0]};
        w.held = calloc(HELD, sizeof *w.held);
        for (int i = 0; w.held && i < HELD; i++)
            w.held[i] = read_picture(w.names[i % w.count], IO_GRAY);
        run(&w, threads, match, true);
        for (int i = 0; w.held && i < HELD; i++)
            io_picture_free(&w.held[i]);
        free(w.held);
    } else {
        return bench_fail("batch", "wants frames, decode or match, and what follows them");
    }
    return true;
}
