/* SPDX-License-Identifier: MIT */
/* Which files are movies. */
#include "movie.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libav.h"

/* How much of a file is looked at, and how sure libavformat has to be of what it is. */
enum { PROBED_BYTES = 64 << 10, LEAST_SCORE = AVPROBE_SCORE_EXTENSION };

/* Set before there are threads. */
static bool refused;

void io_movies_refuse(void)
{
    refused = true;
}

bool io_reads_movies(void)
{
    return !refused && io_libav_open(NULL) != NULL;
}

const char *io_movies_unread(void)
{
    return refused               ? ", which --sandbox cannot decode"
           : !io_reads_movies() ? ", and libavformat, which would read it, is missing"
                                 : "";
}

bool io_is_movie_name(const char *name)
{
    static const char *const endings[] = {".3gp", ".avi", ".flv",  ".gif", ".m2ts", ".m4v",  ".mkv", ".mov", ".mp4",
                                          ".mpeg", ".mpg", ".mts", ".mxf", ".ogv",  ".webm", ".wmv"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return refused || io_reads_movies();
    return false;
}

/* Subtitles and lists of other files are text; a movie is not. */
static bool is_binary(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size && i < 4096; i++)
        if (data[i] < 0x20 && !isspace(data[i]) && data[i] != '\x1b')
            return true;
    return false;
}

static bool probe(const uint8_t *data, size_t size)
{
    const io_libav *av = io_libav_open(NULL);
    uint8_t *copy = av ? calloc(1, size + AVPROBE_PADDING_SIZE) : NULL;
    int score = 0;

    if (!copy)
        return false;
    memcpy(copy, data, size);
    const AVProbeData sample = {.filename = "", .buf = copy, .buf_size = (int)size};
    const AVInputFormat *format = av->av_probe_input_format2(&sample, 1, &score);
    free(copy);
    return format && score >= LEAST_SCORE && io_libav_is_movie(format);
}

bool io_begins_movie(const uint8_t *data, size_t size)
{
    if (size == 0 || io_find_format(data, size))
        return false;
    const io_foreign kind = io_foreign_kind(data, size);
    if (kind != IO_FOREIGN_UNKNOWN)
        return kind == IO_FOREIGN_MOVIE && (refused || io_reads_movies());
    return !refused && is_binary(data, size) && probe(data, size < PROBED_BYTES ? size : PROBED_BYTES);
}

bool io_is_movie(const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status;
    uint8_t *data = malloc(PROBED_BYTES);
    bool good = fd >= 0 && data && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);

    if (good) {
        const ssize_t size = pread(fd, data, PROBED_BYTES, 0);
        good = size > 0 && io_begins_movie(data, (size_t)size);
    }
    if (fd >= 0 && !standard)
        close(fd);
    free(data);
    return good;
}
