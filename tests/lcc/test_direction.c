/* SPDX-License-Identifier: MIT */
/* A template's direction: bytes that add up to 0 in each channel, an angle and a length that are what is said of them, and a core that all windows
 * of a cell have. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "kinds.h"
#include "lcc/direction.h"
#include "pictures.h"

static bool counts(const tm_template *t, int64_t i)
{
    return !t->mask || t->mask[i];
}

static void check_bytes(const tm_template *t, const tm_direction *d)
{
    long double length = 0, products = 0, squares = 0;

    CHECK_EQ(d->channels, t->channels);
    for (int c = 0; c < t->channels; c++) {
        const long double mean = (long double)t->channel_sums[c] / (long double)t->count;
        int64_t sum = 0;
        for (int64_t i = 0; i < t->n; i++) {
            const int byte = (int8_t)d->bytes[c]->samples[i];
            CHECK(counts(t, i) || byte == 0);
            CHECK(byte > -128);
            const long double deviation = counts(t, i) ? t->samples[i * t->channels + c] - mean : 0;
            sum += byte, length += (long double)(byte * byte), products += byte * deviation, squares += deviation * deviation;
        }
        CHECK_EQ(sum, 0);
    }
    CHECK(fabsl(d->length / sqrtl(length) - 1) < 0x1p-50L);
    CHECK(products > 0);
    const long double cosine = products / sqrtl(length * squares);
    CHECK((1 - cosine) * (1 + cosine) <= (long double)d->sine * d->sine);
}

/* In each of the cell's windows the core's patches lie within the window, and no more pixels than it says are missing. */
static void check_core(const tm_template *t, const tm_direction_core *core)
{
    const int64_t left = TM_PATCH * core->left, right = TM_PATCH * core->right, top = TM_PATCH * core->top, bottom = TM_PATCH * core->bottom;

    CHECK(left < right && top < bottom);
    for (int64_t y = 0; y < TM_PATCH; y++) {
        for (int64_t x = 0; x < TM_PATCH; x++) {
            int missing = 0;
            CHECK(left >= x && right <= x + t->width && top >= y && bottom <= y + t->height);
            for (int64_t row = top; row < bottom; row++) {
                for (int64_t column = left; column < right; column++)
                    missing += !counts(t, (row - y) * t->width + column - x);
            }
            CHECK(missing <= core->missing);
        }
    }
}

static void random_directions(void)
{
    const int cases = (int)check_cases(400);
    int made = 0;

    for (int i = 0; i < cases; i++) {
        const int64_t w = check_random_in(1, i % 8 ? 70 : 260), h = check_random_in(1, i % 8 ? 70 : 260);
        const int channels = (int)check_random_in(1, 4);
        tm_image image = {0};
        tm_template *t;
        tm_direction *d;
        void *samples = picture_make(&image, w, h, TM_SAMPLE_U8, channels, picture_random_content());
        void *mask = check_random() % 2 ? picture_mask(&image, (int)check_random_in(0, PICTURE_MASKS - 1)) : NULL;
        CHECK_EQ(tm_template_prepare(&t, &image), TM_OK);
        CHECK_EQ(tm_direction_make(&d, t), TM_OK);
        CHECK(!d || !t->flat);
        if (d) {
            check_bytes(t, d);
            check_core(t, &d->core);
            made++;
        }
        tm_direction_free(&d);
        CHECK(!d);
        tm_template_destroy(&t);
        free(mask);
        free(samples);
    }
    CHECK(made > cases / 8);
    printf("# %d directions of %d templates\n", made, cases);
}

/* Whether noise of that size has one, under a mask of so many holes at most. */
static bool is_made(int64_t w, int64_t h, int channels, tm_sample_type type)
{
    tm_image image = {0};
    tm_template *t;
    tm_direction *d;
    void *samples = picture_make(&image, w, h, type, channels, PICTURE_NOISE);
    CHECK_EQ(tm_template_prepare(&t, &image), TM_OK);
    CHECK_EQ(tm_direction_make(&d, t), TM_OK);
    const bool made = d;
    tm_direction_free(&d);
    tm_template_destroy(&t);
    free(samples);
    return made;
}

static void sizes(void)
{
    CHECK(is_made(26, 16, 3, TM_SAMPLE_U8));
    CHECK(is_made(16, 16, 1, TM_SAMPLE_U8));
    CHECK(!is_made(26, 15, 3, TM_SAMPLE_U8)); /* no patch that all windows have */
    CHECK(!is_made(15, 26, 1, TM_SAMPLE_U8));
    CHECK(!is_made(64, 64, 1, TM_SAMPLE_U16));
    CHECK(is_made(256, 257, 1, TM_SAMPLE_U8));
    CHECK(!is_made(257, 257, 1, TM_SAMPLE_U8)); /* products' sums may not fit */
    CHECK(!is_made(150, 147, 3, TM_SAMPLE_U8));
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(random_directions), TEST(sizes)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
