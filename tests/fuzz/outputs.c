/* SPDX-License-Identifier: MIT */
/* Files that are written where the disk, or memory, may run out: a target is the whole new file, or
 * stays as it was, and nothing else is left. Pictures, drawn matches, heat maps, arrays and text. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/io.h"

#define OLD "what was there before"

enum { MOST_SIDE = 64, MOST_MARKS = 12, MOST_BYTES = 1 << 16 };

static char folder[] = "/tmp/tmatch-fuzz.XXXXXX";

static const char *const names[] = {"a.png", "b.jpg", "c.npy", "d.txt"};

static void path_of(char path[FUZZ_PATH], const char *name)
{
    snprintf(path, FUZZ_PATH, "%s/%s", folder, name);
}

static void remove_all(void)
{
    char path[FUZZ_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(path, names[i]);
        remove(path);
    }
    rmdir(folder);
}

/* Numbers from the input, and then zeros. */
typedef struct numbers {
    const uint8_t *at;
    size_t left;
} numbers;

static uint8_t take_byte(numbers *n)
{
    if (n->left == 0)
        return 0;
    n->left--;
    return *n->at++;
}

static void fill(numbers *n, void *to, size_t size)
{
    const size_t taken = size < n->left ? size : n->left;
    memset(to, 0, size);
    if (taken)
        memcpy(to, n->at, taken);
    n->at += taken;
    n->left -= taken;
}

static uint8_t *samples_of(numbers *n, size_t size)
{
    uint8_t *samples = malloc(size);
    if (!samples) /* the allocation that was to fail: only one does */
        samples = malloc(size);
    FUZZ_CHECK(samples);
    fill(n, samples, size);
    for (size_t i = 0; i < size && n->left == 0; i++)
        samples[i] = (uint8_t)(samples[i] + i * i / 3);
    return samples;
}

static io_picture draw_picture(numbers *n, int channels)
{
    io_picture p = {.width = take_byte(n) % MOST_SIDE + 1, .height = take_byte(n) % MOST_SIDE + 1,
                    .channels = channels, .bits = 8};
    p.samples = samples_of(n, (size_t)(p.width * p.height * p.channels));
    return p;
}

static size_t draw_marks(numbers *n, size_t colors, io_box boxes[MOST_MARKS])
{
    const size_t count = take_byte(n) % (MOST_MARKS + 1);
    for (size_t i = 0; i < count; i++) {
        boxes[i] = (io_box){.x = (int8_t)take_byte(n), .y = (int8_t)take_byte(n), .w = take_byte(n) % 40 + 1,
                            .h = take_byte(n) % 40 + 1, .color = take_byte(n) % (int)colors, .weak = take_byte(n) % 2};
        fill(n, boxes[i].label, take_byte(n) % sizeof boxes[i].label);
        boxes[i].label[sizeof boxes[i].label - 1] = '\0';
    }
    return count;
}

static bool write_picture(numbers *n, const char *path, io_error *error)
{
    io_picture p = draw_picture(n, take_byte(n) % 2 ? 3 : 1);
    const bool good = io_write_picture(path, &p, error);
    io_picture_free(&p);
    return good;
}

