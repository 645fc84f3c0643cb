/* SPDX-License-Identifier: MIT */
#include "certified_frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#if TEST_HAVE_PICTURES
#include "io/io.h"
#endif

/* Sizes of blocks and cells, at which patterns repeat. */
static const int64_t periods[] = {1, 2, 3, 4, 5, 7, 8, 14, 16};

int64_t certified_period(void)
{
    return periods[check_random() % (sizeof periods / sizeof *periods)];
}

double certified_normal(void)
{
    const uint64_t r = check_random();
    const int64_t sum = (int64_t)(r & 0xffff) + (int64_t)(r >> 16 & 0xffff) +
                        (int64_t)(r >> 32 & 0xffff) + (int64_t)(r >> 48);
    return (double)(sum - 2 * 0xffff) / 37837.0;
}

uint8_t certified_sample(double value)
{
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)(value + 0.5);
}

/* Adds a lattice of random values so many samples apart, with straight lines between. */
static void add_octave(const canvas *c, double *sums, int64_t apart, double amplitude)
{
    const int64_t across = c->width / apart + 2, down = c->height / apart + 2;
    double *nodes = malloc((size_t)(across * down) * sizeof *nodes);

    CHECK(nodes);
    for (int64_t i = 0; i < across * down; i++)
        nodes[i] = amplitude * certified_normal();
    for (int64_t y = 0; y < c->height; y++) {
        const double v = (double)(y % apart) / (double)apart;
        const double *upper = nodes + y / apart * across, *lower = upper + across;
        for (int64_t x = 0; x < c->width; x++) {
            const int64_t i = x / apart;
            const double u = (double)(x % apart) / (double)apart;
            sums[y * c->width + x] += (1 - v) * ((1 - u) * upper[i] + u * upper[i + 1]) +
                                      v * ((1 - u) * lower[i] + u * lower[i + 1]);
        }
    }
    free(nodes);
}

void certified_texture(const canvas *c, double persistence, double contrast)
{
    double *sums = calloc((size_t)(c->width * c->height), sizeof *sums), amplitude = contrast;

    CHECK(sums);
    for (int64_t apart = 64; apart; apart /= 2, amplitude *= persistence)
        add_octave(c, sums, apart, amplitude);
    for (int64_t i = 0; i < c->width * c->height; i++)
        c->samples[i] = certified_sample(128 + sums[i]);
    free(sums);
}

static void draw_texture(const canvas *c)
{
    static const double persistences[] = {0.3, 0.5, 0.7, 1};
    certified_texture(c, persistences[check_random() % 4], (double)check_random_in(3, 60));
}

