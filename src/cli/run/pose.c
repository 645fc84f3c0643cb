/* SPDX-License-Identifier: MIT */
#include "run/pose.h"

#include <math.h>
#include <string.h>

bool pose_turns(const cli_options *o)
{
    return o->posed && (o->poses.angle_from != 0 || o->poses.angle_to != 0);
}

bool pose_resizes(const cli_options *o)
{
    return o->posed && (o->poses.scale_from != 1 || o->poses.scale_to != 1);
}

void pose_corners(cli_pose *pose, int64_t width, int64_t height)
{
    const double angle = pose->fine_angle * acos(-1) / 180;
    const double c = cos(angle) * pose->fine_scale, s = sin(angle) * pose->fine_scale;

    for (int i = 0; i < 4; i++) {
        const double right = (double)(i == 1 || i == 2 ? width : -width) / 2;
        const double down = (double)(i >= 2 ? height : -height) / 2;
        pose->corners[i][0] = pose->center[0] + right * c + down * s;
        pose->corners[i][1] = pose->center[1] + down * c - right * s;
    }
}

io_corners pose_place(const cli_pose *pose)
{
    io_corners corners;
    memcpy(corners.at, pose->corners, sizeof corners.at);
    return corners;
}

/* Never "-0.000". */
static void put_fixed(FILE *out, int decimals, double value)
{
    const double unit = pow(10, decimals);
    fprintf(out, "%.*f", decimals, round(value * unit) / unit + 0.0);
}

/* A fit is worth so many decimals; else the value is a decimal number of the grid, or a half. */
static void put_value(FILE *out, const cli_options *o, int decimals, double value)
{
    if (o->subpixel)
        put_fixed(out, decimals, value);
    else
        fprintf(out, "%.10g", value + 0.0);
}

static void put_center(FILE *out, const cli_options *o, const cli_pose *pose)
{
    put_value(out, o, 3, pose->center[0]);
    putc(',', out);
    put_value(out, o, 3, pose->center[1]);
}

/* Up to three decimals, as the corners' places have no end of them. */
static void put_corner(FILE *out, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.3f", round(value * 1000) / 1000 + 0.0);
    size_t length = strlen(text);
    while (text[length - 1] == '0')
        length--;
    length -= text[length - 1] == '.';
    fprintf(out, "%.*s", (int)length, text);
}

/* All corners, with this between the numbers. */
static void put_corners(FILE *out, const cli_pose *pose, char between)
{
    for (int i = 0; i < 8; i++) {
        if (i > 0)
            putc(between, out);
        put_corner(out, pose->corners[i / 2][i % 2]);
    }
}

/* Each value with the text that stands before it. */
static void put_angle_and_scale(FILE *out, const cli_options *o, const cli_pose *pose,
                                const char *angle, const char *scale)
{
    fputs(angle, out);
    put_value(out, o, 3, pose->fine_angle);
    fputs(scale, out);
    put_value(out, o, 5, pose->fine_scale);
}

static void put_place(FILE *out, const cli_options *o, const cli_pose *pose, const char *center,
                      const char *corners, char between)
{
    fputs(center, out);
    put_center(out, o, pose);
    fputs(corners, out);
    put_corners(out, pose, between);
}

void pose_text(FILE *out, const cli_options *o, const cli_pose *pose, bool brief)
{
    put_angle_and_scale(out, o, pose, " angle=", " scale=");
    if (!brief)
        put_place(out, o, pose, " center=", " corners=", ',');
}

void pose_json(FILE *out, const cli_options *o, const cli_pose *pose)
{
    put_angle_and_scale(out, o, pose, ",\"angle\":", ",\"scale\":");
    fputs(",\"center\":[", out);
    put_center(out, o, pose);
    fputs("],\"corners\":[", out);
    for (int i = 0; i < 4; i++) {
        fputs(i > 0 ? ",[" : "[", out);
        put_corner(out, pose->corners[i][0]);
        putc(',', out);
        put_corner(out, pose->corners[i][1]);
        putc(']', out);
    }
    putc(']', out);
}

void pose_csv(FILE *out, const cli_options *o, const cli_pose *pose)
{
    put_angle_and_scale(out, o, pose, ",", ",");
    put_place(out, o, pose, ",", ",", ' ');
}

void pose_suffix(char text[POSE_SUFFIX_SIZE], double angle, double scale)
{
    snprintf(text, POSE_SUFFIX_SIZE, ".%.10gdeg.%.9gx", angle + 0.0, scale);
}
