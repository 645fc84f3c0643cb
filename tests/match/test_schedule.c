/* SPDX-License-Identifier: MIT */
/* How a GPU takes jobs of one frame: in which chunks of rows, and which of them together. */
#include "check.h"
#include "cuda/schedule.h"
#include "fft/tiling.h"

/* Chunks cover the map, none is too small or too large, and each has the rows of the
 * frame that it takes. They shrink where kernels wait, and grow where copies do. A low map
 * is one chunk. */
static void cuts_chunks(void)
{
    for (int i = 0; i < 2000; i++) {
        const int64_t least = 64, bytes = 1 << 20, width = 1024 * check_random_in(1, 4);
        const int64_t size = check_random_in(1, 100), row = i % 3 ? 0 : 4 * width;
        const tm_domain domain = (tm_domain)check_random_in(TM_DOMAIN_VALID, TM_DOMAIN_FULL);
        int64_t first = 0, needed = 0, count = 0;
        tm_geometry g;
        tm_chunks chunks = {&g, width, row, 0, i % 2, 0};
        CHECK_EQ(tm_geometry_init(&g, domain, width, check_random_in(100, 6000), size, size), TM_OK);
        CHECK_EQ(tm_chunks_end(&chunks, 0), g.map_height);
        chunks.bytes = bytes;
        for (int64_t end; first < g.map_height; first = end, count++) {
            end = tm_chunks_end(&chunks, first);
            const int64_t before = needed;
            needed = tm_chunks_needed(&chunks, end);
            CHECK(end > first && end <= g.map_height);
            CHECK(needed >= before && needed <= g.frame_height);
            if (end == g.map_height) {
                CHECK_EQ(needed, g.frame_height);
            } else {
                CHECK((end - first) % 64 == 0 && end - first >= least);
                if (chunks.waits) {
                    CHECK((end - first - 64) * (width + row) <= bytes);
                    CHECK(end - first <= 2 * least || end - first <= (g.map_height - first) / 3);
                } else {
                    CHECK(end - first >= first / 64 * 64);
                }
                /* the last window's last row, if the frame has it */
                CHECK(needed > end - 1 - g.pad_y + size - 1 || needed == g.frame_height);
            }
        }
        CHECK(count > 1 || g.map_height < 4 * 1024);
        CHECK(g.map_height >= 4 * least || count == 1);
        CHECK_EQ(tm_chunks_count(&chunks), count);
    }
}

/* By FFT a chunk is whole rows of tiles; all of a map whose halves lie above each other, or that cuFFT makes, is one. */
static void cuts_tiles(void)
{
    tm_fft_tiling tiling = {.step_y = 100};
    tm_template tmpl = {.width = 20, .height = 20};
    tm_job job = {.tmpl = &tmpl, .tiling = &tiling};

    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 1000, 1019, 20, 20), TM_OK);
    for (int64_t bytes = 1; bytes < 100 << 20; bytes *= 2) {
        const tm_chunks c = tm_chunks_make(&job, false, bytes);
        int64_t first = 0;
        for (int64_t end; first < 1000; first = end) {
            end = tm_chunks_end(&c, first);
            CHECK(end == 1000 || end % 100 == 0);
            CHECK(end == 1000 || (end - first) * 1000 > bytes / 16);
            CHECK((end - first - 100) * 1000 <= bytes / 16);
        }
        CHECK_EQ(first, 1000);
    }
    CHECK_EQ(tm_chunks_make(&job, false, 1 << 20).bytes, 1 << 20);
    tiling.by_cufft = true;
    CHECK_EQ(tm_chunks_make(&job, false, 1 << 20).bytes, 0);
    tiling.by_cufft = false;
    tiling.shift_y = 500;
    CHECK_EQ(tm_chunks_make(&job, false, 1 << 20).bytes, 0);
    tiling.shift_y = 0;
    job.frame.type = TM_SAMPLE_U16; /* of planes */
    CHECK_EQ(tm_chunks_make(&job, false, 1 << 20).bytes, 0);
}

