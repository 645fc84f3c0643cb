/* SPDX-License-Identifier: MIT */
/* Pictures in and out. Every failing function writes one reason, without the
 * file's name, to an io_error; the caller puts the name before it. */
#ifndef TMATCH_IO_H
#define TMATCH_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct io_error {
    char reason[256];
    bool passing; /* another try may go better; only io_decode_as and io_rows_open_as make it true */
} io_error;

/* Memory for samples other than malloc's. Called by any thread. */
typedef struct io_memory {
    void *(*take)(struct io_memory *memory, size_t size); /* NULL: there is none, take malloc's */
    void (*give_back)(struct io_memory *memory, void *data);
} io_memory;

/* A decoded picture: channels samples (1 gray, 3 RGB) a pixel, rows packed. Freed
 * with io_picture_free. */
typedef struct io_picture {
    int64_t width, height;
    int channels;
    int bits; /* bits of a sample: 8, which 0 means too; 16, in the machine's byte order; or 32, a float */
    uint8_t *samples;
    io_memory *memory;  /* where the samples are from; NULL: malloc */
    uint8_t *mask;      /* a byte a pixel, 0 where the file is transparent; or NULL */
    const char *format; /* as in the table: "PNG", "JPEG" ... "text" */
    bool alpha_ignored; /* the file had transparency, and mask is NULL */
    bool colored;       /* the file has colours, whatever channels is */
    int orientation;    /* as in EXIF, from 2 to 8, if the file is not stored upright, else 0 */
    bool as_stored;     /* the picture was not made upright */
} io_picture;

static inline int io_sample_size(const io_picture *picture)
{
    return picture->bits ? picture->bits / 8 : 1;
}

/* How many bytes its samples and its mask take; 0 where it has none. */
static inline size_t io_picture_bytes(const io_picture *picture)
{
    const size_t pixels = (size_t)(picture->width * picture->height);
    const size_t pixel = (size_t)(picture->channels * io_sample_size(picture));
    return (picture->samples ? pixels * pixel : 0) + (picture->mask ? pixels : 0);
}

void io_picture_free(io_picture *picture);

struct io_decoder;
struct io_frame;

/* A file's bytes, mapped or read; path "-" is standard input. Or a movie's frame. */
typedef struct io_source {
    const uint8_t *data;
    size_t size;
    bool mapped;
    int slot;        /* the number of the mapping */
    size_t released; /* how many bytes from the beginning were given back */
    int64_t page;    /* which of the file's pictures is meant, from 0; set after opening */
    /* Decoding that is not done by then, in clock.h's milliseconds, fails; set after opening. 0: none. */
    double deadline;
    struct io_decoder *decoder; /* who decodes it in this process's stead, or NULL; set after opening */
    struct io_frame *frame; /* what a movie's codec has made, in data's stead; size is what it takes; or NULL */
    void (*closed)(void *owner, size_t size); /* called when the source is closed; or NULL */
    void *owner;
} io_source;

bool io_source_open(io_source *source, const char *path, io_error *error);

/* The same, but files of any size are mapped, where that can be done: for who leaves reading them to
 * another process. */
bool io_source_map(io_source *source, const char *path, io_error *error);

void io_source_close(io_source *source);

/* Whether the file was cut short, or could not be read, after it was opened: what was
 * decoded of it fails. */
bool io_source_lost(const io_source *source);

/* Whether the source has a deadline, and it has passed; the error, which may be NULL, says so. */
bool io_source_late(const io_source *source, io_error *error);

/* Where one of several pictures is: a page of the file, or these bytes of it, with those of a
 * header before them. */
typedef struct io_part {
    int64_t page;
    int64_t offset, header;
    size_t size, header_size; /* size 0: the whole file is read, for one of its pages */
    bool timed; /* a movie's frame */
    double time; /* in seconds, from 0 */
    int64_t frame; /* the number of the frame of a movie that libav reads, from 1; or 0 */
} io_part;

/* reason: why the part cannot be read, or NULL. Returns false to stop. */
typedef bool io_take_part(void *data, const io_part *part, const char *reason);

/* Calls take for each picture of a file that holds several, or only for the one whose number, from
 * 1, is given. "-" is standard input, which has to be a file. Returns how many pictures there are,
 * or -1 where take did not want more. A file that is no picture counts as one, which fails when it
 * is decoded. */
