/* SPDX-License-Identifier: MIT */
/* Files, pipes and memory that pictures are read from. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "io/format.h"

static const io_limits limits = {IO_DEFAULT_MAX_PIXELS};

static void check_unreadable(const char *path, const char *reason)
{
    io_source source;
    io_error error;
    CHECK(!io_source_open(&source, path, &error));
    CHECK_STR(error.reason, reason);
}

static void sources(void)
{
    remove_all();
    check_unreadable("missing.png", "No such file or directory");
    check_unreadable(".", "is a directory");
    check_unreadable("missing/x.png", "No such file or directory");
    write_file("a", "abc", 3);
    check_content("a", "abc");
    check_unreadable("a/b", "Not a directory");
    write_file("empty", "", 0);
    bytes empty = read_file("empty");
    CHECK_EQ(empty.size, 0);
    check_refused(empty, "empty file");
    free(empty.data);
}

static void large_files_are_mapped(void)
{
    enum { SIZE = (16 << 20) + 12345 };
    io_source source;
    io_error error;
    remove_all();
    uint8_t *data = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
    write_file("large", data, SIZE);
    CHECK(io_source_open(&source, "large", &error));
    CHECK(source.mapped && source.size == SIZE && memcmp(source.data, data, SIZE) == 0);
    io_source_close(&source);
    CHECK(source.data == NULL && source.size == 0);
    free(data);
}

/* What is cut off while it is decoded fails, and only that. */
static void a_mapped_file_that_shrinks(void)
{
    enum { SIDE = 5000 };
    static const char header[] = "P5 5000 5000 255\n";
    const size_t size = strlen(header) + (size_t)SIDE * SIDE;
    uint8_t *data = malloc(size), row[SIDE];
    io_rows *rows = NULL;
    io_source source, other;
    io_picture picture;
    io_error error;

    remove_all();
    memset(data, 7, size);
    memcpy(data, header, strlen(header));
    write_file("cut", data, size);
    write_file("whole", data, size);
    CHECK(io_source_open(&source, "cut", &error) && source.mapped);
    CHECK(io_source_open(&other, "whole", &error) && other.mapped);
    CHECK(io_rows_open(&rows, &source, IO_GRAY, &limits, &error));
    CHECK(io_rows_read(rows, row, &error) && row[SIDE - 1] == 7);
    CHECK(truncate("cut", 1000000) == 0);
    int64_t count = 1;
    while (io_rows_read(rows, row, &error) && count < SIDE)
        count++;
    CHECK(count >= 190 && count < 210);
    CHECK(strstr(error.reason, "was cut short"));
    io_rows_close(&rows);
    CHECK(!io_decode(&source, IO_GRAY, &limits, &picture, &error));
    CHECK(strstr(error.reason, "was cut short"));
    CHECK(io_source_lost(&source) && !io_source_lost(&other));
    io_source_close(&source);
    CHECK(io_decode(&other, IO_GRAY, &limits, &picture, &error));
    io_picture_free(&picture);
    io_source_close(&other);
    free(data);
}

/* From a pipe, and from the middle of a file. */
static void standard_input(void)
{
    enum { SIZE = 300000 };
    int saved = dup(STDIN_FILENO), ends[2];
    remove_all();
    uint8_t *data = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(write(ends[1], data, SIZE) == SIZE ? 0 : 1);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    bytes got = read_file("-");
    CHECK(got.size == SIZE && memcmp(got.data, data, SIZE) == 0);
    waitpid(child, NULL, 0);
    close(ends[0]);
    free(got.data);
    free(data);

    write_file("a", "abcdef", 6);
    int fd = open("a", O_RDONLY);
    lseek(fd, 2, SEEK_SET);
    dup2(fd, STDIN_FILENO);
    check_content("-", "cdef");
    close(fd);
    dup2(saved, STDIN_FILENO);
    close(saved);
}

/* Nobody vouches for a file: the larger it is, the more pixels are believed. */
static void limits_follow_the_size_of_a_file(void)
{
    static const struct {
        size_t bytes;
        int64_t most;
    } files[] = {{1, IO_SMALL_FILE_PIXELS},  {268435, IO_SMALL_FILE_PIXELS},
                 {268436, 268436000},        {400000, 400000000},
                 {4294967, 4294967000},      {4294968, IO_DEFAULT_MAX_PIXELS},
                 {SIZE_MAX, IO_DEFAULT_MAX_PIXELS}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const io_source source = {.size = files[i].bytes};
        CHECK_EQ(io_limits_of(&source, &(io_limits){0}).max_pixels, files[i].most);
        CHECK_EQ(io_limits_of(&source, &(io_limits){7}).max_pixels, 7);
        CHECK_EQ(io_limits_of(&source, &(io_limits){INT64_MAX}).max_pixels, INT64_MAX);
    }
}

