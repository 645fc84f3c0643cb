/* SPDX-License-Identifier: MIT */
/* Streams of pictures, whole, torn and hostile, however they arrive; and files that hold
 * several. */
#include "check.h"
#include "samples.h"

#include "io/format.h"
#include "io/split.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const io_limits limits = {1 << 20};

static void append(bytes *to, const void *data, size_t size)
{
    to->data = realloc(to->data, to->size + size + 1);
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void append_text(bytes *to, const char *text)
{
    append(to, text, strlen(text));
}

static void append_encoded(bytes *to, const char *name)
{
    uint8_t samples[5 * 4];
    const io_picture picture = {.width = 5, .height = 4, .channels = 1, .samples = samples};
    char *data;
    size_t size;
    io_error error;
    for (int i = 0; i < 20; i++)
        samples[i] = (uint8_t)(i * 12);
    FILE *file = open_memstream(&data, &size);
    CHECK(io_encode(&picture, name, file, &error) && fclose(file) == 0);
    append(to, data, size);
    free(data);
}

/* Where the pictures of a stream end. */
typedef struct stream {
    bytes all;
    size_t ends[16];
    int count;
} stream;

static void end_picture(stream *s)
{
    s->ends[s->count++] = s->all.size;
}

static stream make_stream(void)
{
    stream s = {0};
    append_text(&s.all, "P5\n# a comment\n3 2 255\nabcP5 ");
    end_picture(&s);
    append_encoded(&s.all, "a.png");
    end_picture(&s);
    append_encoded(&s.all, "a.jpg");
    end_picture(&s);
    append_text(&s.all, "P2 2 2 9 1 2 # and 7\n3 4\n");
    end_picture(&s);
    append_text(&s.all, "\n\nP1 3 2 101 010");
    end_picture(&s);
    append_text(&s.all, "P6 1 1 65535 abcdef");
    end_picture(&s);
    append_text(&s.all, "P4 9 2 abcd");
    end_picture(&s);
    append_text(&s.all, "YUV4MPEG2 W4 H2 F25:1 C420jpeg\nFRAME\n01234567uuvv");
    end_picture(&s);
    append_text(&s.all, "FRAME Ixyz\n89abcdefuuvv");
    end_picture(&s);
    append_encoded(&s.all, "b.jpg");
    end_picture(&s);
    append(&s.all, "BM:\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0\1\0\0\0\1\0\0\0\1\0\30", 30);
    append(&s.all, (const uint8_t[28]){[24] = 1, 2, 3}, 28);
    end_picture(&s);
    append_text(&s.all, "P5 1 1 255 a");
    end_picture(&s);
    append(&s.all, "\x93NUMPY\1\0\74\0{'descr': '|u1', 'fortran_order': False, 'shape': (2,3,), }\nabcdef", 76);
    end_picture(&s);
    append(&s.all, "\x93NUMPY\2\0\74\0\0\0{'descr': '<u2', 'fortran_order': False, 'shape': (1, 2)}  \nabcd", 76);
    end_picture(&s);
    return s;
}

static bool admit(void *most, size_t size, io_error *error)
{
    return size <= *(const size_t *)most || io_fail(error, "too large");
}

typedef struct writer {
    int fd;
    const bytes *all;
    size_t step;
} writer;

static void *write_all(void *argument)
{
    writer *w = argument;
    for (size_t at = 0; at < w->all->size;) {
        const size_t left = w->all->size - at, step = left < w->step ? left : w->step;
        const ssize_t wrote = write(w->fd, w->all->data + at, step);
        if (wrote < 0)
            break; /* the reader has enough */
        at += (size_t)wrote;
    }
    close(w->fd);
    return NULL;
}

/* Calls take with each picture, through a pipe that is filled in steps; how it ended. */
static io_next read_stream(const bytes *all, size_t step, size_t most,
                           void (*take)(void *data, int number, const io_streamed *picture), void *data,
                           int *count)
{
    int ends[2];
    char path[32];
    pthread_t thread;
    io_stream *s;
    io_streamed picture;
    io_error error;
    io_next next;

    CHECK(pipe(ends) == 0);
    writer w = {ends[1], all, step};
    CHECK(pthread_create(&thread, NULL, write_all, &w) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    CHECK(io_is_stream(path));
    CHECK(io_stream_open(&s, path, &(io_stream_room){admit, &most}, &error));
    close(ends[0]);
    for (*count = 0; (next = io_stream_next(s, &picture, &error)) == IO_NEXT_PICTURE; ++*count) {
        if (take)
            take(data, *count, &picture);
        io_source_close(&picture.source);
        if (*count % 3 == 0)
            io_stream_follows(s);
    }
    io_stream_close(&s);
    pthread_join(thread, NULL);
    return next;
}

static bool decodes(const io_source *source)
{
    io_picture picture;
    io_error error;
    if (!io_decode(source, IO_RGB, &limits, &picture, &error))
        return false;
    io_picture_free(&picture);
    return true;
}

static void check_picture(void *data, int number, const io_streamed *picture)
{
    const stream *s = data;
    if (number >= s->count || !decodes(&picture->source))
        check_fail(__FILE__, __LINE__, "picture %d of %zu bytes", number, picture->source.size);
    CHECK_EQ(picture->timed, number == 7 || number == 8);
    if (picture->timed)
        CHECK(picture->time == (number - 7) / 25.0);
}

static void splits_streams(void)
{
    static const size_t steps[] = {1, 2, 7, 100, 100000};
    stream s = make_stream();
    int count;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        CHECK_EQ(read_stream(&s.all, steps[i], 1 << 20, check_picture, &s, &count), IO_NEXT_END);
        CHECK_EQ(count, s.count);
    }
    free(s.all.data);
}

/* A torn or damaged picture that says it is too large is refused, whether it ends in the first bytes that are read or not. */
static void refuses_damaged_pictures_that_say_they_are_large(void)
{
    static const char *const starts[] = {"P3 1 70000 255 1 2 3\n", "P2 9 777777777777777 255 1 2 3\n", "P1 70000 70000 1\n", "P2 9 70000 255 1 ?"};
    static const size_t steps[] = {1, 7, 100000};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            bytes all = {0};
            int count;
            append_text(&all, starts[i]);
            append_text(&all, "P5 1 1 255 a");
            CHECK_EQ(read_stream(&all, steps[k], 100000, NULL, NULL, &count), IO_NEXT_FAILED);
            CHECK_EQ(count, 0);
            free(all.data);
        }
}

