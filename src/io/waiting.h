/* SPDX-License-Identifier: MIT */
/* Waiting for the bytes of a pipe, which can be stopped, and limited. */
#ifndef TMATCH_IO_WAITING_H
#define TMATCH_IO_WAITING_H

#include "format.h"

typedef struct io_waiting {
    int fd, wake;     /* wake becomes readable where waiting is to stop */
    double most_ms;   /* how long it may take for a picture; 0: no limit */
    bool pauses;      /* waiting for a picture's first byte counts, too */
    bool written;     /* somebody has opened the pipe for writing, as far as is known; true of devices */
    double waited_ms; /* what was counted for the picture at hand */
    bool late;        /* it was too long */
} io_waiting;

/* LATE: the limit is over. The caller reads nevertheless: only that tells a pipe that nobody has opened
 * for writing from one whose writer has nothing to say. FAILED comes with the error. */
typedef enum io_waited { IO_WAITED_READY, IO_WAITED_LATE, IO_WAITED_STOPPED, IO_WAITED_FAILED } io_waited;

/* Waits until fd can be read. begun: there are bytes of the picture already. Time counts if it is begun, if
 * pauses count, and as long as nobody writes to the pipe. */
io_waited io_wait(io_waiting *waiting, bool begun, io_error *error);

/* Tells whether waiting was too long, where it was LATE and reading came to got bytes, or to -1 where there
 * are none: then with the error. */
bool io_waited_too_long(io_waiting *waiting, bool begun, ssize_t got, io_error *error);

#endif
