/* SPDX-License-Identifier: MIT */
/* Formats that tmatch does not read, known by a file's first bytes, and the commands that make
 * pictures of such files. */
#include "format.h"
#include "movie/movie.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Commands with %s for the file's name, which write pictures to their standard output. */
#define FIRST "ffmpeg -v error -i %s -frames:v 1 -f image2pipe -c:v png -"
#define MOVIE "ffmpeg -v error -i %s -pix_fmt yuv420p -f yuv4mpegpipe -"
#define FFMPEG "ffmpeg -v error -i %s -f image2pipe -c:v png -"
#define CONVERT "convert %s png:-"
#define PHOTOSHOP "convert %s[0] png:-" /* [0]: all layers together, not one by one */

typedef struct signature {
    size_t offset;
    const char *bytes;
    size_t size;
    const char *name;
    const char *command; /* or NULL */
} signature;

#define AT(offset, bytes) offset, bytes, sizeof bytes - 1

/* The first that fits a file says what it is. */
static const signature signatures[] = {
    {AT(0, "GIF8"), "a GIF", FFMPEG},
    {AT(4, "ftypavi"), "an AVIF picture", CONVERT},
    {AT(4, "ftyphe"), "a HEIC picture", CONVERT},
    {AT(4, "ftypmif1"), "a HEIF picture", CONVERT},
    {AT(4, "ftypmsf1"), "a HEIF picture", CONVERT},
    {AT(4, "ftypcrx "), "a camera's raw picture (CR3)", NULL},
    {AT(4, "ftypqt  "), "a movie (QuickTime)", MOVIE},
    {AT(4, "ftyp"), "a movie (MP4)", MOVIE},
    {AT(4, "moov"), "a movie (QuickTime)", MOVIE},
    {AT(4, "mdat"), "a movie (QuickTime)", MOVIE},
    {AT(4, "wide"), "a movie (QuickTime)", MOVIE},
    {AT(0, "\x1a\x45\xdf\xa3"), "a movie (Matroska or WebM)", MOVIE},
    {AT(8, "AVI LIST"), "a movie (AVI)", MOVIE},
    {AT(0, "\x00\x00\x01\xba"), "a movie (MPEG)", MOVIE},
    {AT(0, "\x00\x00\x01\xb3"), "a movie (MPEG)", MOVIE},
    {AT(188, "G"), "a movie (MPEG transport stream)", MOVIE}, /* and at 0: has_signature */
    {AT(0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"), "a movie (WMV)", MOVIE},
    {AT(0, "FLV\x01"), "a movie (FLV)", MOVIE},
    {AT(0, "OggS"), "a movie (Ogg)", MOVIE},
    {AT(0, "\xff\x0a"), "a JPEG XL picture", FFMPEG},
    {AT(0, "\0\0\0\x0cJXL \r\n\x87\n"), "a JPEG XL picture", FFMPEG},
    {AT(0, "\0\0\0\x0cjP  \r\n\x87\n"), "a JPEG 2000 picture", CONVERT},
    {AT(0, "\xff\x4f\xff\x51"), "a JPEG 2000 picture", CONVERT},
    {AT(0, "%PDF-"), "a PDF document", "pdftoppm %s"},
    {AT(0, "%!PS"), "a PostScript document", "gs -q -dSAFER -sDEVICE=png16m -r150 -o - %s"},
    {AT(0, "8BPS"), "a Photoshop document", PHOTOSHOP},
    {AT(0, "\x76\x2f\x31\x01"), "an OpenEXR picture", FFMPEG},
    {AT(128, "DICM"), "a DICOM file", CONVERT},
    {AT(0, "SIMPLE  ="), "a FITS file", CONVERT},
    {AT(0, "#?RADIANCE"), "a Radiance picture", CONVERT},
    {AT(0, "\0\0\1\0"), "an icon (ICO)", CONVERT},
    {AT(0, "gimp xcf"), "a GIMP picture", CONVERT},
    {AT(0, "qoif"), "a QOI picture", FFMPEG},
    {AT(0, "SDPX"), "a DPX picture", CONVERT},
    {AT(0, "XPDS"), "a DPX picture", CONVERT},
    {AT(0, "P7\n"), "a PAM picture", CONVERT},
    {AT(0, "PF\n"), "a PFM picture", CONVERT},
    {AT(0, "Pf\n"), "a PFM picture", CONVERT},
    {AT(0, "\x1f\x8b"), "compressed with gzip", "zcat %s"},
    {AT(0, "\x28\xb5\x2f\xfd"), "compressed with zstd", "zstdcat %s"},
    {AT(0, "\xfd" "7zXZ"), "compressed with xz", "xzcat %s"},
    {AT(0, "BZh"), "compressed with bzip2", "bzcat %s"},
    {AT(0, "PK\3\4"), "a ZIP archive", NULL},
    {AT(0, "\x89HDF\r\n"), "an HDF5 file", NULL},
};

static bool has_signature(const signature *s, const io_source *source)
{
    return source->size >= s->offset + s->size &&
           memcmp(source->data + s->offset, s->bytes, s->size) == 0 &&
           (s->offset != 188 || source->data[0] == 'G');
}

/* Whether the word is near the beginning of a text, in any case. */
static bool has_word(const io_source *source, const char *word)
{
    const size_t size = source->size < 1024 ? source->size : 1024, length = strlen(word);
    for (size_t i = 0; i + length <= size; i++)
        if (strncasecmp((const char *)source->data + i, word, length) == 0)
            return true;
    return false;
}

static bool is_movie(const signature *s)
{
    return s->command && (strcmp(s->command, MOVIE) == 0 || (s->bytes && strcmp(s->bytes, "GIF8") == 0));
}

static const signature *find_signature(const io_source *source)
{
    static const signature svg = {.name = "an SVG drawing", .command = "rsvg-convert %s"};
    static const signature html = {.name = "a web page, not a picture"};
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (has_signature(&signatures[i], source))
            return &signatures[i];
    size_t at = source->size >= 3 && memcmp(source->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < source->size && isspace(source->data[at]))
        at++;
    if (at == source->size || source->data[at] != '<')
        return NULL;
    return has_word(source, "<html") || has_word(source, "<!doctype html") ? &html
           : has_word(source, "<svg")                                      ? &svg
                                                                           : NULL;
}

io_foreign io_foreign_kind(const uint8_t *data, size_t size)
{
    const signature *found = find_signature(&(io_source){.data = data, .size = size});
    return !found ? IO_FOREIGN_UNKNOWN : is_movie(found) ? IO_FOREIGN_MOVIE : IO_FOREIGN_OTHER;
}

/* Writes the path and the suffix behind it as a shell reads them back; FILE stands for a path that
 * is too long, or for standard input. */
static void quote(char *to, size_t size, const char *path, const char *suffix)
{
    static const char plain[] = "/._-+,@%:=";
    const char *before = path[0] == '-' ? "./" : "";
    bool safe = !*suffix;
    size_t quotes = 0;

    for (const char *s = path; *s; s++) {
        safe &= isalnum((unsigned char)*s) || strchr(plain, *s);
        quotes += *s == '\'';
    }
    if (strcmp(path, "-") == 0 || strlen(path) + strlen(suffix) + 3 * quotes + 5 > size) {
        snprintf(to, size, "FILE%s", suffix);
        return;
    }
    if (safe) {
        snprintf(to, size, "%s%s", before, path);
        return;
    }
    size_t used = (size_t)snprintf(to, size, "'%s", before);
    for (const char *s = path; *s; s++) {
        const char one[] = {*s, '\0'};
        used += (size_t)snprintf(to + used, size - used, "%s", *s == '\'' ? "'\\''" : one);
    }
    snprintf(to + used, size - used, "%s'", suffix);
}

bool io_explain_foreign(const io_source *source, const char *path, const char *reader,
                        io_error *error)
{
    if (source->size == 0 || source->frame || io_find_format(source->data, source->size))
        return false;
    const signature *found = find_signature(source);
    if (!found)
        return false;
    const char *command = found->command;
    if (!command) {
        io_fail(error, "%s", found->name);
        return true;
    }
    if (strncmp(command, "ffmpeg", 6) == 0 && reader[0] != '-')
        command = FIRST;
    const char *unread = is_movie(found) ? io_movies_unread() : "";
    char name[96], suffix[8] = "";
    const char *hole = strstr(command, "%s"), *rest = hole + 2; /* for the name */
    if (*rest == '[') {
        snprintf(suffix, sizeof suffix, "%.3s", rest);
        rest += 3;
    }
    quote(name, sizeof name, path, suffix);
    io_fail(error, "%s%s; try: %.*s%s%s | tmatch %s", found->name, unread, (int)(hole - command), command, name, rest,
            reader);
    return true;
}

const char *io_foreign_ending(const char *name)
{
    static const char *const endings[] = {
        ".3gp",  ".apng", ".avi",  ".avif", ".bmp",  ".cr2", ".cr3", ".dcm", ".dng",  ".dpx", ".exr",
        ".fits", ".flv",  ".gif",  ".hdr",  ".heic", ".heif", ".ico", ".j2k", ".jp2",  ".jxl", ".m4v",
        ".mkv",  ".mov",  ".mp4",  ".mpeg", ".mpg",  ".nef", ".npy", ".ogv", ".orf",  ".pam", ".pdf",
        ".pfm",  ".psd",  ".qoi",  ".raf",  ".rw2",  ".svg", ".tga", ".tif", ".tiff", ".webm",
        ".webp", ".wmv",  ".xcf",  ".arw"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return endings[i];
    return NULL;
}
