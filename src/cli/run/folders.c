/* SPDX-License-Identifier: MIT */
#include "run/folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/movie/movie.h"
#include "message.h"

/* Names in a folder. Those of folders end with a slash, which sorts them as the paths of what is in
 * them. */
typedef struct names {
    char **list;
    size_t count, capacity;
} names;

static char *join(const char *folder, const char *name)
{
    char *path;
    const size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

/* Whether an entry may be a picture, or is a folder to descend into. Pipes and devices are not
 * opened: they might never end. */
static bool wanted(const cli_frames *frames, const char *folder, const struct dirent *entry,
                   bool *is_folder)
{
    struct stat status;
    bool follow = false, good = true;
    const bool picture = io_is_picture_name(entry->d_name) || io_is_movie_name(entry->d_name);

    *is_folder = false;
    if (entry->d_name[0] == '.' || (!picture && !frames->recursive))
        return false;
    if (entry->d_type == DT_REG)
        return picture;
    if (entry->d_type == DT_DIR) {
        *is_folder = true;
        return frames->recursive;
    }
    char *path = join(folder, entry->d_name);
    if (path && lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
        follow = true;
        good = stat(path, &status) == 0;
    }
    free(path);
    /* A link that leads nowhere is a frame that cannot be read. */
    if (!path || !good || S_ISREG(status.st_mode))
        return picture;
    *is_folder = S_ISDIR(status.st_mode) && !follow;
    return *is_folder && frames->recursive;
}

/* Endings for which there is no room any more are counted with the last. */
static void skip(cli_frames *frames, const char *name)
{
    const char *ending = io_foreign_ending(name);
    size_t i = 0;
    if (!ending || name[0] == '.')
        return;
    while (i < FRAMES_SKIPPED_ENDINGS - 1 && frames->skipped[i].count > 0 &&
           strcmp(frames->skipped[i].ending, ending) != 0)
        i++;
    if (frames->skipped[i].count++ == 0)
        snprintf(frames->skipped[i].ending, sizeof frames->skipped[i].ending, "%s", ending);
}

static int compare_skipped(const void *a, const void *b)
{
    const cli_skipped *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->ending, y->ending);
}

void folders_note_skipped(const cli_frames *frames, const char *folder)
{
    cli_skipped endings[FRAMES_SKIPPED_ENDINGS];
    size_t total = 0, count = 0;
    char text[FRAMES_SKIPPED_ENDINGS * 32] = "";

    memcpy(endings, frames->skipped, sizeof endings);
    while (count < FRAMES_SKIPPED_ENDINGS && endings[count].count > 0)
        total += endings[count++].count;
    qsort(endings, count, sizeof *endings, compare_skipped);
    for (size_t i = 0, used = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s", i ? ", " : "",
                                 endings[i].count, endings[i].ending);
    if (total > 0)
        message_note(folder, "%zu file%s passed over (%s)", total, total == 1 ? "" : "s", text);
}

