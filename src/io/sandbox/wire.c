/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include "clock.h"

static int wait_for(int socket, double until)
{
    struct pollfd wanted = {.fd = socket, .events = POLLIN};
    for (;;) {
        const double left = until - clock_ms();
        if (left <= 0)
            return poll(&wanted, 1, 0);
        const int ready = poll(&wanted, 1, left > INT_MAX / 2 ? INT_MAX / 2 : (int)left + 1);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready;
    }
}

sandbox_received sandbox_receive(int socket, void *message, size_t size, double until)
{
    ssize_t got;
    if (until > 0 && wait_for(socket, until) == 0)
        return SANDBOX_LATE;
    while ((got = recv(socket, message, size, MSG_TRUNC)) < 0 && errno == EINTR)
        ;
    return got <= 0 ? SANDBOX_CLOSED : (size_t)got == size ? SANDBOX_RECEIVED : SANDBOX_NONSENSE;
}

bool sandbox_send(int socket, const void *message, size_t size)
{
    ssize_t sent;
    while ((sent = send(socket, message, size, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent == (ssize_t)size;
}