/* What is copied in and back decides. */
static void weighs_rows(void)
{
    static const tm_fft_tiling tiling = {.shift_y = 1};
    tm_template tmpl = {.width = 8, .height = 8};
    uint8_t mask;
    tm_job job = {.tmpl = &tmpl};

    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 1000, 1000, 8, 8), TM_OK);
    CHECK_EQ(tm_chunks_make(&job, false, 1).frame_row_bytes, 1000);
    job.frame = (tm_image){.type = TM_SAMPLE_U16, .channels = 3};
    CHECK_EQ(tm_chunks_make(&job, false, 1).frame_row_bytes, 6000);
    job.frame.mask = &mask;
    CHECK_EQ(tm_chunks_make(&job, true, 1).frame_row_bytes, 7000);
    CHECK_EQ(tm_chunks_make(&job, false, 1).map_row_bytes, 0);
    CHECK_EQ(tm_chunks_make(&job, true, 1).map_row_bytes, 993 * 4);
    job.metric = TM_METRIC_CCORR;
    CHECK_EQ(tm_chunks_make(&job, true, 1).map_row_bytes, 993 * 8);
    CHECK_EQ(tm_chunks_make(&job, false, 1 << 20).bytes, 1 << 20);
    CHECK(tm_chunks_make(&job, false, 1 << 20).waits);
    tmpl.n = 1000000;
    CHECK(!tm_chunks_make(&job, true, 1 << 20).waits);
    job.tiling = &tiling;
    CHECK_EQ(tm_chunks_make(&job, false, 1 << 20).bytes, 0);
}

/* Which jobs share a launch, and which find their frame on the device. */
static void groups_jobs(void)
{
    enum { MOST = 70 };
    tm_template wide = {.width = 9, .height = 8}, high = {.width = 8, .height = 9}, *planes;
    const tm_template apart = {.width = 9, .height = 8, .planes = &planes};
    tm_job jobs[MOST];

    for (int i = 0; i < MOST; i++) {
        jobs[i] = (tm_job){.tmpl = &wide};
        CHECK_EQ(tm_geometry_init(&jobs[i].geometry, TM_DOMAIN_SAME, 99, 90, 9, 8), TM_OK);
    }
    CHECK_EQ(tm_group_size(jobs, 1), 1);
    CHECK_EQ(tm_group_size(jobs, MOST), TM_GROUP_MAX);
    CHECK(!tm_frame_is_there(jobs, 0) && tm_frame_is_there(jobs, 1));

    jobs[2].tmpl = &high; /* its frame has other zeros around it */
    CHECK_EQ(tm_geometry_init(&jobs[2].geometry, TM_DOMAIN_SAME, 99, 90, 8, 9), TM_OK);
    CHECK_EQ(tm_group_size(jobs, MOST), 2);
    CHECK(!tm_frame_is_there(jobs, 2) && !tm_frame_is_there(jobs, 3));
    CHECK_EQ(tm_group_size(jobs + 3, MOST - 3), TM_GROUP_MAX);

    jobs[5].tmpl = jobs[7].tmpl = &apart; /* what is taken apart has a copy of its own */
    CHECK_EQ(tm_group_size(jobs + 3, MOST - 3), 2);
    CHECK_EQ(tm_group_size(jobs + 5, MOST - 5), 1);
    CHECK(!tm_frame_is_there(jobs, 5) && tm_frame_is_there(jobs, 6) && tm_frame_is_there(jobs, 7));

    const uint8_t samples[2] = {0}; /* of a slice that begins a row further down, or is higher */
    jobs[6].tmpl = &apart;
    CHECK(tm_frame_is_there(jobs, 6));
    jobs[6].frame.samples = samples + 1;
    CHECK(!tm_frame_is_there(jobs, 6));
    jobs[5].frame.samples = samples + 1;
    CHECK(tm_frame_is_there(jobs, 6));
    jobs[6].frame.height = 1;
    CHECK(!tm_frame_is_there(jobs, 6));

    tm_peak_list peaks;
    jobs[10].peaks = &peaks;
    CHECK_EQ(tm_group_size(jobs + 8, 9), 2);
    CHECK_EQ(tm_group_size(jobs + 10, 9), 1);

    uint8_t masks[3][72] = {{1}, {1}, {0, 1}}; /* the first two are equal */
    tm_template masked[3];
    for (int i = 0; i < 3; i++) {
        masked[i] = (tm_template){.width = 9, .height = 8, .n = 72, .mask = masks[i], .planes = &planes, .plane_count = 2};
        jobs[20 + i].tmpl = &masked[i];
    }
    CHECK_EQ(tm_group_size(jobs + 20, 9), 2);
    CHECK_EQ(tm_group_size(jobs + 22, 9), 1);
    jobs[21].metric = TM_METRIC_CCORR;
    CHECK_EQ(tm_group_size(jobs + 20, 9), 1);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(cuts_chunks), TEST(cuts_tiles), TEST(weighs_rows), TEST(groups_jobs)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
