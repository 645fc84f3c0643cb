/* SPDX-License-Identifier: MIT */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>

#include <tmatch/tmatch.h>

#include "io/io.h"
#include "text.h"

static const char help[] =
    "Usage: tmatch [OPTION]... FRAME TEMPLATE\n"
    "       tmatch [OPTION]... -t TEMPLATE [-t TEMPLATE]... FRAME|FOLDER...\n"
    "Find where a small picture (the template) lies in a larger one (the frame).\n"
    "\n"
    "Pictures are PNG, JPEG, PNM, .npy or text matrices; '-' is standard input.\n"
    "A crop may follow a name: 'scene.png[21x21+220+90]' (width x height + x + y).\n"
    "\n"
    "A folder stands for the pictures in it, in the order of their names.\n"
    "\n"
    "What to match:\n"
    "  -t, --template PICTURE     a template, or a folder of them; may be given more\n"
    "                             than once: each is matched with every frame\n"
    "  -r, --recursive            look below folders as well\n"
    "      --files-from FILE      frames from a list, a line each; '-': standard input\n"
    "      --watch FOLDER         frames that arrive there while it runs; SIGINT ends it\n"
    "  -0, --null                 the list's names end with NUL, as find -print0 does\n"
    "  -n, --number N             report up to N matches, the best first (default 1);\n"
    "                             0: all\n"
    "      --min-score S          report only matches that score S or more, or with\n"
    "                             sqdiff and sqdiff_normed S or less\n"
    "      --overlap IOU          of matches whose boxes overlap by more than this part\n"
    "                             of their union, report only the best (default 0.3)\n"
    "      --subpixel             fit x and y between the positions\n"
    "      --roi X,Y,W,H          match only this part of each frame; the coordinates\n"
    "                             stay the whole frame's\n"
    "      --metric lcc|ccorr|ccorr_normed|ccoeff|sqdiff|sqdiff_normed\n"
    "                             local correlation coefficient (default), or OpenCV's\n"
    "                             other five; the best of sqdiff is the least\n"
    "      --color                use colours where frame and template have them; else\n"
    "                             and by default their luma\n"
    "      --depth auto|8|16|float\n"
    "                             bits of a sample (default: as the files have it, and\n"
    "                             frame and template must agree); float also takes\n"
    "                             whole numbers as they are\n"
    "      --mask PICTURE         the templates' mask: where it is 0, their pixels do not\n"
    "                             count (default: where they are transparent)\n"
    "      --frame-mask PICTURE   where it is 0, no match may touch the frames\n"
    "      --domain valid|same|full\n"
    "                             positions: template inside the frame (default), as\n"
    "                             many as the frame has pixels, or every overlap\n"
    "      --max-pixels N         refuse larger pictures (default 4294967296)\n"
    "      --max-memory SIZE      of frames and maps, such as 4G; larger ones are read,\n"
    "                             matched and written by rows\n"
    "      --max-gpu-memory SIZE  likewise on each GPU\n"
    "\n"
    "Where to compute (the result is the same everywhere, bit for bit; of\n"
    "floats, within a bound):\n"
    "      --device auto|cpu|cuda|cuda:N,M\n"
    "                             cuda: all CUDA devices, each rows of every frame\n"
    "      --threads N            CPU threads; 0, the default: all\n"
    "      --cpu-features LIST    instruction sets that may be used: none, all, or\n"
    "                             names such as avx2 with commas between\n"
    "      --algorithm auto|reference|direct|fft\n"
    "      --in-flight N          at most N frames in memory at a time\n"
    "      --list-devices         list the devices, and why one is missing\n"
    "      --bench                measure this machine; operands are sizes, such as\n"
    "                             1920x1080,64x48\n"
    "\n"
    "What to write:\n"
    "      --format text|json|csv\n"
    "                             of the results on standard output\n"
    "  -o, --output FILE          the frame with the matches drawn on it (.png, .jpg);\n"
    "                             for many frames a folder, in which their tree comes\n"
    "                             back\n"
    "      --crops FOLDER         the matches cut out, under the frame's name and the\n"
    "                             position\n"
    "      --report FILE.html     a page with all frames, to look through\n"
    "      --resume LOG           append results to a log, and pass over frames that\n"
    "                             are in it already, unless they have changed\n"
    "      --map FILE.npy         the score at every position\n"
    "      --heatmap FILE.png     the score at every position in colour, with a legend\n"
    "      --dump-template FILE   the template with mean 0 and norm 1 (.txt), or the\n"
    "                             same as a picture (.png)\n"
    "      --verify               compute every score again by the definition and\n"
    "                             compare; slow\n"
    "      --time                 print how long each step took\n"
    "  -v, --verbose              say what was read and how it was computed\n"
    "  -q, --quiet                print only results and errors\n"
    "  -h, --help                 print this\n"
    "      --version              print the version, libraries and backends\n"
    "\n"
    "Exit status: 0 found, 1 nothing reached --min-score, 2 an error.\n";

void info_help(void)
{
    fputs(help, stdout);
}

/* count is at least 1, the CPU; NULL if memory ran out. */
static tm_device_info *list_devices(size_t *count, char *why, size_t why_size)
{
    tm_device_info *devices = NULL;
    size_t capacity = 0;

    *count = 8;
    while (*count > capacity) {
        capacity = *count;
        free(devices);
        devices = calloc(capacity, sizeof *devices);
        if (!devices || tm_list_devices(devices, capacity, count, why, why_size) != TM_OK) {
            free(devices);
            return NULL;
        }
    }
    return devices;
}

static void print_device(const tm_device_info *device)
{
    if (device->kind == TM_DEVICE_CUDA)
        printf("cuda:%d: ", device->index);
    else
        fputs("cpu: ", stdout);
    text_line(stdout, device->name);
    printf(", %d %s", device->units,
           device->kind == TM_DEVICE_CUDA ? "multiprocessors"
           : device->units == 1           ? "thread"
                                          : "threads");
    if (device->memory_bytes > 0)
        printf(", %.1f GiB", (double)device->memory_bytes / (1 << 30));
    if (*device->detail) {
        fputs(", ", stdout);
        text_line(stdout, device->detail);
    }
    putchar('\n');
}

bool info_devices(void)
{
    char why[256] = "";
    size_t count;
    tm_device_info *devices = list_devices(&count, why, sizeof why);

    if (!devices)
        return false;
    for (size_t i = 0; i < count; i++)
        print_device(&devices[i]);
    if (*why) {
        fputs("cuda: none: ", stdout);
        text_line(stdout, why);
        putchar('\n');
    }
    free(devices);
    return true;
}

bool info_version(void)
{
    char why[256] = "";
    size_t count;
    tm_device_info *devices = list_devices(&count, why, sizeof why);

    if (!devices)
        return false;
    printf("tmatch %s\nlibraries:", tm_version());
    for (int i = 0; io_library(i); i++)
        printf("%s %s", i ? "," : "", io_library(i));
    fputs("\nbackends: cpu", stdout);
    if (count > 1) {
        fputs(", cuda", stdout);
    } else {
        fputs(" (no cuda: ", stdout);
        text_line(stdout, why);
        putchar(')');
    }
    putchar('\n');
    free(devices);
    return true;
}
