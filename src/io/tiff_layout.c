/* SPDX-License-Identifier: MIT */
#include "tiff.h"

#include <inttypes.h>
#include <string.h>

enum { TAG_SUB_IFD = 330, TAG_DNG_VERSION = 50706, PHOTOMETRIC_RAW_RGB = 34892 };

static int tag(TIFF *tiff, uint32_t name)
{
    uint16_t value = 0;
    TIFFGetFieldDefaulted(tiff, name, &value);
    return value;
}

static const char *name_of_photometric(int photometric)
{
    switch (photometric) {
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
        return "CIELAB";
    case PHOTOMETRIC_LOGLUV:
        return "LogLuv";
    case PHOTOMETRIC_MASK:
        return "transparency mask";
    default:
        return NULL;
    }
}

/* Whether it is a camera's raw file, a TIFF whose pages are previews. */
static bool is_raw(TIFF *tiff, int photometric)
{
    uint32_t type = 0;
    uint16_t count;
    void *data;
    TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &type);
    return photometric == PHOTOMETRIC_CFA || photometric == PHOTOMETRIC_RAW_RGB ||
           TIFFGetField(tiff, TAG_DNG_VERSION, &data) ||
           ((type & FILETYPE_REDUCEDIMAGE) && TIFFGetField(tiff, TAG_SUB_IFD, &count, &data));
}

static int photometric_of(TIFF *tiff, int compression, int samples)
{
    uint16_t photometric;
    if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric))
        return photometric;
    const bool fax = compression >= COMPRESSION_CCITTRLE && compression <= COMPRESSION_CCITTFAX4;
    return samples >= 3 ? PHOTOMETRIC_RGB : fax ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
}

static bool has_codec(int compression, io_error *error)
{
    if (TIFFIsCODECConfigured((uint16_t)compression))
        return true;
    const TIFFCodec *codec = TIFFFindCODEC((uint16_t)compression);
    return io_fail(error, "a TIFF of compression %d%s%s%s, which this build's libtiff cannot read",
                   compression, codec ? " (" : "", codec ? codec->name : "", codec ? ")" : "");
}

/* Finds which samples are colours, and of which colour model. */
static bool find_colors(TIFF *tiff, int photometric, int compression, tiff_layout *l,
                        io_error *error)
{
    const char *name = name_of_photometric(photometric);
    l->colors = 1;
    l->model = MODEL_GRAY;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
        l->white_is_zero = true;
        break;
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_LOGL:
        break;
    case PHOTOMETRIC_PALETTE:
        l->model = MODEL_PALETTE;
        break;
    case PHOTOMETRIC_RGB:
        l->model = MODEL_RGB;
        l->colors = 3;
        break;
    case PHOTOMETRIC_SEPARATED:
        if (tag(tiff, TIFFTAG_INKSET) != INKSET_CMYK || l->samples < 4)
            return io_fail(error, "a TIFF of inks other than CMYK, which tmatch does not read");
        l->model = MODEL_CMYK;
        l->colors = 4;
        break;
    case PHOTOMETRIC_YCBCR:
        if (l->planar || l->bits != 8 || l->samples != 3)
            return io_fail(error, "a TIFF of YCbCr colours in planes, or not of 8 bits, which "
                                  "tmatch does not read");
        l->model = compression == COMPRESSION_JPEG ? MODEL_RGB : MODEL_YCBCR;
        l->colors = 3;
        break;
    default:
        return name ? io_fail(error,
                              "a TIFF of %s colours, which tmatch does not read; "
                              "'convert IN.tif -colorspace sRGB OUT.png' makes them RGB",
                              name)
                    : io_fail(error, "a TIFF of an unknown kind of colours (%d)", photometric);
    }
    return l->samples >= l->colors ||
           io_fail(error, "damaged TIFF: %d samples a pixel are too few", l->samples);
}

static bool find_alpha(TIFF *tiff, tiff_layout *l, io_error *error)
{
    uint16_t count = 0, *types = NULL;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
    l->alpha = -1;
    if (l->samples == l->colors)
        return true;
    for (int i = 0; i < count && l->alpha < 0 && l->colors + i < l->samples; i++) {
        if (types[i] == EXTRASAMPLE_UNSPECIFIED)
            continue;
        l->alpha = l->colors + i;
        l->associated = types[i] == EXTRASAMPLE_ASSOCALPHA && l->model != MODEL_CMYK;
    }
    /* Taking the first band of many silently would be wrong. */
    if (l->colors == 1 && l->samples > 1 + (l->alpha >= 0))
        return io_fail(error,
                       "a TIFF of %d bands that are not colours; "
                       "'gdal_translate -b 1 IN.tif OUT.tif' takes the first",
                       l->samples);
    return true;
}