/* However few bytes of a picture are there, more may make one of them. */
static void waits_for_signatures(void)
{
    stream s = make_stream();
    size_t start = 0;
    for (int i = 0; i < s.count; start = s.ends[i++])
        for (size_t size = 1; start + size <= s.ends[i]; size++) {
            const uint8_t *data = s.all.data + start + io_split_skip(s.all.data + start, size);
            io_splitter splitter = {0};
            if (memcmp(data, "FRAME", 5) != 0 && io_split_next(&splitter, data, size, false) == IO_SPLIT_NONE)
                check_fail(__FILE__, __LINE__, "picture %d by its first %zu bytes", i, size);
        }
    free(s.all.data);
}

typedef struct torn {
    int whole, decoded;
} torn;

static void count_decoded(void *data, int number, const io_streamed *picture)
{
    torn *t = data;
    (void)number;
    t->decoded += decodes(&picture->source);
}

/* What was complete is read, and at most one picture more, which is torn. */
static void reads_what_is_complete(void)
{
    stream s = make_stream();
    for (size_t size = 0; size < s.all.size; size++) {
        /* in memory of its own, so that a sanitizer sees what is read behind it */
        const bytes cut = {memcpy(malloc(size + 1), s.all.data, size), size};
        torn t = {0};
        int count;
        for (int i = 0; i < s.count; i++)
            t.whole += s.ends[i] <= size;
        read_stream(&cut, 64, 1 << 20, count_decoded, &t, &count);
        if (t.decoded < t.whole || count > t.whole + 1)
            check_fail(__FILE__, __LINE__, "of %zu bytes: %d whole, %d decoded, %d found", size, t.whole,
                       t.decoded, count);
        free(cut.data);
    }
    free(s.all.data);
}

static void stands_damage(void)
{
    stream s = make_stream();
    for (int64_t i = 0; i < check_cases(400); i++) {
        bytes damaged = {memcpy(malloc(s.all.size + 1), s.all.data, s.all.size), s.all.size};
        int count;
        for (int64_t k = check_random_in(1, 8); k > 0; k--)
            damaged.data[check_random_in(0, (int64_t)damaged.size - 1)] = (uint8_t)check_random();
        torn t = {0};
        read_stream(&damaged, (size_t)check_random_in(1, 300), 1 << 16, count_decoded, &t, &count);
        free(damaged.data);
    }
    free(s.all.data);
}

