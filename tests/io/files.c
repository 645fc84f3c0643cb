/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

bytes read_file(const char *path)
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

void check_content(const char *path, const char *expected)
{
    bytes content = read_file(path);
    CHECK_STR((char *)content.data, expected);
    free(content.data);
}

int count_files(void)
{
    int count = 0;
    DIR *directory = opendir(".");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

void remove_all(void)
{
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(entry->d_name);
    closedir(directory);
}

io_picture numbered_picture(int64_t width, int64_t height, int channels)
{
    int64_t size = width * height * channels;
    io_picture picture = {
        .width = width, .height = height, .channels = channels, .samples = malloc((size_t)size)};
    for (int64_t i = 0; i < size; i++)
        picture.samples[i] = (uint8_t)(i / channels * 3 + i % channels);
    return picture;
}

io_picture read_picture(const char *path, io_color color)
{
    const io_limits limits = {IO_DEFAULT_MAX_PIXELS};
    io_source source;
    io_picture picture;
    io_error error;
    if (!io_source_open(&source, path, &error) ||
        !io_decode(&source, color, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", path, error.reason);
    io_source_close(&source);
    return picture;
}

int check_main_in_folder(const check_test *tests, size_t count, int argc, char **argv)
{
    char folder[] = "/tmp/tmatch-test-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return EXIT_FAILURE;
    const int result = check_main(tests, count, argc, argv);
    remove_all();
    rmdir(folder);
    return result;
}
