/* SPDX-License-Identifier: MIT */
/* Outputs, and the pictures and matrices written to them. */
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

#include "files.h"

static int count_temporaries(void)
{
    int count = 0;
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] == '.' && strlen(entry->d_name) > 2;
    closedir(directory);
    return count;
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
    io_picture picture = numbered_picture(300, 200, 3);
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

static void pictures_are_written(void)
{
    static const char *const names[] = {"a.png", "b.PNG", "c.jpg", "d.JpEg"};
    remove_all();
    for (int channels = 1; channels <= 3; channels += 2)
        for (int i = 0; i < 4; i++) {
            io_picture picture = numbered_picture(31, 2, channels);
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
    io_picture picture = numbered_picture(70000, 1, 1);
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

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(outputs_appear_at_commit), TEST(long_names_are_written),
        TEST(permissions_are_those_of_open), TEST(links_are_followed), TEST(unwritable_outputs),
        TEST(devices_are_written_directly), TEST(the_file_of_standard_output_is_kept),
        TEST(an_abort_of_all_removes_what_is_open), TEST(threads_write_at_once),
        TEST(pictures_are_written), TEST(unwritable_pictures_leave_nothing),
        TEST(score_maps_are_written),
    };
    return check_main_in_folder(tests, sizeof tests / sizeof *tests, argc, argv);
}
