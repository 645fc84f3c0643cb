/* SPDX-License-Identifier: MIT */
/* Calls with frames in a device's memory: several templates, peaks, several devices, little memory, what is
 * refused, and what fails. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends.h"
#include "check.h"
#include "device_frames.h"
#include "pictures.h"

static tm_image noise_image(int64_t width, int64_t height)
{
    const tm_image image = {.samples = malloc((size_t)(width * height)), .width = width, .height = height,
                            .stride = (ptrdiff_t)width};
    CHECK(image.samples);
    picture_noise((void *)(uintptr_t)image.samples, (size_t)(width * height));
    return image;
}

enum { TEMPLATES = 70 };

/* A picture of noise, templates cut from it, and the picture in a device's memory. */
typedef struct scene {
    tm_image frame;
    tm_matcher *cpu, *cuda;
    int count;
    tm_template *on_cpu[TEMPLATES], *on_cuda[TEMPLATES];
    placed_picture placed;
    void *stream;
} scene;

static void scene_make(scene *s, int count, int64_t width, int64_t height, uint64_t device_mask, int device,
                       int64_t device_memory)
{
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 1);

    *s = (scene){.frame = noise_image(width, height), .count = count, .stream = device_stream(device)};
    CHECK_EQ(tm_matcher_create(&s->cpu, &settings), TM_OK);
    settings.device = check_random() % 2 && !device_mask ? TM_DEVICE_AUTO : TM_DEVICE_CUDA;
    settings.device_mask = device_mask;
    settings.device_memory = device_memory;
    CHECK_EQ(tm_matcher_create(&s->cuda, &settings), TM_OK);
    for (int i = 0; i < count; i++) {
        tm_image crop = s->frame;
        crop.width = 8 + i % 3;
        crop.height = 9;
        crop.samples += check_random_in(0, height - 9) * width + check_random_in(0, width - 10);
        CHECK_EQ(tm_template_create(&s->on_cpu[i], s->cpu, &crop), TM_OK);
        CHECK_EQ(tm_template_create(&s->on_cuda[i], s->cuda, &crop), TM_OK);
    }
    place_picture(&s->placed, &s->frame, device, s->stream);
    put_picture(&s->placed);
}

static void scene_free(scene *s)
{
    for (int i = 0; i < s->count; i++) {
        tm_template_destroy(&s->on_cpu[i]);
        tm_template_destroy(&s->on_cuda[i]);
    }
    tm_matcher_destroy(&s->cpu);
    tm_matcher_destroy(&s->cuda);
    placed_picture_free(&s->placed);
    device_stream_free(s->stream);
    free((void *)(uintptr_t)s->frame.samples);
}

static const tm_template *const *templates(tm_template *const *list)
{
    return (const tm_template *const *)list;
}

static void check_bests(const scene *s, const tm_peak *expected, const tm_peak *got)
{
    for (int i = 0; i < s->count; i++)
        CHECK(got[i].x == expected[i].x && got[i].y == expected[i].y && got[i].score == expected[i].score);
}

/* More templates than share a launch, of several sizes, waited for and not. */
static void many_templates(void)
{
    require_device_memory();
    tm_peak expected[TEMPLATES], got[TEMPLATES];
    scene s;
    scene_make(&s, TEMPLATES, 90, 60, 0, 0, 0);
    tm_peak *there = device_alloc(0, sizeof got), *back = device_alloc_host(sizeof got);
    CHECK_EQ(tm_match_many(s.cpu, &s.frame, templates(s.on_cpu), TEMPLATES, expected, NULL), TM_OK);
    CHECK_EQ(tm_match_device(s.cuda, &s.placed.image, templates(s.on_cuda), TEMPLATES, got, NULL), TM_OK);
    check_bests(&s, expected, got);
    CHECK_EQ(tm_match_device_async(s.cuda, &s.placed.image, templates(s.on_cuda), TEMPLATES, there, NULL), TM_OK);
    device_get(back, there, sizeof got, s.stream);
    device_stream_wait(s.stream);
    check_bests(&s, expected, back);
    CHECK(strstr(tm_matcher_plan(s.cuda), "the frame is there"));
    device_free(there);
    device_free_host(back);
    scene_free(&s);
}

