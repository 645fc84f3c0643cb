/* SPDX-License-Identifier: MIT */
/* wgmma_bound.cu, also under masks, or where TM_BOUND_PIXELS wgmma_bound_pixels.cu, on the emulated device: no wrong answer, none that is missing where it must be known, and no block whose warps wait for
 * each other for ever, whichever of them fall behind. */
#include <cuda_runtime.h>

#include <random>
#include <vector>

#include "lcc/cuda/tensor/few_windows.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "check.h"
}

namespace {

enum content { NOISE, STRIPES, NEAR_FLAT, GRADIENT, SPOTS, FEW_VALUES, HALVES, CONTENTS };

/* Bytes of a pixel: RGB and gray of 16 bits, or gray of 8. */
#ifdef TM_BOUND_PIXELS
const int kinds[] = {3, 2};
#else
const int kinds[] = {1};
#endif
const int KINDS = sizeof kinds / sizeof *kinds;

int random_kind()
{
    return kinds[check_random_in(0, KINDS - 1)];
}

/* Memory that begins at a multiple of 256 bytes. */
struct memory {
    std::vector<uint8_t> bytes;
    explicit memory(size_t size) : bytes(size + 255) {}
    uint8_t *data() { return bytes.data() + (256 - (size_t)bytes.data() % 256) % 256; }
};

/* bytes: of a pixel, 1, 3 for RGB, or 2. Of these the frame's rows follow each other, and nothing follows them. */
struct problem {
    int bytes, width, height, map_width, map_height;
    size_t pitch;
    memory frame, tmpl, fragments, bound;
    std::vector<uint8_t> mask; // or empty: all pixels count
    int low_bits = 8;          // of 16 bits: what the kernel is told,
    int seen_bits = 0;         // and what it tells where the best is not known

    problem(int bytes, int width, int height, int map_width, int map_height)
        : bytes(bytes), width(width), height(height), map_width(map_width), map_height(map_height),
          pitch(bytes == 1 ? (size_t)(map_width + width + 1278) / 256 * 256 : (size_t)(bytes * (map_width + width - 1))),
          frame(bytes == 1 ? pitch * (size_t)(map_height + height + 255) : (pitch * (size_t)(map_height + height - 1) + 15) / 16 * 16),
          tmpl((size_t)(bytes * width * height)), fragments((size_t)tm_small_blocks_bytes(height)),
          bound(bound_bytes())
    {
    }

    size_t bound_bytes() const
    {
#ifdef TM_BOUND_PIXELS
        return tm_bound_pixels_bytes(bytes, width, height);
#else
        return tm_bound_fragment_bytes(width, height);
#endif
    }

    uint8_t &at(int x, int y, int byte) { return frame.data()[(size_t)y * pitch + (size_t)(bytes * x + byte)]; }
    uint8_t &tap(int i, int byte) { return tmpl.data()[bytes * i + byte]; }
    bool counts(int i) const { return mask.empty() || mask[i]; }

    /* Draws whether there is a mask, where the kernel takes one: with a few holes, of an ellipse, or without a border. */
    void draw_mask()
    {
#ifndef TM_BOUND_PIXELS
        const int64_t way = check_random_in(0, 5), border = check_random_in(1, 4);
        if (way > 2)
            return;
        mask.resize((size_t)(width * height));
        for (int i = 0; i < width * height; i++) {
            const int x = i % width, y = i / width, dx = 2 * x + 1 - width, dy = 2 * y + 1 - height;
            mask[i] = way == 0   ? check_random_in(0, 100) > 0
                      : way == 1 ? dx * dx * height * height + dy * dy * width * width <= width * width * height * height
                                 : x >= border && y >= border / 2;
        }
        bound = memory(tm_bound_masked_bytes(width, height));
#endif
    }

    /* Sample c of a pixel. */
    int channels() const { return bytes == 3 ? 3 : 1; }
    static int sample(const uint8_t *pixel, int bytes, int c) { return bytes == 2 ? pixel[0] + 256 * pixel[1] : pixel[c]; }