/* Turns a box about its middle; it then holds its corners. */
static void turn_box(numbers *n, io_box *box, io_corners *corners)
{
    static const int ends[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const double angle = take_byte(n) / 40.0, x = (double)box->x + 7, y = (double)box->y + 5;
    const double width = (double)box->w / 2, height = (double)box->h / 2, side = hypot(width, height);
    for (int k = 0; k < 4; k++) {
        corners->at[k][0] = x + cos(angle) * ends[k][0] * width - sin(angle) * ends[k][1] * height;
        corners->at[k][1] = y + sin(angle) * ends[k][0] * width + cos(angle) * ends[k][1] * height;
    }
    box->x = (int64_t)floor(x - side);
    box->y = (int64_t)floor(y - side);
    box->w = box->h = (int64_t)ceil(2 * side) + 2;
}

static bool write_drawing(numbers *n, const char *path, io_error *error)
{
    io_box boxes[MOST_MARKS];
    io_corners corners[MOST_MARKS];
    char text[24];
    const char *const all[] = {text, "template.png", text};
    io_picture p = draw_picture(n, 3);
    fill(n, text, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const size_t name_count = take_byte(n) % 4;
    const size_t count = draw_marks(n, name_count ? name_count : 20, boxes);
    for (size_t i = 0; i < count; i++)
        turn_box(n, &boxes[i], &corners[i]);
    const io_drawing drawing = {.boxes = boxes, .count = count, .turned = take_byte(n) % 2 ? corners : NULL,
                                .names = all, .name_count = name_count};
    const bool good = io_draw_matches(&p, &drawing, error) && io_write_picture(path, &p, error);
    io_picture_free(&p);
    return good;
}

static bool write_heatmap(numbers *n, const char *path, io_error *error)
{
    io_box boxes[MOST_MARKS];
    io_corners corners[MOST_MARKS];
    io_picture under = {0};
    char text[40];
    const char *const caption[] = {text, "metric: lcc", text};
    io_heatmap h = {.x = (int8_t)take_byte(n), .y = (int8_t)take_byte(n), .width = take_byte(n) % MOST_SIDE + 1,
                    .height = take_byte(n) % MOST_SIDE + 1, .marks = boxes, .caption = caption};
    const uint8_t kind = take_byte(n);
    h.integers = kind & 1;
    h.least_is_best = kind & 2;
    h.paragraphs = kind >> 2 & 3;
    const size_t count = (size_t)(h.width * h.height);
    h.mark_count = draw_marks(n, 1, boxes);
    if (kind & 16) {
        under = draw_picture(n, 1);
        h.under = &under;
    }
    if ((kind & 48) == 48) {
        for (size_t i = 0; i < h.mark_count; i++)
            turn_box(n, &boxes[i], &corners[i]);
        h.turned = corners;
    }
    fill(n, text, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    uint8_t *values = samples_of(n, count * (h.integers ? sizeof(int64_t) : sizeof(float)));
    float *floats = (float *)(void *)values;
    for (size_t i = 0; i < count && !h.integers; i++)
        if (!(floats[i] - floats[i] == 0)) /* no score is infinite or none */
            floats[i] = (float)i;
    h.values = values;
    const bool good = io_write_heatmap(path, &h, error);
    io_picture_free(&under);
    free(values);
    return good;
}

static bool write_numbers(numbers *n, const char *path, bool text, io_error *error)
{
    const int64_t rows = take_byte(n) % MOST_SIDE + 1, columns = take_byte(n) % MOST_SIDE + 1;
    float *values = (float *)(void *)samples_of(n, (size_t)(rows * columns) * sizeof(float));
    const bool good = text ? io_write_text(path, rows, columns, values, error)
                           : io_write_npy(path, IO_NPY_FLOAT32, rows, columns, values, error);
    free(values);
    return good;
}

static void limit_files(size_t bytes)
{
    struct rlimit limit;
    FUZZ_CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    FUZZ_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void put_old(const char *path)
{
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fputs(OLD, file) >= 0 && fclose(file) == 0);
}

/* That the file is there as it was, where it was, or whole; and no other file. */
static void check_file(const char *path, bool written, bool before)
{
    char text[sizeof OLD + 1] = "";
    int count = 0;
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK((file != NULL) == (written || before));
    const size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    FUZZ_CHECK(!before || (strcmp(text, OLD) == 0) == !written);
    FUZZ_CHECK(!written || size > 0);
    DIR *entries = opendir(folder);
    FUZZ_CHECK(entries);
    while (readdir(entries))
        count++;
    closedir(entries);
    FUZZ_CHECK(count == 2 + (file != NULL));
    remove(path);
}

static void check_picture(const char *path)
{
    io_source source;
    io_picture picture;
    io_error error;
    FUZZ_CHECK(io_source_open(&source, path, &error));
    FUZZ_CHECK(io_decode(&source, IO_RGB, &(io_limits){INT64_MAX}, &picture, &error));
    io_picture_free(&picture);
    io_source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    const uint32_t control = fuzz_control(data, &size);
    numbers n = {data, size};
    const unsigned kind = control % 6;
    const bool before = control & 64;
    char path[FUZZ_PATH];
    io_error error = {.reason = ""};
    bool good;

    if (!made) {
        FUZZ_CHECK(mkdtemp(folder));
        atexit(remove_all);
        signal(SIGXFSZ, SIG_IGN);
    }
    made = true;
    path_of(path, names[kind < 4 ? kind == 1 : kind - 2]);
    if (before)
        put_old(path);
    if (control & 128)
        limit_files((control >> 8) % MOST_BYTES + 1);
    fuzz_fail_allocation(control >> 24, true);
    switch (kind) {
    case 0: case 1: good = write_picture(&n, path, &error); break;
    case 2: good = write_drawing(&n, path, &error); break;
    case 3: good = write_heatmap(&n, path, &error); break;
    default: good = write_numbers(&n, path, kind == 5, &error);
    }
    fuzz_allocations_succeed();
    limit_files(0);
    FUZZ_CHECK(good || error.reason[0]);
    if (good && kind < 4)
        check_picture(path);
    check_file(path, good, before);
    return 0;
}