static bool read_names(cli_frames *frames, DIR *directory, const char *folder, names *found)
{
    bool is_folder;
    for (struct dirent *entry; errno = 0, (entry = readdir(directory));) {
        if (!wanted(frames, folder, entry, &is_folder)) {
            if (entry->d_type != DT_DIR)
                skip(frames, entry->d_name);
            continue;
        }
        char *name = NULL;
        if (!frames_grow((void **)&found->list, &found->capacity, found->count, sizeof name) ||
            asprintf(&name, "%s%s", entry->d_name, is_folder ? "/" : "") < 0) {
            errno = ENOMEM;
            return false;
        }
        found->list[found->count++] = name;
    }
    return errno == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_own_output(const cli_frames *frames, const char *folder)
{
    struct stat output, status;
    for (int i = 0; i < 2; i++)
        if (frames->not_below[i] && stat(frames->not_below[i], &output) == 0 &&
            stat(folder, &status) == 0 && output.st_dev == status.st_dev &&
            output.st_ino == status.st_ino)
            return true;
    return false;
}

static bool add_folder(cli_frames *frames, const char *folder, uint32_t tree);

static bool add_names(cli_frames *frames, const char *folder, uint32_t tree, const names *found)
{
    bool good = true;
    for (size_t i = 0; i < found->count && good; i++) {
        char *path = join(folder, found->list[i]);
        if (path && path[strlen(path) - 1] == '/') {
            good = is_own_output(frames, path) || add_folder(frames, path, tree);
            free(path);
        } else {
            good = frames_add_file(frames, (cli_frame){.path = path, .tree = tree});
        }
    }
    return good;
}

static bool add_folder(cli_frames *frames, const char *folder, uint32_t tree)
{
    names found = {0};
    DIR *directory = opendir(folder);
    bool good = directory && read_names(frames, directory, folder, &found);
    const int number = errno;

    if (directory)
        closedir(directory);
    if (good) {
        if (found.count > 0)
            qsort(found.list, found.count, sizeof *found.list, compare_names);
        good = add_names(frames, folder, tree, &found);
    } else {
        good = number != ENOMEM && frames_add_error(frames, strdup(folder), tree, false, strerror(number));
    }
    for (size_t i = 0; i < found.count; i++)
        free(found.list[i]);
    free(found.list);
    return good;
}

static uint32_t base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (uint32_t)(slash + 1 - path) : 0;
}

bool folders_add(cli_frames *frames, const char *operand)
{
    struct stat status;
    const size_t before = frames->count;

    if (strcmp(operand, "-") == 0 || stat(operand, &status) != 0 || !S_ISDIR(status.st_mode))
        return frames_add_file(frames, (cli_frame){.path = strdup(operand), .tree = base_of(operand),
                                             .named = true});
    frames->from_folders = true;
    const size_t length = strlen(operand);
    if (!add_folder(frames, operand, (uint32_t)(length + (operand[length - 1] != '/'))))
        return false;
    return frames->count > before ||
           frames_add_error(frames, strdup(operand), base_of(operand), false,
                            frames->recursive ? "no pictures in this folder"
                                              : "no pictures in this folder (-r looks below it)");
}

/* Takes off what editors and Windows put around names, a byte order mark before the first and a
 * carriage return behind each, unless a file has that very name. Returns the length. */
static ssize_t take_off(char *line, ssize_t length, bool first)
{
    struct stat status;
    const bool mark = first && strncmp(line, "\xef\xbb\xbf", 3) == 0;
    const bool returns = length > 0 && line[length - 1] == '\r';
    if ((!mark && !returns) || lstat(line, &status) == 0)
        return length;
    if (returns)
        line[--length] = '\0';
    if (mark && lstat(line, &status) != 0)
        memmove(line, line + 3, (size_t)(length -= 3) + 1);
    return length;
}

/* Adds what the list names. Returns NULL, or why it cannot be read. */
static const char *read_list(cli_frames *frames, FILE *file, char end)
{
    const char *reason = NULL;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;

    for (bool first = true; !reason && (errno = 0, length = getdelim(&line, &size, end, file)) > 0;
         first = false) {
        if (line[length - 1] == end)
            line[--length] = '\0';
        if (end == '\n')
            length = take_off(line, length, first);
        if (strlen(line) != (size_t)length)
            reason = "has names that end with NUL, which -0 is for";
        else if (length > 0 && !folders_add(frames, line))
            reason = strerror(ENOMEM);
    }
    if (!reason && (errno || ferror(file)))
        reason = strerror(errno ? errno : EIO);
    free(line);
    return reason;
}

bool folders_add_list(cli_frames *frames, const char *path, char end)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "re");
    frames->in_list = true;
    const char *reason = file ? read_list(frames, file, end) : strerror(errno);
    frames->in_list = false;

    if (reason)
        message(path, "%s", reason);
    if (file && !standard)
        fclose(file);
    frames->from_folders = true;
    return !reason;
}