    /* Of 16 bits: leaves so many of them to all samples, drawn from 8 on; may_be_wrong: the kernel may be told fewer. */
    void draw_bits(bool may_be_wrong)
    {
        const int bits = check_random() % 2 ? 16 : (int)check_random_in(8, 15);
        if (bytes != 2)
            return;
        low_bits = bits - 8;
        const auto reduce = [&](uint8_t *sample) {
            const int value = problem::sample(sample, 2, 0) >> (16 - bits);
            sample[0] = (uint8_t)value, sample[1] = (uint8_t)(value >> 8);
        };
        for (int i = 0; i < width * height; i++)
            reduce(&tap(i, 0));
        for (int y = 0; y < map_height + height - 1; y++)
            for (int x = 0; x < map_width + width - 1; x++)
                reduce(&at(x, y, 0));
        if (may_be_wrong && low_bits && check_random() % 2)
            low_bits = (int)check_random_in(0, low_bits - 1);
    }

    /* The bits of the frame's greatest sample. */
    int bits_of_frame()
    {
        int all = 0, bits = 0;
        for (int y = 0; y < map_height + height - 1; y++)
            for (int x = 0; x < map_width + width - 1; x++)
                all |= sample(&at(x, y, 0), 2, 0);
        while (all >> bits)
            bits++;
        return bits;
    }

    void draw(content c)
    {
        const int period = (int)check_random_in(3, 60);
        for (int y = 0; y < map_height + height - 1; y++)
            for (int i = 0; i < bytes * (map_width + width - 1); i++) {
                const int noise = (int)check_random_in(0, 255), byte = i % bytes, x = i / bytes + 5 * byte;
                at(i / bytes, y, byte) = (uint8_t)(c == NOISE        ? noise
                                                   : c == STRIPES    ? (x / period + y / period) % 2 * 200 + 20
                                                   : c == NEAR_FLAT  ? 100 + noise % 2
                                                   : c == GRADIENT   ? 7 * x + 3 * y + noise % 5
                                                   : c == SPOTS      ? (x % 97 == 0 && y % 41 == 0 ? noise : 128)
                                                   : c == FEW_VALUES ? noise / 64 * 64
                                                                     : (x / 40 % 2 ? 255 : noise));
            }
    }

    /* The template: a part of the frame, with noise of some amplitude; or noise alone. */
    void cut_at(int x, int y, int amplitude)
    {
        for (int i = 0; i < bytes * width * height; i++) {
            const int pixel = i / bytes, sample = at(x + pixel % width, y + pixel / width, i % bytes) + (int)check_random_in(-amplitude, amplitude);
            tmpl.data()[i] = (uint8_t)min(max(sample, 0), 255);
        }
    }

    void cut(bool noise, int amplitude)
    {
        cut_at((int)check_random_in(0, map_width - 1), (int)check_random_in(0, map_height - 1), amplitude);
        for (int i = 0; noise && i < bytes * width * height; i++)
            tmpl.data()[i] = (uint8_t)check_random_in(0, 255);
    }
};

/* Of the template: its pixels that count, S_T of each channel, and the sum of var_T. */
struct sums {
    int64_t n = 0, of[3] = {}, variance = 0;