int64_t io_find_parts(const char *path, int64_t only, io_take_part *take, void *data);

/* Whether another picture follows what is read of a file: in a PNM file, which io_find_parts finds, but files of
 * folders are not searched; in other formats, whose pictures are told apart on standard input only; or behind a
 * TIFF, which ends nowhere. What a JPEG says is a part of itself, as depth and previews are, does not count. */
typedef enum io_rest { IO_REST_NONE, IO_REST_OF_PNM, IO_REST_OF_STREAM, IO_REST_OF_TIFF } io_rest;
io_rest io_rest_of(const io_source *source);

/* Opens one of a file's pictures; otherwise as io_source_open. */
bool io_source_open_part(io_source *source, const char *path, const io_part *part,
                         io_error *error);

/* How many pictures a file holds, where its format has a directory of them, as TIFF has; else 1. */
int64_t io_count_pages(const io_source *source);

/* Whether a file of this name may hold several pictures. likely: only where that is usual for the
 * format, so that a folder's file is worth opening for it. A name without a format's ending may be
 * anything. */
bool io_may_have_pages(const char *name, bool likely);

/* Pictures that come one after the other through a pipe: PNM, PNG, JPEG, BMP, WebP and NPY, mixed
 * as they like, and the frames of Y4M. A stream that begins with another format, or not with
 * a picture, is one to its end. */
typedef struct io_stream io_stream;

/* Whether a path, "-" for standard input, is a pipe or a device, or standard input stands in
 * the middle of a file. */
bool io_is_stream(const char *path);

/* Asked before memory is taken whether a picture may take so many bytes; if not, it says why. It
 * may wait until other pictures have left room. */
typedef struct io_stream_room {
    bool (*admit)(void *data, size_t bytes, io_error *error);
    void *data;
} io_stream_room;

typedef struct io_streamed {
    io_source source; /* the caller's, to be closed; a movie's frame has the header in front */
    bool timed;       /* a movie's frame */
    double time;      /* in seconds, from 0 */
    bool repeats;     /* it has the very samples of the one that came before it */
} io_streamed;

/* FAILED comes with an error, and nothing after it is read. STOPPED comes after io_stream_stop. MOVIE: the
 * stream is a movie that is to be read by io_movie_open. */
typedef enum io_next { IO_NEXT_PICTURE, IO_NEXT_END, IO_NEXT_STOPPED, IO_NEXT_FAILED, IO_NEXT_MOVIE } io_next;
typedef enum io_follows { IO_FOLLOWS_NOTHING, IO_FOLLOWS_PICTURE, IO_FOLLOWS_GARBAGE } io_follows;

bool io_stream_open(io_stream **stream, const char *path, const io_stream_room *room,
                    io_error *error);
void io_stream_close(io_stream **stream);

/* Limits waiting, not reading: somebody has to open a named pipe for writing within so many
 * milliseconds, and a picture's bytes, once they begin, may be waited for so long altogether. pauses:
 * waiting for the first byte counts, too. What comes later is an error of the stream. */
void io_stream_limit_waiting(io_stream *stream, double ms, bool pauses);

/* Waits for a whole picture, or the stream's end. A picture that the end has torn is handed out
 * too, and fails when it is decoded; so is an empty stream, so that the first call never returns
 * END. */
io_next io_stream_next(io_stream *stream, io_streamed *picture, io_error *error);

/* Reads bytes, waiting for the first of them: how many, 0 at the end, or -1 with the error. */
ssize_t io_stream_read(io_stream *stream, uint8_t *to, size_t size, io_error *error);

/* Waits for the first bytes of the next one. */
io_follows io_stream_follows(io_stream *stream);

/* Where in the stream the first byte is that belongs to no picture so far. */
int64_t io_stream_offset(const io_stream *stream);

/* Ends another thread's waiting. */
void io_stream_stop(const io_stream *stream);

/* Gives back the memory of the first used bytes, which the caller does not look at
 * any more soon; they stay readable. */
void io_source_release(io_source *source, size_t used);

/* The same for the bytes from begin to end. */
void io_source_release_range(const io_source *source, size_t begin, size_t end);

/* A picture whose header announces more pixels is refused. 0 means the default:
 * IO_DEFAULT_MAX_PIXELS, or IO_SMALL_FILE_PIXELS for a file that has less than a byte for
 * IO_PIXELS_A_BYTE pixels, as few files have that are not made to fill the memory. */