/* Random bytes behind each signature, to the splitter alone. */
static void stands_noise(void)
{
    static const char *const starts[] = {"P1 ",  "P2 ",  "P3\n", "P4#",  "P5 3 ", "P6 9 9 ",
                                         "\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "YUV4MPEG2 W2 H",
                                         "YUV4MPEG2 W2 H2 C", "YUV4MPEG2 W2 H2\nFRAME", "BM", "RIFF", "\x93NUMPY\1",
                                         ""};
    static const char digits[] = "0123456789 #\n";
    for (int64_t i = 0; i < check_cases(3000); i++) {
        const char *start = starts[(size_t)i % (sizeof starts / sizeof *starts)];
        const size_t size = strlen(start) + (size_t)check_random_in(0, 60);
        const bool text = check_random() & 1;
        uint8_t *data = malloc(size);
        for (size_t k = 0; k < size; k++)
            data[k] = text ? (uint8_t)digits[check_random() % (sizeof digits - 1)]
                           : (uint8_t)check_random();
        memcpy(data, start, strlen(start));
        io_splitter splitter = {0};
        size_t at = 0;
        for (size_t seen = 1; seen <= size && at < size;) {
            const bool ended = seen == size;
            uint8_t *part = memcpy(malloc(seen), data, seen);
            const io_split found = io_split_next(&splitter, part + at, seen - at, ended);
            free(part);
            if (found == IO_SPLIT_PICTURE || found == IO_SPLIT_HEADER) {
                CHECK(splitter.end > 0 && splitter.end <= seen - at);
                at += splitter.end;
                seen = at == seen ? seen + 1 : seen;
            } else if (found == IO_SPLIT_MORE && !ended) {
                seen++;
            } else {
                break;
            }
        }
        free(data);
    }
}

/* Only what may be taken is, whatever a header announces, and text that never ends. */
static void keeps_limits(void)
{
    static const char *const large[] = {
        "P5 100000 100000 255 ", "P6 1000000000000 1000000000000 65535 ", "P5 9999 9999 65536 ",
        "YUV4MPEG2 W100000 H100000\nFRAME\n", "YUV4MPEG2 W999999999999999 H999999999999999\nFRAME\n"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        bytes all = {0};
        append_text(&all, "P5 1 1 255 a");
        append_text(&all, large[i]);
        int count;
        CHECK_EQ(read_stream(&all, 1000, 400000, NULL, NULL, &count), IO_NEXT_FAILED);
        CHECK_EQ(count, 1);
        free(all.data);
    }
    bytes text = {malloc(800000), 800000};
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = (uint8_t) "1 2 3 4\n"[i % 8];
    int count;
    CHECK_EQ(read_stream(&text, 4096, 400000, NULL, NULL, &count), IO_NEXT_FAILED);
    CHECK_EQ(count, 0);
    CHECK_EQ(read_stream(&text, 4096, 4000000, NULL, NULL, &count), IO_NEXT_END);
    CHECK_EQ(count, 1);
    free(text.data);
}

static void *stop_soon(void *waiting)
{
    usleep(50000);
    io_stream_stop(waiting);
    return NULL;
}

static void stops(void)
{
    int ends[2];
    char path[32];
    size_t most = 1 << 20;
    pthread_t thread;
    io_stream *s;
    io_streamed picture;
    io_error error;

    CHECK(pipe(ends) == 0 && write(ends[1], "P5 2 2 ", 7) == 7);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    CHECK(io_stream_open(&s, path, &(io_stream_room){admit, &most}, &error));
    CHECK(pthread_create(&thread, NULL, stop_soon, s) == 0);
    CHECK_EQ(io_stream_next(s, &picture, &error), IO_NEXT_STOPPED);
    pthread_join(thread, NULL);
    io_stream_close(&s);
    close(ends[0]);
    close(ends[1]);
}

/* Waits for the pipe's picture; the reason why there is none, or "". */
static const char *wait_for_picture(double ms, bool pauses)
{
    static io_error error;
    size_t most = 1 << 20;
    io_stream *s;
    io_streamed picture;
    CHECK(io_stream_open(&s, "pipe", &(io_stream_room){admit, &most}, &error));
    io_stream_limit_waiting(s, ms, pauses);
    error.reason[0] = '\0';
    if (io_stream_next(s, &picture, &error) == IO_NEXT_PICTURE) {
        CHECK(!pauses || io_stream_follows(s) == IO_FOLLOWS_NOTHING);
        io_source_close(&picture.source);
    }
    io_stream_close(&s);
    return error.reason;
}

