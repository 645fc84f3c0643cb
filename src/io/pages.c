/* SPDX-License-Identifier: MIT */
/* Files that hold several pictures. */
#include "format.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t count(const io_source *source)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if ((*format)->probe(source->data, source->size))
            return (*format)->pages ? (*format)->pages(source) : 1;
    return 1;
}

int64_t io_count_pages(const char *path)
{
    io_source source;
    struct stat status;
    int64_t pages = 1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return 1;
    /* Mapped, whatever its size: of most files only the first bytes are looked at. */
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        io_map(&source, fd, (size_t)status.st_size)) {
        pages = count(&source);
        io_unmap(&source);
    }
    close(fd);
    return pages > 1 ? pages : 1;
}

bool io_may_have_pages(const char *name, bool likely)
{
    const char *dot = strrchr(name, '.');
    for (const io_format *const *format = io_formats; dot && *format; format++)
        for (const char *const *ending = (*format)->in_folders; ending && *ending; ending++)
            if (strcasecmp(dot, *ending) == 0)
                return (*format)->pages != NULL;
    return !likely;
}