typedef struct io_limits {
    int64_t max_pixels;
} io_limits;

/* 2^32 pixels: a gray frame of 4 GiB. 2^28: one of 256 MiB. */
#define IO_DEFAULT_MAX_PIXELS ((int64_t)1 << 32)
#define IO_SMALL_FILE_PIXELS ((int64_t)1 << 28)
#define IO_PIXELS_A_BYTE 1000

typedef enum io_color { IO_GRAY = 1, IO_RGB = 3 } io_color;

/* What becomes of float samples: an error, floats as they are, or 8 bits to look at, the least one
 * black and the greatest white. */
typedef enum io_floats { IO_FLOATS_REFUSED, IO_FLOATS_KEPT, IO_FLOATS_SHOWN } io_floats;

/* How a picture is wanted. */
typedef struct io_request {
    io_color color;
    bool deep;  /* samples of more than 8 bits as 16 bits; else all become 8 */
    bool alpha; /* transparency as a mask; else it is ignored */
    io_floats floats;
    bool stored_orientation; /* as the file stores it; else upright, as its EXIF data say */
    bool frugal;             /* without memory that only makes decoding faster */
    io_memory *memory;       /* for the samples, or NULL */
} io_request;

/* Decodes a picture, whose format is known by its content. Gray is Rec. 601 luma where the file has
 * colour. */
bool io_decode_as(const io_source *source, const io_request *request, const io_limits *limits,
                  io_picture *picture, io_error *error);

/* The ending, in small letters, of a name that looks like a picture or a movie but is passed over
 * in folders; NULL for other names. */
const char *io_foreign_ending(const char *name);

/* If tmatch does not read the file but knows its format: names that in error, with a command that
 * makes pictures of the file at path, to be piped into "tmatch " and reader. reader is "- TEMPLATE"
 * for frames, and does not begin with "-" where only one picture is wanted. False if it does not
 * know it, or reads it. */
bool io_explain_foreign(const io_source *source, const char *path, const char *reader,
                        io_error *error);

/* The same for 8 bits, without a mask; floats are refused. */
bool io_decode(const io_source *source, io_color color, const io_limits *limits,
               io_picture *picture, io_error *error);

/* Turns samples into 16 bits, times 257, or 8 bits, to the nearest, or 32, floats of the same
 * values. Fails for floats, which stay floats, and where memory runs out. */
bool io_set_bits(io_picture *picture, int bits, io_error *error);

/* Turns samples into 8 bits to look at, in place: floats as IO_FLOATS_SHOWN says, 16 bits to the
 * nearest. But where these use less than half of the range, as 12 bits in 16 do, the least becomes
 * black and the greatest white. */
void io_show(io_picture *picture);

/* Decoding row by row, for pictures larger than memory. PNG, JPEG, TIFF, BMP and PNM can; not
 * interlaced PNG and progressive JPEG, whose first row is complete only at the end
 * of the file, not what EXIF turns or mirrors, and not WebP, NPY and text: of these only the size
 * is told. */
typedef struct io_rows io_rows;

/* As io_decode_as, but for 8-bit samples without a mask: only color and stored_orientation of the
 * request count. The source is used until close. */
bool io_rows_open_as(io_rows **rows, io_source *source, const io_request *request,
                     const io_limits *limits, io_error *error);

/* The same for upright rows; otherwise as io_decode. */
bool io_rows_open(io_rows **rows, io_source *source, io_color color, const io_limits *limits,
                  io_error *error);
void io_rows_close(io_rows **rows);
int64_t io_rows_width(const io_rows *rows); /* of the upright picture, as the height is */
int64_t io_rows_height(const io_rows *rows);
int io_rows_orientation(const io_rows *rows); /* as in io_picture */
bool io_rows_turned(const io_rows *rows); /* EXIF exchanges rows and columns, which takes other memory */
bool io_rows_alpha_ignored(const io_rows *rows);
bool io_rows_colored(const io_rows *rows); /* the file has colours */
const char *io_rows_format(const io_rows *rows);

/* Bytes a pixel that the decoder takes beside the samples when it decodes the file whole. */
int io_rows_decoder_bytes(const io_rows *rows);

