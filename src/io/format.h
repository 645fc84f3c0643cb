/* SPDX-License-Identifier: MIT */
/* What a picture format implements, and what formats share. A new format is a file with an
 * io_format, and a line in formats.def. */
#ifndef TMATCH_IO_FORMAT_H
#define TMATCH_IO_FORMAT_H

#include "io.h"

typedef struct io_format io_format;

struct io_rows {
    const io_format *format;
    io_source *source;
    io_color color;
    int64_t width, height, next;
    bool alpha_ignored, colored, deep, floats;
    const char *whole; /* what makes decoding by rows impossible, "an interlaced PNG", or NULL */
    bool onwards;      /* this file's rows come one after the other only, although the format has rows_skip */
    int orientation;
    bool as_stored;
    char turned[32]; /* memory that whole may point to */
    int decoder_bytes; /* bytes a pixel that decoding whole takes beside the samples */
    size_t used;       /* how many of the source's bytes are of no more use */
    size_t spent_begin, spent_end; /* another such part of the source */
    void *state;  /* the format's own */
    uint8_t *row; /* room for a row as the file has it, malloc'ed, where the format needs one */
};

struct io_format {
    const char *name;
    const char *library; /* and its version, or NULL */
    bool not_in_folders; /* files with its endings are often no pictures: only named ones are read */
    bool (*probe)(const uint8_t *data, size_t size);
    /* The EXIF orientation that the file has, 1 to 8, or 0; or NULL. What is decoded is
     * made upright by the caller. */
    int (*orientation)(const io_source *source);
    /* Sets all but format and orientation; channels == request->color. What a failing decode left in
     * picture is freed by the caller. */
    bool (*decode)(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error);
    /* Decoding by rows. rows_state: how many bytes state has, which are 0 before open. open sets
     * width, height, what io_rows says of the file, and state, and whole where the file has to be
     * decoded whole: then read is not called, and may be NULL. read decodes the next row and says
     * in used how much of the file's beginning is of no more use. close, or NULL, frees what state
     * holds, whatever open left; state itself and row are freed after it. */
    size_t rows_state;
    bool (*rows_open)(io_rows *rows, const io_limits *limits, io_error *error);
    bool (*rows_read)(io_rows *rows, uint8_t *to, io_error *error);
    void (*rows_close)(io_rows *rows);
    /* How many of the next count rows need not be decoded so that those after them can be; NULL: 0.
     * The caller counts them in next. */
    int64_t (*rows_skip)(io_rows *rows, int64_t count);
    bool (*encode)(const io_picture *picture, FILE *file, io_error *error); /* or NULL */
    /* How many pictures a file holds, which source->page tells apart; nothing is decoded for it. 0
     * where the file is damaged; where only the end of its directory is, the count has one more,
     * which cannot be decoded. NULL where a file of the format holds one, and page does not matter. */
    int64_t (*pages)(const io_source *source);
    /* Where the bytes end that a file's directory names, or 0; NULL where io_split_next tells. */
    uint64_t (*end)(const io_source *source);
};

/* A movie's frame begins with this. */
typedef struct io_frame {
    const io_format *format; /* that of no file */
    void (*free)(struct io_frame *frame);
} io_frame;

#define FORMAT(id, endings) extern const io_format io_format_##id;
#include "formats.def"
#undef FORMAT

/* Every build knows these formats by their first bytes. */
bool io_is_tiff(const uint8_t *data, size_t size);
bool io_is_webp(const uint8_t *data, size_t size);

/* NULL-terminated, in the order in which they are probed. */
extern const io_format *const io_formats[];

/* Which of them a file's first bytes say, or the ending of its name in any case; or NULL. */
const io_format *io_find_format(const uint8_t *data, size_t size);
const io_format *io_named_format(const char *name);

/* The format of a source, or NULL. */
const io_format *io_format_of(const io_source *source);

/* What a file is whose format is none of ours, by its first bytes. */
typedef enum io_foreign { IO_FOREIGN_UNKNOWN, IO_FOREIGN_MOVIE, IO_FOREIGN_OTHER } io_foreign;
io_foreign io_foreign_kind(const uint8_t *data, size_t size);

/* A progressive file of 500 small scans of 4000x4000 pixels takes a second, and no program
 * writes so many. */
enum { IO_JPEG_MOST_SCANS = 500 };

/* JPEG of another quality than encode's, from 1 to 100; below 90 colour has half the
 * resolution. */
bool io_jpeg_encode(const io_picture *picture, int quality, FILE *file, io_error *error);

#define IO_EMPTY "empty file"
#define IO_LOST "the file was cut short, or its disk failed, while it was read"

/* Says that no format knows the file. */
bool io_fail_unknown(io_error *error);

/* Where rows are read, the source's memory is given back in steps of this. */
#define IO_RELEASE_BYTES ((size_t)8 << 20)

/* Says that the source's bytes from begin to end are of no more use; their memory is given back
 * some time. */
void io_rows_spend(io_rows *rows, size_t begin, size_t end);

/* Maps a file's bytes; false where it cannot be done. */
bool io_map(io_source *source, int fd, size_t size);
void io_unmap(const io_source *source);

/* The descriptor of a mapped file, which stays the mapping's; -1: there is none. */
int io_mapped_file(const io_source *source);

/* Makes io_source_lost true, for who reads the file in another process. Only a mapped file can be lost. */
void io_source_lose(const io_source *source);

/* Writes the reason; always false, so that "return io_fail(...)" works. */
bool io_fail(io_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The limits for a source's pictures, where the caller's may be 0, the default. */
io_limits io_limits_of(const io_source *source, const io_limits *limits);

/* Fails where the size is not positive, or has more pixels than the limit from io_limits_of. */
bool io_check_size(int64_t width, int64_t height, const io_limits *limits, io_error *error);

/* Checks the size and allocates the samples, which stay uninitialised, in
 * picture->memory if that has room. bits: 8, 16 or 32. */
bool io_picture_allocate(io_picture *picture, int64_t width, int64_t height, io_color color,
                         int bits, const io_limits *limits, io_error *error);

/* Frees the samples and puts others, which are malloc's, or NULL, in their stead. */
void io_replace_samples(io_picture *picture, uint8_t *samples);

/* Converts a row of 1 or 3 channels to 1 or 3: gray is repeated, colour becomes
 * Rec. 601 luma, as libpng computes it. */
void io_put_row(uint8_t *to, int to_channels, const uint8_t *from, int from_channels,
                int64_t width);
/* The same for floats; luma is rounded to a float. */
void io_put_float_row(float *to, int to_channels, const float *from, int from_channels,
                      int64_t width);
/* Refuses, keeps or shows decoded floats, as the request says. */
bool io_finish_floats(io_picture *picture, const io_request *request, io_error *error);

void io_put_deep_row(uint16_t *to, int to_channels, const uint16_t *from, int from_channels,
                     int64_t width);

#endif
