/* SPDX-License-Identifier: MIT */
/* Opening the plugin where its file is torn, as by a copy that did not end. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "match/cuda_loader.h"

static char folder[64], path[96];
static unsigned char *plugin; /* the whole of tests/fake */
static size_t size;

static unsigned char *read_file(const char *name, size_t *length)
{
    struct stat status;
    FILE *file = fopen(name, "rb");
    unsigned char *data = NULL;

    if (file && fstat(fileno(file), &status) == 0 && (data = malloc((size_t)status.st_size))) {
        *length = fread(data, 1, (size_t)status.st_size, file);
        fclose(file);
    }
    return data;
}

static void remove_plugin(void)
{
    unlink(path);
    rmdir(folder);
}

/* In a folder of its own, as a library that is loaded is known by its path and stays. */
static void write_plugin(const void *data, size_t length)
{
    remove_plugin();
    strcpy(folder, "/tmp/tmatch-loader-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libtmatch-cuda.so", folder);
    setenv("TMATCH_PLUGIN_DIR", folder, 1);
    FILE *file = fopen(path, "wb");
    CHECK(file);
    CHECK_EQ(fwrite(data, 1, length, file), length);
    CHECK_EQ(fclose(file), 0);
}

static tm_status load(tm_message *message)
{
    tm_cuda_library library = {NULL, NULL};

    message->text[0] = '\0';
    const tm_status status = tm_cuda_load(&library, message);
    CHECK_EQ(status == TM_OK, library.plugin != NULL);
    tm_cuda_unload(&library);
    return status;
}

static void expect_incomplete(size_t length)
{
    tm_message message;
    char expected[sizeof path + 32];

    CHECK_EQ(truncate(path, (off_t)length), 0);
    const tm_status status = load(&message);
    snprintf(expected, sizeof expected, "%s is incomplete", path);
    if (status != TM_ERR_NO_DEVICE || strncmp(message.text, expected, strlen(expected)) != 0)
        check_fail(__FILE__, __LINE__, "%zu of %zu bytes: status %d, \"%s\"", length, size, status,
                   message.text);
}

static void torn_anywhere(void)
{
    const size_t ends = 400;

    write_plugin(plugin, size);
    for (size_t length = size - 1; length > size - ends; length--)
        expect_incomplete(length);
    for (size_t length = size - ends; length > ends; length -= length / 50)
        expect_incomplete(length);
    for (size_t length = ends; length > 0; length--)
        expect_incomplete(length);
    expect_incomplete(0);
}

/* Where the last segment ends. */
static size_t end_of_segments(const unsigned char *file)
{
    size_t end = 0;
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    memcpy(&header, file, sizeof header);
    for (int i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, file + header.e_phoff + (size_t)i * sizeof segment, sizeof segment);
        if (segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    return end;
}

/* Programs that strip may leave the table of sections out, the last thing in the file:
 * it is then complete where its segments are. */
static void torn_without_sections(void)
{
    Elf64_Ehdr header;
    tm_message message;

    if (plugin[EI_CLASS] != ELFCLASS64)
        check_skip("not a 64-bit system");
    const size_t end = end_of_segments(plugin);
    unsigned char *copy = malloc(size);
    CHECK(copy);
    memcpy(copy, plugin, size);
    memcpy(&header, copy, sizeof header);
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    memcpy(copy, &header, sizeof header);
    write_plugin(copy, size);
    for (size_t length = end - 1; length > end / 2; length -= end / 200)
        expect_incomplete(length);
    write_plugin(copy, end);
    CHECK_EQ(load(&message), TM_OK);
    write_plugin(copy, size);
    CHECK_EQ(load(&message), TM_OK);
    free(copy);
}

static void other_files(void)
{
    static const char text[] = "#!/bin/sh\necho no library\n";
    tm_message message;

    write_plugin(text, sizeof text - 1);
    CHECK_EQ(load(&message), TM_ERR_NO_DEVICE);
    CHECK(strstr(message.text, path) && !strstr(message.text, "incomplete"));
}

static void expect_of_file(const char *name, const char *expected)
{
    tm_message message;
    size_t length;
    char backend[sizeof path];
    unsigned char *data = read_file(name, &length);

    CHECK(data);
    write_plugin(data, length);
    CHECK_EQ(load(&message), TM_ERR_NO_DEVICE);
    if (!strstr(message.text, expected) || !strstr(message.text, path))
        check_fail(__FILE__, __LINE__, "\"%s\" is not \"%s\"", message.text, expected);
    tm_cuda_backend_path(backend, sizeof backend);
    CHECK(strcmp(backend, path) == 0);
    free(data);
}

static void other_version(void)
{
    char expected[256];

    snprintf(expected, sizeof expected,
             "belongs to another version of tmatch (it is backend 1, tmatch %s takes %d): install both", tm_version(),
             TM_BACKEND_VERSION);
    expect_of_file(getenv("TMATCH_OTHER_PLUGIN"), expected);
}

static void no_plugin(void)
{
    expect_of_file(getenv("TMATCH_NO_PLUGIN"), "is no CUDA backend of tmatch");
}

static void whole(void)
{
    tm_message message;
    char backend[sizeof path];

    write_plugin(plugin, size);
    CHECK_EQ(load(&message), TM_OK);
    tm_cuda_backend_path(backend, sizeof backend);
    CHECK(strcmp(backend, path) == 0);
    remove_plugin();
    tm_cuda_backend_path(backend, sizeof backend);
    CHECK(!*backend);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(torn_anywhere), TEST(torn_without_sections), TEST(other_files),
                                       TEST(other_version), TEST(no_plugin), TEST(whole)};
    const char *fake = getenv("TMATCH_PLUGIN_DIR");
    char name[4096];

    snprintf(name, sizeof name, "%s/libtmatch-cuda.so", fake ? fake : "tests/fake");
    plugin = read_file(name, &size);
    if (!plugin) {
        printf("Bail out! no %s: TMATCH_PLUGIN_DIR is where tests/fake was built\n", name);
        return EXIT_FAILURE;
    }
    const int status = check_main(tests, sizeof tests / sizeof *tests, argc, argv);
    remove_plugin();
    free(plugin);
    return status;
}