/* Bytes of a sample when the file is decoded whole, as deep as it is. */
int io_rows_sample_size(const io_rows *rows);

/* What makes decoding by rows impossible, "an interlaced PNG", or NULL. */
const char *io_rows_whole(const io_rows *rows);

/* Whether io_rows_skip goes to a row, or to its strip or tile, without decoding what is before it. */
bool io_rows_seeks(const io_rows *rows);

/* Decodes the next row, width * color bytes. A damaged file may fail at any row; what
 * io_decode refuses fails at the last one at the latest. */
bool io_rows_read(io_rows *rows, uint8_t *to, io_error *error);

/* Passes over the next count rows, which are decoded only where the format needs it: TIFF goes to the
 * strip or tile, raw formats to the byte. What is damaged there may stay unnoticed. row has room for a
 * row. */
bool io_rows_skip(io_rows *rows, int64_t count, uint8_t *row, io_error *error);

/* Somebody else who does the work of io_decode_as and io_rows_open_as for sources that say so. Called by
 * any thread. */
typedef struct io_decoder {
    bool (*decode)(struct io_decoder *decoder, const io_source *source, const io_request *request,
                   const io_limits *limits, io_picture *picture, io_error *error);
    bool (*rows_open)(struct io_decoder *decoder, io_rows **rows, io_source *source,
                      const io_request *request, const io_limits *limits, io_error *error);
} io_decoder;

/* "WxH+X+Y" */
typedef struct io_crop {
    int64_t width, height, x, y;
} io_crop;

/* Splits "name[WxH+X+Y]" into a malloc'ed name and a crop. *has_crop is false
 * when there is no such suffix; a name that exists on disk as it stands is
 * never split. Fails on a suffix that begins with '[' + digit and is not a crop. */
bool io_split_crop(const char *operand, char **path, io_crop *crop, bool *has_crop,
                   io_error *error);

/* Fails, naming both sizes, when the crop is not inside a picture of that size. */
bool io_check_crop(const io_crop *crop, int64_t width, int64_t height, io_error *error);

/* Cuts in place; fails, naming both sizes, when the crop is not inside the picture. */
bool io_crop_picture(io_picture *picture, const io_crop *crop, io_error *error);

/* Writes to a temporary name beside the target; the target appears complete at
 * commit, or not at all. */
typedef struct io_output {
    FILE *file;
    char *path;
    struct io_temporary *temporary; /* NULL: the target itself is written */
} io_output;

bool io_output_open(io_output *output, const char *path, io_error *error);
bool io_output_commit(io_output *output, io_error *error);

/* From now on a commit returns when the file is on the disk under its name, so that it survives a
 * power cut. To be called before there are threads. */
void io_output_make_lasting(void);

/* Syncs the folder that a file was put into, whose name may be lost in a power cut until then. False
 * with errno where the disk fails. */
bool io_sync_folder_of(const char *path);

void io_output_abort(io_output *output);

/* Removes every temporary file of every thread, and lets no thread make or rename one ever after:
 * called before the process ends. Takes a lock, so it is not for signal handlers. */
void io_output_abort_all(void);

/* Writes a picture of 8 bits in the format that the path's ending names (.png, which may
 * have 16 and an alpha channel after the others, .jpg, .jpeg, any case); fails with the known
 * endings on another. */
bool io_write_picture(const char *path, const io_picture *picture, io_error *error);

/* True if io_write_picture knows the path's ending, else the reason. */
bool io_can_write(const char *path, io_error *error);

/* Whether a folder's file of this name is read as a frame: those with a format's usual ending, in
 * any case, but not text matrices, whose ending says nothing, nor arrays. */
bool io_is_picture_name(const char *name);

/* The same into an open file, in the format that the name's ending names. */
bool io_encode(const io_picture *picture, const char *name, FILE *file, io_error *error);

/* A copy that fits into width x height, of the same shape; 8 bits a sample. */
bool io_shrink(const io_picture *picture, int64_t width, int64_t height, io_picture *small,
               io_error *error);

/* A JPEG of the picture that is at most side wide, and 3/4 of that high. */
bool io_write_thumbnail(const io_picture *picture, int side, FILE *file, io_error *error);

/* NumPy .npy, version 1.0, C order, little endian: rows x columns of '<f4' or
 * '<i8' elements, packed. */
