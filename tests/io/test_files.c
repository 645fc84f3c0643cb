/* SPDX-License-Identifier: MIT */
/* Sources, crops, outputs and the pictures and matrices written to them. */
#include "check.h"
#include "io/format.h"
#include "samples.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const io_limits limits = {IO_DEFAULT_MAX_PIXELS};

/* The tests run in an empty directory of their own. */
static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static bytes read_file(const char *path)
{
    io_source source;
    io_error error;
    if (!io_source_open(&source, path, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", path, error.reason);
    bytes copy = {malloc(source.size + 1), source.size};
    if (source.size)
        memcpy(copy.data, source.data, source.size);
    copy.data[source.size] = '\0';
    io_source_close(&source);
    return copy;
}

static void check_content(const char *path, const char *expected)
{
    bytes content = read_file(path);
    CHECK_STR((char *)content.data, expected);
    free(content.data);
}

/* Names in the directory, temporary files too. */
static int count_files(void)
{
    int count = 0;
    DIR *directory = opendir(".");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static int count_temporaries(void)
{
    int count = 0;
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] == '.' && strlen(entry->d_name) > 2;
    closedir(directory);
    return count;
}

static void remove_all(void)
{
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(entry->d_name);
    closedir(directory);
}

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

static void check_split(const char *operand, const char *path, int64_t w, int64_t h, int64_t x,
                        int64_t y)
{
    char *name;
    io_crop crop = {0};
    bool has_crop;
    io_error error;
    if (!io_split_crop(operand, &name, &crop, &has_crop, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", operand, error.reason);
    CHECK_STR(name, path);
    CHECK_EQ(has_crop, w > 0);
    CHECK(crop.width == w && crop.height == h && crop.x == x && crop.y == y);
    free(name);
}

static void crops_are_split_off(void)
{
    static const char *const bad[] = {
        "a[3x4]",      "a[3x4+1]",    "a[3x4+1+2",  "a[3x4+1+2+3]", "a[3x4-1+2]",  "a[0x4+1+2]",
        "a[3x0+1+2]",  "a[3x4+-1+2]", "a[3X4+1+2]", "a[3x4+1+2 ]",  "a[3 x4+1+2]", "a[3]",
        "a[3,4,1,2]",  "a[3x+1+2]",   "a[3x4+1+]",  "a[3x4++2]",
        "a[9999999999999999999x4+1+2]",
    };
    remove_all();
    check_split("a.png", "a.png", 0, 0, 0, 0);
    check_split("a.png[3x4+1+2]", "a.png", 3, 4, 1, 2);
    check_split("dir[1]/a.png[21x21+220+90]", "dir[1]/a.png", 21, 21, 220, 90);
    check_split("-[3x4+0+0]", "-", 3, 4, 0, 0);
    check_split("a[b][5x6+7+8]", "a[b]", 5, 6, 7, 8);
    check_split("photo[1].png", "photo[1].png", 0, 0, 0, 0);
    check_split("a[b]", "a[b]", 0, 0, 0, 0);
    check_split("a[]", "a[]", 0, 0, 0, 0);
    check_split("a[", "a[", 0, 0, 0, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *name;
        io_crop crop;
        bool has_crop;
        io_error error;
        if (io_split_crop(bad[i], &name, &crop, &has_crop, &error))
            check_fail(__FILE__, __LINE__, "%s passes", bad[i]);
        CHECK(strstr(error.reason, bad[i] + 1) && strstr(error.reason, "WIDTHxHEIGHT+X+Y"));
    }
}

static void a_file_named_like_a_crop(void)
{
    remove_all();
    write_file("a[3x4+1+2]", "x", 1);
    check_split("a[3x4+1+2]", "a[3x4+1+2]", 0, 0, 0, 0);
    check_split("a[3x4+1+2][1x1+0+0]", "a[3x4+1+2]", 1, 1, 0, 0);
}

static io_picture numbered(int64_t width, int64_t height, int channels)
{
    int64_t size = width * height * channels;
    io_picture picture = {
        .width = width, .height = height, .channels = channels, .samples = malloc((size_t)size)};
    for (int64_t i = 0; i < size; i++)
        picture.samples[i] = (uint8_t)(i / channels * 3 + i % channels);
    return picture;
}

static void crops_are_cut(void)
{
    for (int channels = 1; channels <= 3; channels += 2)
        for (int64_t y = 0; y < 4; y++)
            for (int64_t x = 0; x < 5; x++)
                for (int64_t h = 1; h <= 4 - y; h++)
                    for (int64_t w = 1; w <= 5 - x; w++) {
                        io_picture picture = numbered(5, 4, channels);
                        io_error error;
                        CHECK(io_crop_picture(&picture, &(io_crop){w, h, x, y}, &error));
                        CHECK(picture.width == w && picture.height == h);
                        for (int64_t i = 0; i < w * h; i++)
                            CHECK_EQ(picture.samples[i * channels + channels - 1],
                                     ((y + i / w) * 5 + x + i % w) * 3 + channels - 1);
                        io_picture_free(&picture);
                        CHECK(picture.samples == NULL);
                    }
}

static void crops_outside_are_refused(void)
{
    static const io_crop bad[] = {{6, 1, 0, 0}, {1, 5, 0, 0},         {1, 1, 5, 0}, {1, 1, 0, 4},
                                  {3, 1, 3, 0}, {1, 1, INT64_MAX, 0}, {1, 1, -1, 0}, {0, 1, 0, 0},
                                  {INT64_MAX, 1, INT64_MAX, 0}};
    io_picture picture = numbered(5, 4, 1);
    io_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!io_crop_picture(&picture, &bad[i], &error));
    CHECK(!io_crop_picture(&picture, &(io_crop){3, 2, 4, 1}, &error));
    CHECK_STR(error.reason, "the crop 3x2+4+1 is not inside the picture of 5x4 pixels");
    io_picture_free(&picture);
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

static io_output open_output(const char *path, const char *content)
{
    io_output output;
    io_error error;
    if (!io_output_open(&output, path, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", path, error.reason);
    fputs(content, output.file);
    return output;
}

static void commit(io_output *output)
{
    io_error error;
    if (!io_output_commit(output, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
}

static void outputs_appear_at_commit(void)
{
    remove_all();
    write_file("out", "old", 3);
    io_output output = open_output("out", "new");
    CHECK_EQ(count_files(), 2);
    check_content("out", "old");
    commit(&output);
    check_content("out", "new");
    CHECK_EQ(count_files(), 1);

    output = open_output("out", "newer");
    io_output_abort(&output);
    check_content("out", "new");
    output = open_output("other", "");
    io_output_abort(&output);
    CHECK_EQ(count_files(), 1);
}

static void long_names_are_written(void)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    remove_all();
    io_output output = open_output(name, "x");
    commit(&output);
    check_content(name, "x");
}

static void permissions_are_those_of_open(void)
{
    struct stat status;
    mode_t before = umask(027);
    remove_all();
    io_output output = open_output("out", "x");
    commit(&output);
    umask(before);
    CHECK(stat("out", &status) == 0 && (status.st_mode & 0777) == 0640);
    chmod("out", 0604);
    output = open_output("out", "y");
    commit(&output);
    CHECK(stat("out", &status) == 0 && (status.st_mode & 0777) == 0604);
}

static void links_are_followed(void)
{
    struct stat status;
    remove_all();
    mkdir("folder", 0777);
    write_file("folder/real", "old", 3);
    CHECK(symlink("real", "folder/link") == 0 && symlink("folder/link", "link") == 0);
    CHECK(symlink("folder/born", "dangling") == 0 && symlink("loop", "loop") == 0);
    io_output output = open_output("link", "new");
    commit(&output);
    check_content("folder/real", "new");
    output = open_output("dangling", "new");
    commit(&output);
    check_content("folder/born", "new");
    CHECK(lstat("link", &status) == 0 && S_ISLNK(status.st_mode));
    CHECK(lstat("dangling", &status) == 0 && S_ISLNK(status.st_mode));
    io_error error;
    CHECK(!io_output_open(&output, "loop", &error));
    unlink("folder/real");
    unlink("folder/born");
    unlink("folder/link");
}

static void check_unwritable(const char *path, const char *reason)
{
    io_output output;
    io_error error;
    int files = count_files();
    CHECK(!io_output_open(&output, path, &error));
    CHECK_STR(error.reason, reason);
    CHECK_EQ(count_files(), files);
}

static void unwritable_outputs(void)
{
    remove_all();
    mkdir("folder", 0777);
    check_unwritable("folder", "is a directory");
    check_unwritable("missing/out", "No such file or directory");
    check_unwritable("", "No such file or directory");
    check_unwritable("new/", "is a directory");
    if (geteuid() != 0) {
        write_file("fixed", "x", 1);
        chmod("fixed", 0444);
        check_unwritable("fixed", "Permission denied");
        chmod("folder", 0555);
        check_unwritable("folder/out", "Permission denied");
    }
}

static void devices_are_written_directly(void)
{
    io_error error;
    io_picture picture = numbered(300, 200, 3);
    const float value = 1.5f;
    remove_all();
    io_output output = open_output("/dev/null", "x");
    commit(&output);
    output = open_output("/dev/full", "x");
    CHECK(!io_output_commit(&output, &error));
    CHECK_STR(error.reason, strerror(ENOSPC));
    CHECK(!io_write_npy("/dev/full", IO_NPY_FLOAT32, 1, 1, &value, &error));
    CHECK_STR(error.reason, strerror(ENOSPC));
    CHECK(!io_write_text("/dev/full", 1, 1, &value, &error));
    CHECK_STR(error.reason, strerror(ENOSPC));
    CHECK(symlink("/dev/full", "full.png") == 0 && symlink("/dev/full", "full.jpg") == 0);
    CHECK(!io_write_picture("full.png", &picture, &error));
    CHECK_STR(error.reason, strerror(ENOSPC));
    CHECK(!io_write_picture("full.jpg", &picture, &error));
    CHECK_STR(error.reason, strerror(ENOSPC));
    CHECK_EQ(count_files(), 2);
    io_picture_free(&picture);
}

/* Not by a rename, which would part the file from who else writes to it. */
static void the_file_of_standard_output_is_kept(void)
{
    struct stat before, after;
    remove_all();
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), fd = open("out", O_WRONLY | O_CREAT, 0666);
    CHECK(saved >= 0 && fd >= 0 && fstat(fd, &before) == 0);
    dup2(fd, STDOUT_FILENO);
    io_output output;
    io_error error;
    bool ok = io_output_open(&output, "/dev/stdout", &error) && fputs("x", output.file) >= 0 &&
              io_output_commit(&output, &error);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(fd);
    CHECK(ok && stat("out", &after) == 0 && before.st_ino == after.st_ino);
    check_content("out", "x");
}

static void *write_many(void *argument)
{
    io_error error;
    for (int i = 0; i < 200; i++) {
        io_output output;
        char name[32];
        snprintf(name, sizeof name, "%d.%d", *(int *)argument, i % 3);
        if (!io_output_open(&output, name, &error))
            return argument;
        fputs(name, output.file);
        if (i % 7 == 0)
            io_output_abort(&output);
        else if (!io_output_commit(&output, &error))
            return argument;
    }
    return NULL;
}

static void *write_for_ever(void *argument)
{
    while (!write_many(argument))
        ;
    return NULL;
}

/* In a child, while threads write: none of them makes a file after it. */
static void an_abort_of_all_removes_what_is_open(void)
{
    remove_all();
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        int numbers[4];
        open_output("one", "x");
        open_output("two", "x");
        for (int i = 0; i < 4; i++) {
            numbers[i] = i;
            pthread_create(&thread, NULL, write_for_ever, &numbers[i]);
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        io_output_abort_all();
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        raise(SIGKILL);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_EQ(count_temporaries(), 0);
}

static void threads_write_at_once(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int numbers[THREADS];
    bool failed = false;
    remove_all();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, write_many, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed = failed || result;
    }
    CHECK(!failed);
    CHECK_EQ(count_files(), THREADS * 3);
}

static io_picture read_picture(const char *path, io_color color)
{
    io_source source;
    io_picture picture;
    io_error error;
    if (!io_source_open(&source, path, &error) ||
        !io_decode(&source, color, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", path, error.reason);
    io_source_close(&source);
    return picture;
}

static void pictures_are_written(void)
{
    static const char *const names[] = {"a.png", "b.PNG", "c.jpg", "d.JpEg"};
    remove_all();
    for (int channels = 1; channels <= 3; channels += 2)
        for (int i = 0; i < 4; i++) {
            io_picture picture = numbered(31, 2, channels);
            io_error error;
            CHECK(io_write_picture(names[i], &picture, &error));
            io_picture back = read_picture(names[i], (io_color)channels);
            CHECK_STR(back.format, i < 2 ? "PNG" : "JPEG");
            CHECK(back.width == 31 && back.height == 2);
            for (int k = 0; k < 31 * 2 * channels; k++)
                CHECK(abs(picture.samples[k] - back.samples[k]) <= (i < 2 ? 0 : 24));
            io_picture_free(&back);
            io_picture_free(&picture);
        }
    CHECK_EQ(count_files(), 4);
}

static void unwritable_pictures_leave_nothing(void)
{
    io_error error;
    io_picture picture = numbered(70000, 1, 1);
    remove_all();
    CHECK(!io_write_picture("a.gif", &picture, &error));
    CHECK_STR(error.reason, "a picture's name has to end in .png .jpg .jpeg");
    CHECK(!io_can_write("png", &error) && !io_can_write(".png", &error));
    CHECK(io_can_write("a.b.png", &error));
    CHECK(!io_write_picture("a.jpg", &picture, &error));
    CHECK_STR(error.reason, "a JPEG has at most 65500 pixels a side; PNG has room");
    CHECK(!io_write_picture("missing/a.png", &picture, &error));
    CHECK_EQ(count_files(), 0);
    io_picture_free(&picture);
}

static void score_maps_are_written(void)
{
    static const float values[] = {0, 1, -1, 0.1f, 1e-30f, 0.99999994f};
    static const int64_t sums[] = {1, -2, INT64_MAX, INT64_MIN};
    io_error error;
    remove_all();
    CHECK(io_write_npy("f.npy", IO_NPY_FLOAT32, 2, 3, values, &error));
    CHECK(io_write_npy("i.npy", IO_NPY_INT64, 4, 1, sums, &error));
    CHECK(io_write_text("f.txt", 3, 2, values, &error));
    bytes file = read_file("f.npy");
    CHECK_EQ(file.size, 128 + sizeof values);
    CHECK(memcmp(file.data, "\x93NUMPY\1\0v\0", 10) == 0 && file.data[127] == '\n');
    CHECK(strstr((char *)file.data + 10,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  "));
    CHECK(memcmp(file.data + 128, values, sizeof values) == 0);
    free(file.data);
    file = read_file("i.npy");
    CHECK(strstr((char *)file.data + 10, "'<i8'") && strstr((char *)file.data + 10, "(4, 1)"));
    CHECK(memcmp(file.data + 128, sums, sizeof sums) == 0);
    free(file.data);
    check_content("f.txt", "0 1\n-1 0.100000001\n1e-30 0.99999994\n");
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
    CHECK(count <= 4); /* libtiff and libwebp may be there */
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(sources),
        TEST(large_files_are_mapped),
        TEST(a_mapped_file_that_shrinks),
        TEST(standard_input),
        TEST(crops_are_split_off),
        TEST(a_file_named_like_a_crop),
        TEST(crops_are_cut),
        TEST(crops_outside_are_refused),
        TEST(limits_follow_the_size_of_a_file),
        TEST(samples_lie_where_they_are_asked_for),
        TEST(outputs_appear_at_commit),
        TEST(long_names_are_written),
        TEST(permissions_are_those_of_open),
        TEST(links_are_followed),
        TEST(unwritable_outputs),
        TEST(devices_are_written_directly),
        TEST(the_file_of_standard_output_is_kept),
        TEST(an_abort_of_all_removes_what_is_open),
        TEST(threads_write_at_once),
        TEST(pictures_are_written),
        TEST(unwritable_pictures_leave_nothing),
        TEST(score_maps_are_written),
        TEST(given_pictures),
        TEST(libraries),
    };
    char folder[] = "/tmp/tmatch-test-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return EXIT_FAILURE;
    int result = check_main(tests, sizeof tests / sizeof *tests, argc, argv);
    remove_all();
    rmdir(folder);
    return result;
}
