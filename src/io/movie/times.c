/* SPDX-License-Identifier: MIT */
#include "times.h"

#include <stdlib.h>

#include "limits.h"

static bool add(movie_times *t, int64_t time)
{
    if (t->count == t->capacity) {
        const size_t capacity = t->capacity ? 2 * t->capacity : 4096;
        int64_t *larger = realloc(t->list, capacity * sizeof *larger);
        if (!larger)
            return false;
        t->list = larger;
        t->capacity = capacity;
    }
    t->list[t->count++] = time;
    return true;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Packets come in the order in which they are decoded: behind one whose turn to be decoded comes after a time
 * none is shown before it. */
bool movie_times_read(movie_times *t, const io_libav *libav, AVFormatContext *container, const AVStream *track,
                      int64_t wanted, int64_t most_bytes)
{
    AVPacket *packet = libav->av_packet_alloc();
    bool good = packet != NULL, more = true;
    int64_t bytes = 0;

    *t = (movie_times){0};
    while (good && more && libav->av_read_frame(container, packet) >= 0) {
        const bool own = packet->stream_index == track->index && !(packet->flags & AV_PKT_FLAG_DISCARD);
        bytes += movie_bytes(packet);
        good = bytes <= most_bytes;
        if (good && own) {
            good = packet->pts != AV_NOPTS_VALUE && add(t, packet->pts);
            more = packet->dts == AV_NOPTS_VALUE || packet->dts <= wanted;
            if (packet->flags & AV_PKT_FLAG_KEY && packet->pts <= wanted && (!t->has_key || packet->pts > t->key)) {
                t->has_key = true;
                t->key = packet->pts;
            }
        }
        libav->av_packet_unref(packet);
    }
    libav->av_packet_free(&packet);
    if (good && t->count > 0)
        qsort(t->list, t->count, sizeof *t->list, compare);
    return good;
}

void movie_times_free(movie_times *t)
{
    free(t->list);
    *t = (movie_times){0};
}

int64_t movie_times_before(const movie_times *t, int64_t time)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->list[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low;
}
