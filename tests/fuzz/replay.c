/* SPDX-License-Identifier: MIT */
/* Hands a target files, and those in folders, one after the other, as TAP: a file that it does not
 * survive ends the process, with the file's name on standard error. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static long count;

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0)
        return false;
    const size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + !size);
    const bool good = data && fread(data, 1, size, file) == size;
    fclose(file);
    if (good) {
        fprintf(stderr, "%s\n", path);
        LLVMFuzzerTestOneInput(data, size);
        count++;
    }
    free(data);
    return good;
}

static int is_no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool replay(const char *path)
{
    struct dirent **entries;
    const int entry_count = scandir(path, &entries, is_no_dot, alphasort);
    bool good = true;
    if (entry_count < 0)
        return replay_file(path);
    for (int i = 0; i < entry_count; i++) {
        char *name = malloc(strlen(path) + strlen(entries[i]->d_name) + 2);
        FUZZ_CHECK(name);
        sprintf(name, "%s/%s", path, entries[i]->d_name);
        good &= replay(name);
        free(name);
        free(entries[i]);
    }
    free(entries);
    return good;
}

int main(int argc, char **argv)
{
    printf("1..%d\n", argc - 1);
    fflush(stdout);
    int status = argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
    for (int i = 1; i < argc; i++) {
        count = 0;
        const bool good = replay(argv[i]) && count > 0;
        printf("%sok %d %ld files of %s\n", good ? "" : "not ", i, count, argv[i]);
        fflush(stdout);
        if (!good)
            status = EXIT_FAILURE;
    }
    return status;
}