    explicit sums(problem &p)
    {
        for (int i = 0; i < p.width * p.height; i++)
            n += p.counts(i);
        for (int c = 0; c < p.channels(); c++) {
            int64_t squares = 0;
            for (int i = 0; i < p.width * p.height; i++) {
                const int64_t t = p.counts(i) ? problem::sample(&p.tap(i, 0), p.bytes, c) : 0;
                of[c] += t, squares += t * t;
            }
            variance += n * squares - of[c] * of[c];
        }
    }
};

tm_candidate best_of_all(problem &p, const sums &t)
{
    const int64_t n = t.n;
    tm_candidate best = TM_NO_CANDIDATE;
    for (int y = 0; y < p.map_height; y++)
        for (int x = 0; x < p.map_width; x++) {
            int64_t num = 0, variance = 0;
            for (int c = 0; c < p.channels(); c++) {
                int64_t s_ft = 0, s_f = 0, s_ff = 0;
                for (int i = 0; i < p.width * p.height; i++) {
                    const int64_t f = !p.counts(i) ? 0 : problem::sample(&p.at(x + i % p.width, y + i / p.width, 0), p.bytes, c);
                    s_f += f, s_ff += f * f, s_ft += f * problem::sample(&p.tap(i, 0), p.bytes, c);
                }
                num += n * s_ft - s_f * t.of[c], variance += n * s_ff - s_f * s_f;
            }
            const int64_t order = tm_score_order(tm_tensor_score((float)num, (float)variance, (float)t.variance));
            if (order > best.value)
                best = {order, (int64_t)y * p.map_width + x};
        }
    return best;
}

/* Sets what the job of a kernel takes besides what all jobs have, and launches it. false: it does not take the mask. */
#ifndef TM_BOUND_PIXELS
bool launch(problem &p, const tm_tensor_device &device, tm_tensor_job j, const sums &t, cudaStream_t stream)
{
    const tm_tensor_template of_template = {(int)t.of[0], (float)t.variance};
    for (int i = 0; i < tm_small_blocks_bytes(p.height); i++)
        p.fragments.data()[i] = tm_small_blocks_byte(p.tmpl.data(), p.width, p.height, i);
    j.fragments = p.fragments.data(), j.templates = &of_template, j.variance = t.variance;
    if (p.mask.empty()) {
        CHECK_EQ(tm_bound_prepare(p.bound.data(), p.tmpl.data(), p.width, p.height, stream), cudaSuccess);
        CHECK_EQ(tm_bound_launch(&device, j, stream), cudaSuccess);
    } else {
        const cudaError_t error = tm_bound_masked_prepare(p.bound.data(), p.tmpl.data(), p.mask.data(), p.mask.data(), p.width, p.height, stream);
        if (error == cudaErrorNotSupported)
            return false;
        CHECK_EQ(error, cudaSuccess);
        CHECK(tm_bound_masked_takes(&device, j));
        CHECK_EQ(tm_bound_masked_launch(&device, j, stream), cudaSuccess);
    }
    CHECK_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return true;
}

#else
bool launch(problem &p, const tm_tensor_device &device, const tm_tensor_job &job, const sums &t, cudaStream_t stream)
{
    tm_tensor_pixels_job j = {};
    (tm_tensor_job &)j = job;
    j.bytes = p.bytes, j.frame_rows = p.map_height + p.height - 1, j.n = p.width * p.height, j.variance = (float)t.variance, j.low_bits = p.low_bits;
    for (int c = 0; c < 3; c++)
        j.minus_sum[c] = (int)-t.of[c];
    CHECK_EQ(tm_bound_pixels_prepare(p.bound.data(), p.tmpl.data(), p.bytes, p.width, p.height, stream), cudaSuccess);
    CHECK(tm_bound_pixels_takes(&device, j));
    CHECK_EQ(tm_bound_pixels_launch(&device, j, stream), cudaSuccess);
    CHECK_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return true;
}
#endif

/* Runs the kernel on a device of so many multiprocessors; false: the best is not known. */
bool compare(problem &p, int multiprocessors)
{
    const sums t(p);
    if (t.variance == 0)
        return false;
    std::vector<tm_candidate> blocks(TM_TENSOR_BLOCKS);
    tm_candidate best = {};
    int running = INT_MIN, counter = 0;
    tm_tensor_job j = {};
    (tm_device_windows &)j = {p.frame.data(), p.pitch, p.map_width, p.map_height, p.width, p.height};
    j.count = 1, j.bound_fragments = p.bound.data(), j.may_leave_out = true;
    j.best = &best, j.blocks = blocks.data(), j.running_bests = &running, j.counter = &counter;
    const tm_tensor_device device = {0, multiprocessors, 232448, true, true};
    cudaStream_t stream;
    CHECK_EQ(cudaStreamCreateWithFlags(&stream, 0), cudaSuccess);
    const bool is_taken = launch(p, device, j, t, stream);
    CHECK_EQ(cudaStreamDestroy(stream), cudaSuccess);
    if (!is_taken)
        return false;
    CHECK_EQ(running, INT_MIN);
    CHECK_EQ(counter, 0);
    const tm_candidate none = TM_NO_CANDIDATE, expected = best_of_all(p, t);
    const int bits = p.bytes == 2 ? p.bits_of_frame() : 0;
    if (bits > 8 + p.low_bits)
        CHECK_EQ(best.value, none.value);
    if (best.value == none.value) {
        p.seen_bits = (int)(none.position - best.position);
        CHECK(p.seen_bits >= 0 && p.seen_bits <= bits); // less where it was given up before all were seen
        return false;
    }
    CHECK_EQ(best.value, expected.value);
    CHECK_EQ(best.position, expected.position);
    return true;
}

/* In noise few windows are nearly as good as the template's own, so that the best is known, unless by chance no good one is sampled. */
struct tally {
    int known = 0, all = 0;
    void count(bool is_known) { known += is_known, all++; }
    void check() const { printf("# %d of %d known\n", known, all); CHECK(4 * known >= 3 * all); }
};

void noise()
{
    static const int sizes[][5] = {{1, 1, 21, 21, 1},     {8, 1, 25, 24, 1},    {9, 2, 15, 9, 2},     {1008, 8, 15, 9, 1},  {1009, 9, 17, 24, 1},
                                   {1015, 17, 18, 11, 2}, {2016, 16, 22, 13, 1}, {2017, 1, 23, 22, 1}, {3100, 3, 24, 14, 1}, {3100, 9, 16, 10, 1},
                                   {40, 200, 20, 20, 1},  {1010, 90, 19, 12, 3}, {605, 64, 21, 21, 1},   {3100, 8, 21, 19, 1},   {5100, 7, 18, 9, 1},  {1600, 40, 25, 15, 2}};
    tally tally;
    for (const auto &s : sizes) {
        problem p(random_kind(), s[2], s[3], s[0], s[1]);
        p.draw_mask();
        p.draw(NOISE);
        p.cut(false, 0);
        p.draw_bits(false);
        const bool is_known = compare(p, s[4]);
        if (s[1] >= 7) // of fewer rows few are sampled
            tally.count(is_known);
    }
    tally.check();
}

void random_cases()
{
    const int64_t cases = check_cases(150);
    int64_t known = 0;
    for (int64_t i = 0; i < cases; i++) {
        const bool wide = check_random() % 4 == 0;
        problem p(kinds[i % KINDS], (int)check_random_in(15, 25), (int)check_random_in(9, 24), (int)(wide ? check_random_in(990, 2100) : check_random_in(1, 300)),
                  (int)check_random_in(1, wide ? 30 : 100));
        p.draw_mask();
        p.draw((content)(check_random() % CONTENTS));
        p.cut(check_random() % 4 == 0, (int)check_random_in(0, 6));
        p.draw_bits(true);
        known += compare(p, (int)check_random_in(1, 12));
    }
    printf("# %" PRId64 " of %" PRId64 " known\n", known, cases);
}

/* Steps of blocks that go down many, where so many windows are left that the launch is given up. */
void given_up()
{
    const int64_t cases = check_cases(20);
    int64_t known = 0;
    for (int64_t i = 0; i < cases; i++) {
        problem p(kinds[i % KINDS], (int)check_random_in(15, 25), (int)check_random_in(9, 24), (int)check_random_in(500, 1008), (int)check_random_in(60, 160));
        p.draw(STRIPES);
        p.cut(false, 1);
        known += compare(p, 1);
    }
    printf("# %" PRId64 " of %" PRId64 " known\n", known, cases);
    CHECK(known < cases);
}

/* The first and the last windows of a map whose last unit of 8 columns has 1 to 8 windows. */
void edges()
{
    tally tally;
    for (const int map_width : {8, 17, 250, 512, 520, 1000, 1007, 1008, 1016, 2016})
        for (const int map_height : {7, 8, 10})
            for (const bool last : {false, true}) {
                problem p(random_kind(), (int)check_random_in(15, 25), (int)check_random_in(9, 24), map_width, map_height);
                p.draw_mask();
                p.draw(NOISE);
                p.cut_at(last ? map_width - 1 : 0, last ? map_height - 1 : 0, 0);
                tally.count(compare(p, 1));
            }
    tally.check();
}

/* Copies of a template whose contrast lies in its middle: all cores that a copy's window may be bounded by have all of it, so that a limit
 * that is a little too high loses a copy. The first one is the best. */
void copies()
{
    const int64_t cases = check_cases(60);
    for (int64_t i = 0; i < cases; i++) {
        problem p(kinds[i % KINDS], (int)check_random_in(15, 25), (int)check_random_in(9, 24), (int)check_random_in(1, 4) * 300,
                  (int)check_random_in(8, 120));
        p.draw_mask();
        const int flat = (int)check_random_in(0, 255), least = check_random() % 2 ? 0 : 120; // with little contrast, what is too much counts more
        for (int k = 0; k < p.bytes * p.width * p.height; k++) {
            const int x = k / p.bytes % p.width, y = k / p.bytes / p.width;
            const bool is_border = x < 2 || y < 1 || x >= p.width - 2 || y >= p.height - 1;
            p.tmpl.data()[k] = (uint8_t)(is_border ? flat : check_random_in(least, 255 - least));
        }
        for (int y = 0; y < p.map_height + p.height - 1; y++)
            memset(&p.at(0, y, 0), flat, (size_t)(p.bytes * (p.map_width + p.width - 1)));
        for (int64_t copy = check_random_in(1, 6); copy > 0; copy--) {
            const int x = (int)check_random_in(0, p.map_width - 1), y = (int)check_random_in(0, p.map_height - 1);
            for (int row = 0; row < p.height; row++)
                memcpy(&p.at(x, y + row, 0), &p.tap(row * p.width, 0), (size_t)(p.bytes * p.width));
            for (int k = 0; k < p.width * p.height; k++)
                if (!p.counts(k)) // what a core's squares have too much of
                    p.at(x + k % p.width, y + k / p.width, 0) = check_random() % 2 ? 255 : 0;
        }
        p.draw_bits(true);
        compare(p, (int)check_random_in(1, 3));
    }
}

#ifdef TM_BOUND_PIXELS
/* Windows of 16 bits that score high by their low bytes, while the rounded template's sum with their high bytes is as often below 0 as above. */
void flat_high_bytes()
{
    const int64_t cases = check_cases(60);
    int64_t known = 0;
    for (int64_t i = 0; i < cases; i++) {
        problem p(2, (int)check_random_in(15, 25), (int)check_random_in(9, 24), (int)check_random_in(2, 24), (int)check_random_in(2, 24));
        p.draw(NOISE);
        for (int y = 0; y < p.map_height + p.height - 1; y++)
            for (int x = 0; x < p.map_width + p.width - 1; x++)
                p.at(x, y, 1) = 100;
        p.cut(false, 0);
        for (int64_t flips = check_random_in(1, 30); flips > 0; flips--)
            p.at((int)check_random_in(0, p.map_width + p.width - 2), (int)check_random_in(0, p.map_height + p.height - 2), 1) = 101;
        p.draw_bits(false);
        known += compare(p, (int)check_random_in(1, 3));
    }
    printf("# %" PRId64 " of %" PRId64 " known\n", known, cases);
}

/* One pixel of more bits than the kernel is told, in a corner, at an edge, next to a tile's end or anywhere. */
void one_exceeds()
{
    const int64_t cases = check_cases(40);
    for (int64_t i = 0; i < cases; i++) {
        problem p(2, (int)check_random_in(15, 25), (int)check_random_in(9, 24), (int)(check_random() % 3 ? check_random_in(1, 40) : check_random_in(505, 530)),
                  (int)(check_random() % 3 ? check_random_in(1, 60) : check_random_in(1, 3)));
        const int right = p.map_width + p.width - 2, bottom = p.map_height + p.height - 2;
        p.draw(NOISE);
        p.cut(false, 0);
        do
            p.draw_bits(false);
        while (p.low_bits == 8);
        const int x = check_random() % 4 == 0 ? min(right, 512 + (int)check_random_in(-1, 24)) : check_random() % 2 ? (int)check_random_in(0, right)
                                                                                             : check_random() % 2 * right;
        const int y = check_random() % 2 ? (int)check_random_in(0, bottom) : check_random() % 2 * bottom;
        p.at(x, y, 1) |= 1 << p.low_bits;
        CHECK(!compare(p, (int)check_random_in(1, 3)));
        CHECK_EQ(p.seen_bits, p.low_bits + 9);
    }
}
#else
/* Of scores smaller than the sine of the angle between the template and the rounded one, S_FT need not even have the sign. In a frame of
 * equal rows, a template of columns with nearly equal sums has no others; those of these seeds were answered wrongly once. */
void small_scores()
{
    static const unsigned seeds[] = {59, 442, 481, 798};
    for (const unsigned seed : seeds) {
        std::minstd_rand random(seed);
        problem p(1, 15, 9, 40, 1);
        int column[15] = {};
        for (int i = 0; i < 15 * 9; i++)
            column[i % 15] += p.tmpl.data()[i] = (uint8_t)(random() >> 8);
        for (int x = 0; x < 15; x++)
            for (int wanted = 1150 + (int)(random() >> 8) % 5, y = 0; column[x] != wanted; y = (y + 1) % 9) {
                uint8_t &sample = p.tmpl.data()[y * 15 + x];
                const int to = min(max(sample + wanted - column[x], 0), 255);
                column[x] += to - sample, sample = (uint8_t)to;
            }
        for (int x = 0; x < 54; x++)
            for (int y = 0, bright = (random() >> 8) % 2; y < 9; y++)
                p.at(x, y, 0) = bright ? 255 : 0;
        compare(p, 1);
    }
}
#endif

}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(noise), TEST(edges), TEST(copies), TEST(given_up), TEST(random_cases),
#ifdef TM_BOUND_PIXELS
                                       TEST(flat_high_bytes), TEST(one_exceeds)
#else
                                       TEST(small_scores)
#endif
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