/* One place for samples. */
typedef struct place {
    io_memory memory;
    uint8_t data[64];
    size_t room;
    int taken;
} place;

static void *take(io_memory *memory, size_t size)
{
    place *p = (place *)memory;
    if (p->taken || size > p->room)
        return NULL;
    p->taken++;
    return p->data;
}

static void give_back(io_memory *memory, void *data)
{
    place *p = (place *)memory;
    CHECK(p->taken == 1 && data == p->data);
    p->taken = 0;
}

static void samples_lie_where_they_are_asked_for(void)
{
    write_file("a", "P5 5 4 255\nabcdefghijklmnopqrst", 31);
    for (size_t room = 19; room <= 20; room++) {
        place p = {.memory = {take, give_back}, .room = room};
        const io_request request = {.color = IO_GRAY, .memory = &p.memory};
        io_source source;
        io_picture first, second;
        io_error error;
        CHECK(io_source_open(&source, "a", &error));
        CHECK(io_decode_as(&source, &request, &limits, &first, &error));
        CHECK(io_decode_as(&source, &request, &limits, &second, &error));
        CHECK((first.samples == p.data) == (room == 20));
        CHECK(second.samples != p.data);
        CHECK(memcmp(first.samples, second.samples, 20) == 0);
        CHECK(io_crop_picture(&first, &(io_crop){2, 1, 1, 2}, &error));
        CHECK(memcmp(first.samples, "lm", 2) == 0 && p.taken == (room == 20));
        CHECK(io_set_bits(&first, 16, &error)); /* in memory of malloc's */
        CHECK(p.taken == 0);
        io_picture_free(&first);
        io_picture_free(&second);
        CHECK(io_decode_as(&source, &request, &limits, &first, &error));
        io_picture_free(&first);
        CHECK(p.taken == 0);
        /* what a decoder fails with */
        const io_source half = {.data = source.data, .size = 21};
        CHECK(!io_decode_as(&half, &request, &limits, &first, &error));
        CHECK(p.taken == 0);
        io_source_close(&source);
    }
}

static void given_pictures(void)
{
    static const struct {
        const char *name;
        int64_t width, height;
        bool gray;
    } files[] = {{"astronaut.png", 512, 512, false}, {"camera.png", 512, 512, true},
                 {"rocket.jpg", 640, 427, false},    {"text.png", 448, 172, true},
                 {"hubble_deep_field.jpg", 1000, 872, false}};
    const char *folder = getenv("TMATCH_DATA_DIR");
    if (!folder)
        check_skip("TMATCH_DATA_DIR is not set");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        io_picture gray = read_picture(path, IO_GRAY), rgb = read_picture(path, IO_RGB);
        CHECK(gray.width == files[i].width && gray.height == files[i].height);
        for (int64_t k = 0; k < gray.width * gray.height; k++) {
            const uint8_t *c = rgb.samples + 3 * k;
            double error = gray.samples[k] - (0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]);
            if (files[i].gray)
                CHECK(c[0] == gray.samples[k] && c[1] == c[0] && c[2] == c[0]);
            else if (strcmp(gray.format, "PNG") == 0) /* JPEG's RGB is clamped */
                CHECK(error > -1.01 && error < 1.01);
        }
        io_picture_free(&gray);
        io_picture_free(&rgb);
    }
}

static void libraries(void)
{
    CHECK(strstr(io_library(0), "libpng 1."));
    CHECK(strstr(io_library(1), "libjpeg"));
    int count = 2;
    while (io_library(count))
        CHECK(strncmp(io_library(count++), "lib", 3) == 0);
    CHECK(count <= 7); /* libtiff, libwebp, libdeflate, libavformat and libseccomp may be there */
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(sources), TEST(large_files_are_mapped), TEST(a_mapped_file_that_shrinks),
        TEST(standard_input), TEST(limits_follow_the_size_of_a_file),
        TEST(samples_lie_where_they_are_asked_for), TEST(given_pictures), TEST(libraries),
    };
    return check_main_in_folder(tests, sizeof tests / sizeof *tests, argc, argv);
}