/* Frames of one size, whose copies on the device take each other's place, on streams in turns. */
static void frames_of_one_size(void)
{
    enum { FRAMES = 6 };
    require_device_memory();
    for (int64_t i = check_cases(400) / 40 + 1; i > 0; i--) {
        tm_peak expected[FRAMES], *there = device_alloc(0, sizeof expected), *back = device_alloc_host(sizeof expected);
        placed_picture frames[FRAMES];
        tm_image host[FRAMES];
        scene s;
        scene_make(&s, 1, 60, 40, 0, 0, 0);
        void *streams[] = {s.stream, device_stream(0)};
        for (int k = 0; k < FRAMES; k++) {
            host[k] = noise_image(60, 40);
            CHECK_EQ(tm_match(s.cpu, &host[k], s.on_cpu[0], &expected[k], NULL), TM_OK);
            place_picture(&frames[k], &host[k], 0, streams[check_random() % 2]);
        }
        for (int k = 0; k < FRAMES; k++) {
            put_picture(&frames[k]);
            CHECK_EQ(tm_match_device_async(s.cuda, &frames[k].image, templates(s.on_cuda), 1, &there[k], NULL), TM_OK);
            device_get(&back[k], &there[k], sizeof *back, frames[k].image.stream);
        }
        device_stream_wait(streams[0]);
        device_stream_wait(streams[1]);
        for (int k = 0; k < FRAMES; k++) {
            check_bests(&s, &expected[k], &back[k]);
            placed_picture_free(&frames[k]);
            free((void *)(uintptr_t)host[k].samples);
        }
        device_stream_free(streams[1]);
        device_free(there);
        device_free_host(back);
        scene_free(&s);
    }
}

static void all_peaks(void)
{
    require_device_memory();
    for (int64_t i = check_cases(400) / 20; i > 0; i--) {
        tm_search search;
        tm_hits expected, got;
        scene s;
        scene_make(&s, 1, 100 + (int64_t)(check_random() % 60), 70, 0, 0, 0);
        tm_search_default(&search, sizeof search);
        search.most = check_random_in(1, 30);
        search.margin = check_random() % 2;
        CHECK_EQ(tm_match_peaks(s.cpu, &s.frame, templates(s.on_cpu), 1, &search, &expected, NULL), TM_OK);
        CHECK_EQ(tm_match_device_peaks(s.cuda, &s.placed.image, templates(s.on_cuda), 1, &search, &got, NULL),
                 TM_OK);
        CHECK_EQ(got.count, expected.count);
        for (size_t k = 0; k < got.count; k++)
            CHECK(memcmp(&got.items[k], &expected.items[k], offsetof(tm_hit, dx)) == 0);
        tm_hits_free(&expected);
        tm_hits_free(&got);
        search.subpixel = 1;
        CHECK_EQ(tm_match_device_peaks(s.cuda, &s.placed.image, templates(s.on_cuda), 1, &search, &got, NULL),
                 TM_ERR_INVALID);
        CHECK(strstr(tm_matcher_message(s.cuda), "sub-pixel"));
        scene_free(&s);
    }
}

/* A frame is matched where it lies, though others could take rows; and by nobody else. */
static void two_devices(void)
{
    require_device_memory();
    if (device_count() < 2)
        check_skip("needs two devices");
    for (int device = 0; device < 2; device++) {
        tm_peak expected, got;
        scene s;
        scene_make(&s, 1, 300, 200, 3, device, 0);
        CHECK_EQ(tm_match_many(s.cpu, &s.frame, templates(s.on_cpu), 1, &expected, NULL), TM_OK);
        CHECK_EQ(tm_match_device(s.cuda, &s.placed.image, templates(s.on_cuda), 1, &got, NULL), TM_OK);
        check_bests(&s, &expected, &got);
        check_device_report(s.cuda, device);

        /* it says that it lies on the other one */
        tm_device_image wrong = s.placed.image;
        void *other = device_stream(!device);
        wrong.device = !device;
        wrong.stream = other;
        CHECK_EQ(tm_match_device(s.cuda, &wrong, templates(s.on_cuda), 1, &got, NULL), TM_ERR_INVALID);
        CHECK(strstr(tm_matcher_message(s.cuda), device ? "samples lie in the memory of cuda:1, not in that of cuda:0"
                                                        : "samples lie in the memory of cuda:0, not in that of cuda:1"));
        /* a stream of the other one */
        wrong.device = device;
        CHECK_EQ(tm_match_device(s.cuda, &wrong, templates(s.on_cuda), 1, &got, NULL), TM_ERR_INVALID);
        CHECK(strstr(tm_matcher_message(s.cuda), "the stream is not one of cuda:"));
        /* a map on the other one */
        void *far = device_alloc(!device, 300 * 200 * sizeof(float));
        const tm_map map = {far, 300 * sizeof(float)};
        CHECK_EQ(tm_match_device(s.cuda, &s.placed.image, templates(s.on_cuda), 1, &got, &map), TM_ERR_INVALID);
        CHECK(strstr(tm_matcher_message(s.cuda), "the map lies in the memory of cuda:"));
        device_free(far);
        device_stream_free(other);
        scene_free(&s);
    }
}