static void *write_later(void *fd)
{
    usleep(100000);
    return write(*(int *)fd, "P5 1 1 255 a", 12) == 12 ? fd : NULL;
}

/* With a limit a named pipe is not waited for without an end, but a camera may take its time. */
static void limits_waiting(void)
{
    static const char late[] = "takes longer to arrive than --max-time-per-frame allows";
    pthread_t thread;
    void *written;
    CHECK(mkfifo("pipe", 0600) == 0);
    CHECK(strstr(wait_for_picture(20, false), "nobody has opened this pipe"));
    CHECK(strstr(wait_for_picture(20, true), "nobody has opened this pipe"));
    int fd = open("pipe", O_RDWR | O_NONBLOCK);
    CHECK(fd >= 0);
    CHECK_STR(wait_for_picture(20, true), late);
    CHECK(write(fd, "P5 1 1 255 ", 11) == 11);
    CHECK_STR(wait_for_picture(20, false), late);
    CHECK(pthread_create(&thread, NULL, write_later, &fd) == 0);
    CHECK_STR(wait_for_picture(20, false), "");
    CHECK(pthread_join(thread, &written) == 0 && written);
    CHECK(write(fd, "P5 1 1 255 a", 12) == 12);
    CHECK_STR(wait_for_picture(20, true), "");
    close(fd);
    unlink("pipe");
}

typedef struct parts {
    io_part list[16];
    int count, reasons;
} parts;

static bool take_part(void *data, const io_part *part, const char *reason)
{
    parts *p = data;
    p->list[p->count++] = *part;
    p->reasons += reason != NULL;
    return true;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static parts find(const char *text, int64_t only, int64_t count)
{
    parts found = {0};
    write_file("parts", text);
    CHECK_EQ(io_find_parts("parts", only, take_part, &found), count);
    for (int i = 0; i < found.count - found.reasons; i++) {
        io_source source;
        io_error error;
        CHECK(io_source_open_part(&source, "parts", &found.list[i], &error));
        CHECK(decodes(&source));
        io_source_close(&source);
    }
    remove("parts");
    return found;
}

static void finds_parts(void)
{
    const char *movie = "YUV4MPEG2 W2 H1 F2:1 Cmono\nFRAME\nabFRAME\ncdFRAME I\nef";
    CHECK_EQ(find("P5 1 1 255 a", 0, 1).count, 0);
    CHECK_EQ(find("P5 1 1 255 a and what follows", 0, 1).count, 0);
    CHECK_EQ(find("P5 1 1 255 aP5 1 1 255 b\n", 0, 2).count, 2);
    CHECK_EQ(find("P5 1 1 255 aP5 1 1 255 b no", 0, 3).reasons, 1);
    CHECK_EQ(find("P5 1 1 255 a", 1, 1).count, 1);
    CHECK_EQ(find("P5 1 1 255 aP5 1 1 255 b", 3, 2).count, 0);
    CHECK_EQ(find("no picture", 0, 1).count, 0);
    CHECK_EQ(find("", 0, 1).count, 0);
    CHECK_EQ(find(movie, 0, 3).count, 3);
    const parts one = find(movie, 3, 3);
    CHECK_EQ(one.count, 1);
    CHECK(one.list[0].timed && one.list[0].time == 1.0);
    CHECK_EQ(io_find_parts("gone", 0, take_part, NULL), 1);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(splits_streams), TEST(refuses_damaged_pictures_that_say_they_are_large), TEST(waits_for_signatures),
        TEST(reads_what_is_complete), TEST(stands_damage), TEST(stands_noise),
        TEST(keeps_limits),   TEST(stops),                  TEST(limits_waiting),
        TEST(finds_parts),
    };
    char folder[] = "/tmp/tmatch-test.XXXXXX";
    signal(SIGPIPE, SIG_IGN); /* a writer whose reader has enough */
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const int status = check_main(tests, sizeof tests / sizeof *tests, argc, argv);
    return chdir("/") == 0 && rmdir(folder) == 0 ? status : 1;
}