static bool check_format(tiff_layout *l, io_error *error)
{
    const bool floats =
        l->format == SAMPLEFORMAT_IEEEFP && (l->bits == 16 || l->bits == 32 || l->bits == 64);
    const bool integers =
        l->format == SAMPLEFORMAT_INT && (l->bits == 8 || l->bits == 16 || l->bits == 32);
    const bool numbers = (l->format == SAMPLEFORMAT_UINT || l->format == SAMPLEFORMAT_VOID) &&
                         ((l->bits >= 1 && l->bits <= 16) || l->bits == 32);
    if (!floats && !integers && !numbers)
        return io_fail(error, "a TIFF of %d-bit %s, which tmatch does not read", l->bits,
                       l->format == SAMPLEFORMAT_IEEEFP ? "floats"
                       : l->format == SAMPLEFORMAT_INT || l->format == SAMPLEFORMAT_UINT ||
                               l->format == SAMPLEFORMAT_VOID
                           ? "integers"
                           : "complex numbers");
    l->depth = floats || integers || l->bits == 32 ? 32 : l->bits > 8 ? 16 : 8;
    if (l->depth == 32 && (l->model == MODEL_PALETTE || l->model == MODEL_CMYK || l->white_is_zero))
        return io_fail(error, "a TIFF of floats, or signed numbers, that are not gray from black "
                              "to white, nor RGB");
    return true;
}

/* Entries have 16 bits. Most programs write 8-bit colours times 257 or 256, old ones times 1. */
static bool find_palette(TIFF *tiff, tiff_layout *l, io_error *error)
{
    uint16_t **p = l->palette;
    bool narrow = true, times_256 = true, times_257 = true;
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &p[0], &p[1], &p[2]))
        return io_fail(error, "damaged TIFF: its palette is missing");
    for (int i = 0; i < 3 << l->bits; i++) {
        const unsigned entry = p[i >> l->bits][i & ((1 << l->bits) - 1)];
        narrow = narrow && entry < 256;
        times_256 = times_256 && entry % 256 == 0;
        times_257 = times_257 && entry % 257 == 0;
    }
    l->depth = narrow || times_256 || times_257 ? 8 : 16;
    l->palette_shift = !narrow && l->depth == 8 ? 8 : 0;
    return true;
}

static bool find_tiles(TIFF *tiff, tiff_layout *l, size_t file_size, io_error *error)
{
    uint32_t width = (uint32_t)l->width, height = 0;
    l->tiled = TIFFIsTiled(tiff);
    if (l->tiled && (!TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width) ||
                     !TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height)))
        return io_fail(error, "damaged TIFF: its tiles have no size");
    if (!l->tiled)
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &height);
    if (width == 0 || height == 0)
        return io_fail(error, "damaged TIFF: %s of 0 pixels", l->tiled ? "tiles" : "strips");
    l->tile_width = width;
    l->tile_height = !l->tiled && height > l->height ? l->height : height;
    l->across = (l->width + width - 1) / width;
    /* Small pictures have one tile of the usual size. */
    const int64_t down = (l->height + l->tile_height - 1) / l->tile_height;
    const int64_t most = 2 * l->width * l->height + (1 << 24);
    if (l->tile_height > most / l->tile_width / l->across)
        return io_fail(error,
                       "damaged TIFF: tiles of %" PRIu32 "x%" PRIu32
                       " pixels are larger than the picture",
                       width, height);
    /* The file lists where each tile is, in 2 bytes or more. */
    if ((uint64_t)l->across * (uint64_t)down > file_size / 2)
        return io_fail(error, "damaged TIFF: the file is truncated");
    return true;
}

bool io_tiff_layout(TIFF *tiff, const io_limits *limits, tiff_layout *l, io_error *error)
{
    uint32_t width = 0, height = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    if (!io_check_size(width, height, limits, error))
        return false;
    const int compression = tag(tiff, TIFFTAG_COMPRESSION);
    if (!has_codec(compression, error))
        return false;
    *l = (tiff_layout){.width = width, .height = height};
    l->samples = tag(tiff, TIFFTAG_SAMPLESPERPIXEL);
    const int photometric = photometric_of(tiff, compression, l->samples);
    if (is_raw(tiff, photometric))
        return io_fail(error, "a camera's raw picture, which has to be developed first: "
                              "'darktable-cli IN OUT.tif' does it");
    if (photometric == PHOTOMETRIC_LOGL)
        TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT);
    if (photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG)
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    l->bits = tag(tiff, TIFFTAG_BITSPERSAMPLE);
    l->format = tag(tiff, TIFFTAG_SAMPLEFORMAT);
    l->planar = l->samples > 1 && tag(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    if (l->samples < 1 || l->samples > TIFF_MOST_SAMPLES)
        return io_fail(error, "a TIFF of %d samples a pixel, which tmatch does not read",
                       l->samples);
    if (!find_colors(tiff, photometric, compression, l, error) || !find_alpha(tiff, l, error) ||
        !check_format(l, error) || (l->model == MODEL_PALETTE && !find_palette(tiff, l, error)))
        return false;
    uint16_t blocks[2] = {1, 1};
    if (l->model == MODEL_YCBCR)
        TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRSUBSAMPLING, &blocks[0], &blocks[1]);
    for (int i = 0; i < 2; i++)
        if ((l->blocks[i] = blocks[i]) != 1 && blocks[i] != 2 && blocks[i] != 4)
            return io_fail(error, "damaged TIFF: %d pixels share a colour", blocks[i]);
    const TIFFSizeProc size = TIFFGetSizeProc(tiff);
    return find_tiles(tiff, l, size(TIFFClientdata(tiff)), error);
}