/* Each with its message; the matcher goes on afterwards. */
static void refused(void)
{
    require_device_memory();
    tm_peak best;
    scene s;
    scene_make(&s, 1, 100, 80, 0, 0, 0);
    const tm_template *const *t = templates(s.on_cuda);
    const tm_device_image good = s.placed.image;
    tm_device_image bad;

#define REFUSED(call, wanted, text)                                                            \
    do {                                                                                       \
        CHECK_EQ(call, wanted);                                                                \
        if (!strstr(tm_matcher_message(s.cuda), text))                                         \
            check_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", tm_matcher_message(s.cuda), text); \
        CHECK_EQ(tm_match_device(s.cuda, &good, t, 1, &best, NULL), TM_OK);                    \
    } while (0)

    bad = good;
    bad.image.samples = s.frame.samples;
    bad.image.stride = 100;
    bad.pixel_stride = bad.channel_stride = 0;
    REFUSED(tm_match_device(s.cuda, &bad, t, 1, &best, NULL), TM_ERR_INVALID,
            "the picture's samples lie in the host's memory, not in that of cuda:0");
    bad = good;
    bad.image.mask = s.frame.samples;
    bad.image.mask_stride = 100;
    REFUSED(tm_match_device(s.cuda, &bad, t, 1, &best, NULL), TM_ERR_INVALID,
            "the picture's mask lies in the host's memory, not in that of cuda:0");
    bad = good;
    bad.image.height += 1 << 20;
    REFUSED(tm_match_device(s.cuda, &bad, t, 1, &best, NULL), TM_ERR_INVALID, "the picture's samples lie in");
    bad = good;
    bad.device = 40;
    REFUSED(tm_match_device(s.cuda, &bad, t, 1, &best, NULL), TM_ERR_INVALID,
            "the picture lies on cuda:40, and the matcher is of cuda:0");
    bad = good;
    bad.size = 0;
    REFUSED(tm_match_device(s.cuda, &bad, t, 1, &best, NULL), TM_ERR_INVALID, "lacks its size");
    bad = good;
    bad.image.stride = PTRDIFF_MAX / 50;
    REFUSED(tm_match_device(s.cuda, &bad, t, 1, &best, NULL), TM_ERR_INVALID, "beyond all memory");
    bad = good;
    bad.image.type = TM_SAMPLE_U16;
    bad.pixel_stride = 3;
    REFUSED(tm_match_device(s.cuda, &bad, t, 1, &best, NULL), TM_ERR_INVALID, "multiples of their size");
    REFUSED(tm_match_device_async(s.cuda, &good, t, 1, &best, NULL), TM_ERR_INVALID,
            "the best matches lie in the host's memory");
    float *plain = malloc(100 * 80 * sizeof *plain);
    const tm_map map = {plain, 100 * sizeof *plain};
    REFUSED(tm_match_device_async(s.cuda, &good, t, 1, NULL, &map), TM_ERR_INVALID, "the map lies in the host's memory");
    free(plain);
    tm_template *none = NULL;
    bad = good;
    bad.image.samples = s.frame.samples;
    REFUSED(tm_template_create_device(&none, s.cuda, &bad), TM_ERR_INVALID, "samples lie in the host's memory");
    CHECK(!none);
    CHECK_EQ(tm_match_device(s.cpu, &good, templates(s.on_cpu), 1, &best, NULL), TM_ERR_INVALID);
    CHECK(strstr(tm_matcher_message(s.cpu), "the matcher is of the CPU"));
    CHECK_EQ(tm_match_device(NULL, &good, t, 1, &best, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match_device(s.cuda, NULL, t, 1, &best, NULL), TM_ERR_INVALID);
    scene_free(&s);
}

/* Memory that the library allocates is as good as any, and bounded. */
static void own_memory(void)
{
    require_device_memory();
    tm_peak expected, got;
    void *frame = NULL, *none = NULL;
    scene s;
    scene_make(&s, 1, 200, 100, 0, 0, 3000000);
    CHECK_EQ(tm_device_memory_alloc(s.cuda, 0, 200 * 100, &frame), TM_OK);
    CHECK_EQ(tm_device_memory_alloc(s.cuda, 0, 4000000, &none), TM_ERR_DEVICE_MEMORY);
    CHECK_EQ(tm_device_memory_alloc(s.cuda, 7, 1, &none), TM_ERR_INVALID);
    CHECK(strstr(tm_matcher_message(s.cuda), "memory is wanted on cuda:7, and the matcher is of cuda:0"));
    CHECK_EQ(tm_device_memory_alloc(s.cuda, 0, 0, &none), TM_ERR_INVALID);
    CHECK(!none);
    tm_device_image there = {.size = sizeof there, .image = s.frame, .stream = s.stream};
    uint8_t *copy = device_alloc_host(200 * 100);
    memcpy(copy, s.frame.samples, 200 * 100);
    device_put(frame, copy, 200 * 100, s.stream);
    there.image.samples = frame;
    CHECK_EQ(tm_match(s.cpu, &s.frame, s.on_cpu[0], &expected, NULL), TM_OK);
    CHECK_EQ(tm_match_device(s.cuda, &there, templates(s.on_cuda), 1, &got, NULL), TM_OK);
    check_bests(&s, &expected, &got);
    tm_device_memory_free(s.cuda, 0, frame);
    tm_device_memory_free(s.cuda, 0, NULL);
    device_free_host(copy);
    scene_free(&s);
}

/* What a call that is not waited for found, read by a program without CUDA's runtime. */
static void reads(void)
{
    require_device_memory();
    tm_peak expected[3], *there;
    const void *bytes;
    tm_device_read *read = NULL, *other = NULL;
    scene s;
    scene_make(&s, 3, 60, 40, 0, 0, 0);
    CHECK_EQ(tm_match_many(s.cpu, &s.frame, templates(s.on_cpu), 3, expected, NULL), TM_OK);
    CHECK_EQ(tm_device_memory_alloc(s.cuda, 0, sizeof expected, (void **)&there), TM_OK);
    for (int k = 0; k < 20; k++) {
        const int count = k % 3 + 1;
        tm_peak got[3];
        CHECK_EQ(tm_match_device_async(s.cuda, &s.placed.image, templates(s.on_cuda), (size_t)count, there, NULL), TM_OK);
        CHECK_EQ(tm_device_read_start(k % 2 ? &read : &other, s.cuda, 0, s.stream, there,
                                      k < 2 ? sizeof got : (size_t)count * sizeof *got), TM_OK);
        tm_device_read *now = k % 2 ? read : other;
        if (k % 4 < 2)
            CHECK_EQ(tm_device_read_bytes(now, true, &bytes), TM_OK);
        else
            do
                CHECK_EQ(tm_device_read_bytes(now, false, &bytes), TM_OK);
            while (!bytes);
        CHECK(bytes);
        memcpy(got, bytes, (size_t)count * sizeof *got);
        s.count = count;
        check_bests(&s, expected, got);
    }
    s.count = 3;
    if (device_is_emulated()) { /* nobody waits */
        CHECK_EQ(tm_match_device_async(s.cuda, &s.placed.image, templates(s.on_cuda), 3, there, NULL), TM_OK);
        const int64_t before = device_steps();
        CHECK_EQ(tm_device_read_start(&read, s.cuda, 0, s.stream, there, sizeof expected), TM_OK);
        CHECK_EQ(device_steps(), before);
        CHECK_EQ(tm_device_read_bytes(read, false, &bytes), TM_OK);
        CHECK(!bytes);
    }
    tm_device_read_free(&read); /* under way */
    CHECK(!read);
    CHECK_EQ(tm_device_read_start(&other, s.cuda, 0, s.stream, there, sizeof expected + 1), TM_ERR_INVALID);
    CHECK(strstr(tm_matcher_message(s.cuda), "too small"));
    tm_device_read_free(&other);
    CHECK_EQ(tm_device_read_bytes(read, true, &bytes), TM_ERR_INVALID);
    CHECK_EQ(tm_device_read_start(&read, s.cuda, 0, s.stream, expected, sizeof expected), TM_ERR_INVALID);
    CHECK(strstr(tm_matcher_message(s.cuda), "what is to be read lies in the host's memory"));
    CHECK_EQ(tm_device_read_bytes(read, true, &bytes), TM_ERR_INVALID);
    tm_device_read_free(&read);
    CHECK_EQ(tm_device_read_start(&read, s.cuda, 7, s.stream, there, sizeof expected), TM_ERR_INVALID);
    CHECK(strstr(tm_matcher_message(s.cuda), "memory is read on cuda:7"));
    tm_device_read_free(&read);
    CHECK_EQ(tm_device_read_start(&read, s.cpu, 0, s.stream, there, sizeof expected), TM_ERR_INVALID);
    CHECK(!read);
    tm_device_memory_free(s.cuda, 0, there);
    scene_free(&s);
}

/* Every call of it fails in turn. */
static void read_faults(void)
{
    int failed = 0;
    require_device_memory();
    if (!device_is_emulated())
        check_skip("needs a backend with fault injection");
    void *there = device_alloc(0, 64), *stream = device_stream(0);
    for (int call = 5; call < 40; call++) {
        const tm_settings settings = settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 1);
        char fault[40];
        const void *bytes;
        tm_device_read *read = NULL;
        tm_matcher *m;
        snprintf(fault, sizeof fault, "0:%d:719", call);
        setenv("TMATCH_FAULT", fault, 1);
        tm_status status = tm_matcher_create(&m, &settings);
        const bool opened = status == TM_OK;
        for (int k = 0; k < 3 && status == TM_OK; k++) {
            status = tm_device_read_start(&read, m, 0, stream, there, 64);
            CHECK_EQ(tm_device_read_bytes(read, true, &bytes), status == TM_OK ? TM_OK : TM_ERR_INVALID);
        }
        failed += opened && status != TM_OK;
        CHECK(status == TM_OK || (status == TM_ERR_DEVICE && strstr(tm_matcher_message(m), "cuda:0")));
        tm_device_read_free(&read);
        tm_matcher_destroy(&m);
        unsetenv("TMATCH_FAULT");
    }
    device_free(there);
    device_stream_free(stream);
    CHECK(failed > 2);
}

/* In little memory the frame goes through by bands; a call that is not waited for does not. */
static void little_memory(void)
{
    require_device_memory();
    tm_peak expected, got;
    scene s;
    scene_make(&s, 1, 2000, 1500, 0, 0, 3500000);
    float *map = malloc(2000 * 1500 * sizeof *map);
    const tm_map view = {map, 2000 * sizeof *map};
    CHECK_EQ(tm_match_many(s.cpu, &s.frame, templates(s.on_cpu), 1, &expected, NULL), TM_OK);
    CHECK_EQ(tm_match_device(s.cuda, &s.placed.image, templates(s.on_cuda), 1, &got, &view), TM_OK);
    check_bests(&s, &expected, &got);
    CHECK_EQ(tm_match_device_async(s.cuda, &s.placed.image, templates(s.on_cuda), 1, NULL, NULL),
             TM_ERR_DEVICE_MEMORY);
    free(map);
    scene_free(&s);
}

/* Every call into CUDA fails in turn: an error that says so, or the right result. */
static void every_fault(void)
{
    int failed = 0;
    require_device_memory();
    if (!device_is_emulated())
        check_skip("needs a backend with fault injection");
    tm_peak *there = device_alloc(0, sizeof *there), *back = device_alloc_host(sizeof *back);
    for (int call = 20; call < 130; call += check_cases(400) < 400 ? 3 : 1) {
        static const char *const errors[] = {"2", "1-", "719"};
        char fault[40];
        tm_peak expected, got;
        scene s;
        snprintf(fault, sizeof fault, "0:%d:%s", call, errors[check_random() % 3]);
        setenv("TMATCH_FAULT", fault, 1);
        scene_make(&s, 1, 60, 300, 0, 0, 0);
        CHECK_EQ(tm_match_many(s.cpu, &s.frame, templates(s.on_cpu), 1, &expected, NULL), TM_OK);
        for (int k = 0; k < 6; k++) {
            const bool async = check_random() % 2;
            const tm_template *const *t = templates(s.on_cuda);
            const tm_status status = async ? tm_match_device_async(s.cuda, &s.placed.image, t, 1, there, NULL)
                                           : tm_match_device(s.cuda, &s.placed.image, t, 1, &got, NULL);
            if (async)
                device_get(back, there, sizeof *back, s.stream);
            device_stream_wait(s.stream);
            failed += status != TM_OK;
            if (status == TM_OK)
                check_bests(&s, &expected, async ? back : &got);
            else
                CHECK((status == TM_ERR_DEVICE || status == TM_ERR_DEVICE_MEMORY) &&
                      strstr(tm_matcher_message(s.cuda), "cuda:0"));
        }
        unsetenv("TMATCH_FAULT");
        scene_free(&s);
    }
    device_free(there);
    device_free_host(back);
    printf("# %d calls failed\n", failed);
    CHECK(failed > 5);
}

/* A device that does not answer is given up; what is asked of it afterwards is refused. A call that hangs in
 * the caller's own thread is not watched. One that comes back late may still read the frame. */
static void hangs(void)
{
    enum { HANG_MS = 1500 };
    int given_up = 0, kept = 0;
    scene late[5];
    require_device_memory();
    if (!device_is_emulated())
        check_skip("needs a backend with fault injection");
    char text[16];
    snprintf(text, sizeof text, "%d", HANG_MS);
    setenv("TMATCH_FAULT_HANG_MS", text, 1);
    for (int call = 30; call < 130; call += 20) {
        char fault[40];
        tm_settings settings = settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 1);
        tm_matcher *m;
        tm_peak best;
        scene s;
        scene_make(&s, 1, 60, 300, 0, 0, 0);
        snprintf(fault, sizeof fault, "0:%d:-1", call);
        setenv("TMATCH_FAULT", fault, 1);
        settings.device_timeout = 0.4;
        const tm_status created = tm_matcher_create(&m, &settings);
        unsetenv("TMATCH_FAULT");
        if (created != TM_OK) { /* on a machine that is very busy */
            CHECK(strstr(tm_matcher_message(m), "did not answer within"));
            tm_matcher_destroy(&m);
            scene_free(&s);
            continue;
        }
        tm_image crop = s.frame;
        tm_template *t;
        crop.width = crop.height = 9;
        CHECK_EQ(tm_template_create(&t, m, &crop), TM_OK);
        const tm_template *list = t;
        for (int k = 0; k < 12; k++) {
            const bool gone = tm_matcher_hung(m) > 0;
            const tm_status status = tm_match_device(m, &s.placed.image, &list, 1, &best, NULL);
            CHECK_EQ(status, tm_matcher_hung(m) ? TM_ERR_DEVICE : TM_OK);
            if (status != TM_OK)
                CHECK(strstr(tm_matcher_message(m), gone ? "the picture lies on cuda:0, which failed in an earlier call"
                                                         : "cuda:0 did not answer within 0.4 s"));
        }
        given_up += tm_matcher_hung(m);
        tm_template_destroy(&t);
        tm_matcher_destroy(&m);
        late[kept++] = s;
    }
    if (given_up)
        usleep((HANG_MS + 500) * 1000);
    while (kept > 0)
        scene_free(&late[--kept]);
    unsetenv("TMATCH_FAULT_HANG_MS");
    CHECK(given_up > 0);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(many_templates), TEST(frames_of_one_size), TEST(all_peaks),   TEST(two_devices),
        TEST(refused),        TEST(own_memory),         TEST(little_memory), TEST(every_fault),
        TEST(hangs),          TEST(reads),             TEST(read_faults),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
