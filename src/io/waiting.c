/* SPDX-License-Identifier: MIT */
#include "waiting.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "clock.h"

static int timeout_of(const io_waiting *w, bool counts)
{
    const double left = w->most_ms - w->waited_ms;
    if (!counts)
        return -1;
    return left > INT_MAX / 2 ? INT_MAX / 2 : left > 0 ? (int)left + 1 : 0;
}

io_waited io_wait(io_waiting *w, bool begun, io_error *error)
{
    struct pollfd files[] = {{.fd = w->wake, .events = POLLIN}, {.fd = w->fd, .events = POLLIN}};
    const bool counts = w->most_ms > 0 && (begun || w->pauses || !w->written);
    for (;;) {
        const double before = counts ? clock_ms() : 0;
        const int ready = poll(files, 2, timeout_of(w, counts));
        if (ready < 0 && errno != EINTR) {
            io_fail(error, "%s", strerror(errno));
            return IO_WAITED_FAILED;
        }
        if (counts)
            w->waited_ms += clock_ms() - before;
        if (ready > 0 && files[0].revents)
            return IO_WAITED_STOPPED;
        if (ready > 0 && files[1].revents) {
            w->written = true;
            if (!begun && !w->pauses)
                w->waited_ms = 0;
            return IO_WAITED_READY;
        }
        if (counts && w->waited_ms >= w->most_ms)
            return IO_WAITED_LATE;
    }
}

bool io_waited_too_long(io_waiting *w, bool begun, ssize_t got, io_error *error)
{
    if (got > 0 || (got == 0 && w->written))
        return false;
    w->late = got == 0 || begun || w->pauses;
    w->written |= got < 0;
    if (!w->late)
        w->waited_ms = 0;
    else if (got == 0)
        io_fail(error, "nobody has opened this pipe for writing in the time that --max-time-per-frame allows");
    else
        io_fail(error, "takes longer to arrive than --max-time-per-frame allows");
    return w->late;
}