#if TEST_HAVE_PICTURES
static const io_picture *read_picture(void)
{
    static const char *const names[] = {
        "camera.png", "brick.png",     "gravel.png", "text.png",             "chelsea.png",
        "coffee.png", "astronaut.png", "rocket.jpg", "hubble_deep_field.jpg"};
    enum { PICTURES = sizeof names / sizeof *names };
    static io_picture pictures[PICTURES];
    const char *folder = getenv("TMATCH_DATA_DIR");
    const size_t which = check_random() % PICTURES;
    io_picture *p = &pictures[which];
    const io_limits limits = {1 << 28};
    io_source source;
    io_error error;
    char path[1000];

    if (!folder || p->samples)
        return folder ? p : NULL;
    snprintf(path, sizeof path, "%s/%s", folder, names[which]);
    if (!io_source_open(&source, path, &error) ||
        !io_decode(&source, IO_GRAY, &limits, p, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", path, error.reason);
    io_source_close(&source);
    return p;
}

/* A part of a picture from data/, enlarged or not, mirrored where it ends. */
static bool draw_real(const canvas *c)
{
    const io_picture *p = read_picture();
    if (!p)
        return false;
    const int64_t zoom = check_random() % 2 ? 1 : check_random_in(2, 4);
    const int64_t left = check_random_in(0, p->width - 1), top = check_random_in(0, p->height - 1);

    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++) {
            double sum = 0;
            for (int corner = 0; corner < 4; corner++) {
                const int64_t u = x % zoom, v = y % zoom;
                const int64_t to_u = corner % 2 ? u : zoom - u, to_v = corner / 2 ? v : zoom - v;
                const int64_t i = (left + x / zoom + corner % 2) % (2 * p->width);
                const int64_t j = (top + y / zoom + corner / 2) % (2 * p->height);
                const int64_t column = i < p->width ? i : 2 * p->width - 1 - i;
                const int64_t row = j < p->height ? j : 2 * p->height - 1 - j;
                sum += (double)(to_u * to_v * p->samples[row * p->width + column]);
            }
            c->samples[y * c->width + x] = certified_sample(sum / (double)(zoom * zoom));
        }
    return true;
}
#else
static bool draw_real(const canvas *c)
{
    (void)c;
    return false;
}
#endif

static void draw_real_or_texture(const canvas *c)
{
    if (!draw_real(c))
        draw_texture(c);
}

static void draw_noise(const canvas *c)
{
    for (int64_t i = 0; i < c->width * c->height; i++)
        c->samples[i] = (uint8_t)check_random();
}

static void draw_saturated(const canvas *c)
{
    for (int64_t i = 0; i < c->width * c->height; i++)
        c->samples[i] = check_random() & 1 ? 255 : 0;
}

static void draw_flat_half(const canvas *c)
{
    const uint8_t value = check_random() % 3 ? (uint8_t)check_random() : 255;
    const bool left = check_random() & 1;

    draw_texture(c);
    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            if (left ? 2 * x < c->width : 2 * y < c->height)
                c->samples[y * c->width + x] = value;
}

static void draw_black(const canvas *c)
{
    memset(c->samples, 0, (size_t)(c->width * c->height));
}

static void draw_white(const canvas *c)
{
    memset(c->samples, 255, (size_t)(c->width * c->height));
}

static void draw_one_off(const canvas *c)
{
    const bool white = check_random() & 1;
    memset(c->samples, white ? 255 : 0, (size_t)(c->width * c->height));
    c->samples[check_random_in(0, c->width * c->height - 1)] ^= 1;
}

/* Fields of a block's size or half of it; one sample may be off. */
static void draw_checkerboard(const canvas *c)
{
    const int64_t side = certified_period();
    const uint8_t values[2] = {check_random() % 2 ? 0 : 127, check_random() % 2 ? 255 : 128};

    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            c->samples[y * c->width + x] = values[(x / side + y / side) % 2];
    if (check_random() % 2)
        c->samples[check_random_in(0, c->width * c->height - 1)] ^= 1;
}

static void draw_stripes(const canvas *c)
{
    const int64_t side = certified_period();
    const bool upright = check_random() & 1;

    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            c->samples[y * c->width + x] = (upright ? x : y) / side % 2 ? 255 : 0;
}

static void draw_gradient(const canvas *c)
{
    const int64_t a = check_random_in(0, 3), b = check_random_in(0, 3), most = a * c->width + b * c->height;
    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            c->samples[y * c->width + x] = (uint8_t)(most ? (a * x + b * y) * 255 / most : 7);
}

/* Every tile is the first one: as many equal best matches. */
static void draw_tiles(const canvas *c)
{
    const int64_t side = 2 * certified_period() + check_random_in(0, 5);

    draw_real_or_texture(c);
    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            c->samples[y * c->width + x] = c->samples[y % side % c->height * c->width + x % side % c->width];
}

/* 127 and 128. */
static void draw_least_contrast(const canvas *c)
{
    if (check_random() & 1)
        draw_noise(c);
    else
        draw_texture(c);
    for (int64_t i = 0; i < c->width * c->height; i++)
        c->samples[i] = c->samples[i] < 128 ? 127 : 128;
}

/* Constant on blocks: where a window's blocks lie on them, the bound is the score. */
static void draw_blocks(const canvas *c)
{
    const int64_t side = certified_period(), across = c->width / side + 1;
    uint8_t *values = malloc((size_t)(across * (c->height / side + 1)));

    CHECK(values);
    for (int64_t i = 0; i < across * (c->height / side + 1); i++)
        values[i] = (uint8_t)check_random();
    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            c->samples[y * c->width + x] = values[y / side * across + x / side];
    free(values);
}

/* Nothing but what block means do not see: noise against its own mirror image. */
static void draw_zero_means(const canvas *c)
{
    const int64_t side = 2 * certified_period();

    draw_noise(c);
    for (int64_t y = 0; y < c->height; y++)
        for (int64_t x = 0; x < c->width; x++)
            if (x % side >= side / 2)
                c->samples[y * c->width + x] =
                    (uint8_t)(255 - c->samples[y * c->width + x - x % side + side - 1 - x % side]);
}

/* Real pictures and textures more often than others. */
static const struct {
    const char *name;
    void (*draw)(const canvas *);
} kinds[] = {
    {"real", draw_real_or_texture}, {"real", draw_real_or_texture}, {"real", draw_real_or_texture},
    {"texture", draw_texture},      {"texture", draw_texture},      {"noise", draw_noise},
    {"saturated", draw_saturated},  {"flat half", draw_flat_half},  {"all 0", draw_black},
    {"all 255", draw_white},        {"one off", draw_one_off},      {"checkerboard", draw_checkerboard},
    {"stripes", draw_stripes},      {"gradient", draw_gradient},    {"tiles", draw_tiles},
    {"least contrast", draw_least_contrast}, {"blocks", draw_blocks}, {"zero means", draw_zero_means},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *certified_frame(const canvas *c)
{
    const size_t kind = check_random() % KINDS;
    kinds[kind].draw(c);
    return kinds[kind].name;
}
