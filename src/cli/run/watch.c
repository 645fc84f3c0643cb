/* SPDX-License-Identifier: MIT */
#include "run/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash.h"
#include "io/io.h"
#include "message.h"

/* IN_CREATE is for links, which are complete when they are made. */
#define EVENTS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF)

bool watch_open(cli_watch *w, const char *folder)
{
    *w = (cli_watch){.folder = folder, .wake = eventfd(0, EFD_CLOEXEC)};
    w->inotify = inotify_init1(IN_CLOEXEC);
    if (w->wake >= 0 && w->inotify >= 0 &&
        inotify_add_watch(w->inotify, folder, EVENTS | IN_ONLYDIR) >= 0)
        return true;
    message(folder, "cannot be watched: %s", strerror(errno));
    return false;
}

void watch_close(cli_watch *w)
{
    if (!w->folder)
        return;
    if (w->inotify >= 0)
        close(w->inotify);
    if (w->wake >= 0)
        close(w->wake);
    free(w->known);
}

static bool identify(const char *path, uint64_t *identity)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    const uint64_t facts[] = {status.st_dev, status.st_ino, (uint64_t)status.st_size,
                              (uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec};
    *identity = hash_bytes(0, facts, sizeof facts);
    return true;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool watch_know(cli_watch *w, const cli_frames *frames)
{
    w->known = malloc((frames->count + 1) * sizeof *w->known);
    if (!w->known) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    for (size_t i = 0; i < frames->count; i++)
        w->known_count += identify(frames->list[i].path, &w->known[w->known_count]);
    qsort(w->known, w->known_count, sizeof *w->known, compare);
    return true;
}

static bool is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static void add(cli_watch *w, cli_pipeline *pipeline, char *path, size_t tree)
{
    cli_frames found = {0};
    if (!frames_add_file(&found, (cli_frame){.path = path, .tree = (uint32_t)tree})) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        w->failed = true;
    }
    for (size_t i = 0; i < found.count; i++)
        pipeline_add(pipeline, found.list[i]);
    found.count = 0;
    frames_free(&found);
}

/* Adds the file of an event. If it is gone again, it was renamed, and another event has its name. */
static void take(cli_watch *w, cli_pipeline *pipeline, const struct inotify_event *event)
{
    uint64_t identity;
    char *path = NULL;
    const size_t length = strlen(w->folder);
    const char *slash = w->folder[length - 1] == '/' ? "" : "/";

    const bool movie = io_is_movie_name(event->name);
    if (event->name[0] == '.' || !(movie || io_is_picture_name(event->name)))
        return;
    if (asprintf(&path, "%s%s%s", w->folder, slash, event->name) < 0) {
        message(event->name, "%s", tm_strerror(TM_ERR_MEMORY));
        w->failed = true;
        return;
    }
    const bool complete = !(event->mask & IN_CREATE) || is_link(path);
    const bool arrived = complete && identify(path, &identity) &&
                         !bsearch(&identity, w->known, w->known_count, sizeof identity, compare);
    if (arrived && !movie) {
        add(w, pipeline, path, length + strlen(slash));
        return;
    }
    if (arrived) {
        message(path, "a movie, and --watch takes pictures: name it as a frame of a run of its own");
        w->failed = true;
    }
    free(path);
}

/* Handles an event. False when there will be no more. */
static bool handle(cli_watch *w, cli_pipeline *pipeline, const struct inotify_event *event)
{
    if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) {
        message(w->folder, "the folder is gone");
        w->failed = true;
        return false;
    }
    if (event->mask & IN_Q_OVERFLOW) {
        message_note(w->folder, "frames came faster than the system could tell: some were missed");
        w->failed = true;
    } else if (event->len > 0 && !(event->mask & IN_ISDIR)) {
        take(w, pipeline, event);
    }
    return true;
}

void watch_feed(void *data, cli_pipeline *pipeline)
{
    cli_watch *w = data;
    _Alignas(struct inotify_event) char buffer[16384];
    struct pollfd files[] = {{.fd = w->wake, .events = POLLIN}, {.fd = w->inotify, .events = POLLIN}};
    bool more = true;

    while (more && poll(files, 2, -1) >= 0 && !files[0].revents) {
        const ssize_t size = read(w->inotify, buffer, sizeof buffer);
        for (ssize_t at = 0; at < size && more;) {
            const struct inotify_event *event = (const struct inotify_event *)(buffer + at);
            more = handle(w, pipeline, event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
}

void watch_stop(void *data)
{
    const cli_watch *w = data;
    const uint64_t one = 1;
    if (write(w->wake, &one, sizeof one) < 0)
        message(w->folder, "%s", strerror(errno));
}
