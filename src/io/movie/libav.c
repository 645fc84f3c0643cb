/* SPDX-License-Identifier: MIT */
#include "libav.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static io_libav libav;
static char missing[160]; /* why they cannot be opened, or "" */

#define STRING(x) #x
#define SONAME(name, major) "lib" #name ".so." STRING(major)

/* The libraries by the versions that the program was compiled for. */
static const struct {
    const char *name, *soname;
} libraries[] = {
    {"avformat", SONAME(avformat, LIBAVFORMAT_VERSION_MAJOR)},
    {"avcodec", SONAME(avcodec, LIBAVCODEC_VERSION_MAJOR)},
    {"avutil", SONAME(avutil, LIBAVUTIL_VERSION_MAJOR)},
};

enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static void *find_function(void *const *handles, const char *library, const char *name)
{
    for (int i = 0; i < LIBRARIES; i++)
        if (strcmp(libraries[i].name, library) == 0)
            return dlsym(handles[i], name);
    return NULL;
}

/* Whose complaint it is: of what complains itself, or of the one that it works for. Threads of a codec have
 * copies of its context. */
static io_libav_log *find_log(void *context, bool *container)
{
    while (context) {
        const AVClass *class = *(AVClass **)context;
        if (!class)
            return NULL;
        const AVClassCategory category = class->get_category ? class->get_category(context) : class->category;
        *container = category == AV_CLASS_CATEGORY_DEMUXER || category == AV_CLASS_CATEGORY_MUXER;
        if (*container)
            return ((AVFormatContext *)context)->opaque;
        if (category == AV_CLASS_CATEGORY_DECODER || category == AV_CLASS_CATEGORY_ENCODER)
            return ((AVCodecContext *)context)->opaque;
        context = class->parent_log_context_offset ? *(void **)((char *)context + class->parent_log_context_offset) : NULL;
    }
    return NULL;
}

/* Writes down the first complaint. */
static void keep_message(void *context, int level, const char *format, va_list arguments)
{
    bool container = false;
    int prefix = 0;
    io_libav_log *log = level > AV_LOG_ERROR ? NULL : find_log(context, &container);

    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    log->of_container += container;
    log->of_codec += !container;
    if (!*log->first) {
        libav.av_log_format_line2(NULL, level, format, arguments, log->first, sizeof log->first, &prefix);
        log->first[strcspn(log->first, "\n")] = '\0';
    }
    pthread_mutex_unlock(&log->lock);
}

static void open_libraries(void)
{
    void *handles[LIBRARIES];

    for (int i = 0; i < LIBRARIES; i++) {
        handles[i] = dlopen(libraries[i].soname, RTLD_NOW | RTLD_LOCAL);
        if (!handles[i]) {
            snprintf(missing, sizeof missing, "%s, which reads movies, is missing", libraries[i].soname);
            return;
        }
    }
    bool whole = true;
#define FUNCTION(library, name) whole &= (*(void **)&libav.name = find_function(handles, #library, #name)) != NULL;
    IO_EACH_LIBAV_FUNCTION(FUNCTION)
#undef FUNCTION
    if (whole)
        libav.av_log_set_callback(keep_message);
    else
        strcpy(missing, "libavformat, which reads movies, is not the one that this program was built for");
}

const io_libav *io_libav_open(io_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_libraries);
    if (!*missing)
        return &libav;
    if (error)
        io_fail(error, "%s", missing);
    return NULL;
}

bool io_libav_is_movie(const AVInputFormat *kind)
{
    static const char *const lists[] = {"concat", "dash", "hls", "imf", "sdp", "vobsub"};
    const char *end = strstr(kind->name, "_pipe");

    if ((end && !end[5]) || strstr(kind->name, "image2") || kind->flags & AVFMT_NOFILE)
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(kind->name, lists[i]) == 0)
            return false;
    return true;
}