typedef enum io_npy_type { IO_NPY_FLOAT32, IO_NPY_INT64 } io_npy_type;
bool io_write_npy(const char *path, io_npy_type type, int64_t rows, int64_t columns,
                  const void *data, io_error *error);

/* The same written by rows, from the top. Abort or commit ends it; commit fails
 * where rows are missing. */
typedef struct io_npy {
    io_output output;
    size_t row_bytes;
    int64_t rows; /* still to come */
} io_npy;
bool io_npy_open(io_npy *npy, const char *path, io_npy_type type, int64_t rows, int64_t columns,
                 io_error *error);
bool io_npy_write(io_npy *npy, int64_t count, const void *rows, io_error *error);
bool io_npy_commit(io_npy *npy, io_error *error);
void io_npy_abort(io_npy *npy);

/* A matrix of floats as text, one row a line, 9 significant digits. */
bool io_write_text(const char *path, int64_t rows, int64_t columns, const float *data,
                   io_error *error);

/* A match to draw: [x, x+w) x [y, y+h), which may hang over the picture's edge. */
typedef struct io_box {
    int64_t x, y, w, h;
    int color; /* from 0; matches of one template have the same */
    bool weak; /* its box is dashed */
    char label[40];
} io_box;

/* Where a turned match's corners lie: top left, top right, bottom right and bottom left as in its
 * template; x, y, which are finite. The middle of a pixel is a whole number. */
typedef struct io_corners {
    double at[4][2];
} io_corners;

typedef struct io_drawing {
    const io_box *boxes; /* the first on top */
    size_t count;
    const io_corners *turned; /* one for each box, which is then drawn turned, with its top edge
                                 marked, and only has to hold it; or NULL */
    const char *const *names; /* by color; for a legend where there are several */
    size_t name_count;
    const char *summary; /* the legend's last line where most of many labels find no place; or NULL */
    bool keeps_size;     /* the picture does not grow, as a movie's frame cannot */
} io_drawing;

/* Draws matches on an RGB picture whose samples are malloc's: a two-tone box outside of
 * each, and the labels that find a place where they hide no match. Lines and letters
 * follow the sizes of the picture and of the matches. The legend lies where it hides none either;
 * else the picture grows, and has it below, or on its last rows where it keeps its size, if these are
 * no more than a third of it. False where memory ran out. */
bool io_draw_matches(io_picture *picture, const io_drawing *drawing, io_error *error);

/* A turned match of a picture of 8 or 16 bits as an upright picture of that size. False where memory
 * ran out. */
bool io_cut_upright(const io_picture *picture, const io_corners *corners, int64_t width,
                    int64_t height, io_picture *cut, io_error *error);

/* How the color of an io_box is drawn: 0xRRGGBB. */
uint32_t io_match_color(int64_t color);

/* A score map to look at. Positions are the frame's. */
typedef struct io_heatmap {
    int64_t x, y; /* where the first value belongs */
    int64_t width, height;
    /* int64_t values, else float. The type's worst value, or that with the sign changed, means that
     * a position has no score. */
    bool integers;
    const void *values; /* packed rows */
    bool least_is_best;
    const io_picture *under; /* the gray frame, 8 bits, to lay the scores over; or NULL */
    const io_box *marks;
    const io_corners *turned; /* over the frame: as io_drawing's, or NULL */
    size_t mark_count;
    const char *const *caption; /* paragraphs */
    size_t paragraphs;
} io_heatmap;

typedef struct io_heat {
    double worst, best; /* NAN: there is none */
    int64_t x, y;       /* where the best is: the uppermost, then the leftmost */
    bool gaps;          /* positions without a score */
} io_heat;

io_heat io_heatmap_range(const io_heatmap *heatmap);

/* How many positions each way a pixel stands for: 1 unless the picture is large. */
int64_t io_heatmap_reduction(const io_heatmap *heatmap);

/* In the colours of viridis, the best value yellow, with a scale and the caption. */
bool io_write_heatmap(const char *path, const io_heatmap *heatmap, io_error *error);

/* "PNG, JPEG, PNM or a text matrix": the formats that are read, and perhaps only by other
 * builds. Truncated to size. */
void io_format_names(char *to, size_t size);

/* A library and its version for --version, e.g. "libpng 1.6.39", by index from
 * 0; NULL after the last. */
const char *io_library(int index);

#endif
