/* SPDX-License-Identifier: MIT */
/* What the program, a zygote and its decoders send one another, each message whole or not at all.
 *
 * The program sends a zygote a request, with one end of a pair of sockets and perhaps a file. The
 * zygote forks a decoder, which has this end, and no other descriptor; when the decoder is dead the
 * zygote sends its end. Only then does the next request come. A decoder's answers, whose samples lie in
 * memory that it shares with the program, come from whoever has made the file: they are checked. */
#ifndef TMATCH_IO_SANDBOX_WIRE_H
#define TMATCH_IO_SANDBOX_WIRE_H

#include <sys/types.h>

#include "io/format.h"

/* Descriptors of a zygote. In a decoder the first is its end of the pair of sockets, and the others
 * are closed. */
enum { SANDBOX_SOCKET = 3, SANDBOX_INPUT, SANDBOX_OUTPUT, SANDBOX_FIRST_FREE, SANDBOX_MOST_FILES = 16 };

/* A zygote's first message. */
typedef struct sandbox_hello {
    bool good;
    int landlock;     /* the ABI's version; 0: the kernel has no Landlock */
    int system_calls; /* how many are allowed */
    bool memory_limited;
    char reason[256]; /* why it is not good */
} sandbox_hello;

typedef struct sandbox_request {
    bool rows; /* else a whole picture */
    io_request as; /* without memory */
    io_limits limits;
    int64_t page;
    double deadline;
    size_t size; /* of the file's bytes; they lie in the input, or in the file that is sent along */
    size_t memory;    /* most bytes that the decoder may take, */
    size_t room;      /* and for samples, in the output */
    unsigned seconds; /* of computing; 0: no limit */
} sandbox_request;

/* What a decoder answers, in numbers of fixed sizes, as any bits may come. */
typedef struct sandbox_answer {
    uint8_t good, lost; /* lost: as io_source_lost */
    uint8_t alpha_ignored, colored, masked, deep, floats, whole;
    int32_t format, channels, bits, orientation, decoder_bytes;
    int64_t width, height; /* samples lie at the output's beginning, the mask behind them */
    char text[256];        /* the error's reason; or, of rows, why they cannot be read by rows */
} sandbox_answer;

/* Sent to the decoder of rows that can be read so: wants rows, which lie at the output's beginning. */
typedef struct sandbox_rows_wanted {
    int64_t first; /* not before those that were wanted last; what lies between is passed over */
    int64_t count;
    double deadline;
} sandbox_rows_wanted;

/* Good or not, count rows came before. */
typedef struct sandbox_rows_answer {
    uint8_t good, lost;
    int64_t count;
    char text[256];
} sandbox_rows_answer;

/* How a decoder ended, as waitpid tells it, or why none could be started. */
typedef struct sandbox_end {
    int status;
    int start_errno; /* 0: it was started */
} sandbox_end;

/* Where the mask lies behind so many bytes of samples. */
static inline size_t sandbox_mask_at(size_t samples)
{
    return (samples + 63) / 64 * 64;
}

typedef enum sandbox_received {
    SANDBOX_RECEIVED, SANDBOX_CLOSED, SANDBOX_NONSENSE, SANDBOX_LATE
} sandbox_received;

/* Waits for a message of that size until the time in clock.h's milliseconds; 0: for ever. CLOSED: the
 * other side is gone. Descriptors that come along are dropped. */
sandbox_received sandbox_receive(int socket, void *message, size_t size, double until);

/* False where the other side is gone. */
bool sandbox_send(int socket, const void *message, size_t size);

#endif
