/* SPDX-License-Identifier: MIT */
/* How a file's picture is stored and which side of it is up, as EXIF numbers it: 1
 * upright, 2 mirrored, 3 turned by 180 degrees, 4 upside down, 5 to 8 with rows and
 * columns exchanged: 6 has to be turned to the right to be upright, 8 to the left, and 5
 * and 7 are mirrored too. */
#ifndef TMATCH_IO_ORIENTATION_H
#define TMATCH_IO_ORIENTATION_H

#include "format.h"

/* What an EXIF block says, a TIFF header and what it leads to, with or without the
 * "Exif\0\0" before it: 1 to 8, or 0 where it says nothing or is damaged. */
int io_exif_orientation(const uint8_t *data, size_t size);

/* What the file says, 2 to 8 where it is not stored upright; else 0. */
int io_file_orientation(const io_format *format, const io_source *source);

/* Whether the upright picture has the stored one's width as its height. */
static inline bool io_orientation_turns(int orientation)
{
    return orientation >= 5;
}

/* Makes a picture upright, with its mask, of 1 or 3 channels of 8, 16 or 32 bits. 2 to 4
 * are done in place. From 5 on the samples move into other memory: into memory, if that
 * is not NULL and has room, else malloc's; without any it fails and leaves the picture
 * as it was. Orientations of 0 and 1 change nothing. */
bool io_orient_picture(io_picture *picture, int orientation, io_memory *memory, io_error *error);

#endif
