/* SPDX-License-Identifier: MIT */
#include "run/page/page_head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "text.h"
#include "run/pose.h"
#include "run/weak.h"

void page_put_base64(FILE *out, const char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = (const unsigned char *)data;
    for (size_t i = 0; i < size; i += 3) {
        const unsigned n = (unsigned)bytes[i] << 16 | (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0) |
                           (i + 2 < size ? bytes[i + 2] : 0);
        putc(digits[n >> 18], out);
        putc(digits[n >> 12 & 63], out);
        putc(i + 1 < size ? digits[n >> 6 & 63] : '=', out);
        putc(i + 2 < size ? digits[n & 63] : '=', out);
    }
}

void page_put_json(FILE *out, const char *json, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (json[i] == '<')
            fputs("\\u003c", out);
        else
            putc(json[i], out);
    }
}

static bool put_picture(FILE *out, const io_picture *picture)
{
    char *png = NULL;
    size_t size;
    io_error error;
    FILE *memory = open_memstream(&png, &size);
    bool good = memory && io_encode(picture, "template.png", memory, &error);

    good = memory && fclose(memory) == 0 && good;
    if (good) {
        fputs(",\"data\":\"data:image/png;base64,", out);
        page_put_base64(out, png, size);
        putc('"', out);
    }
    free(png);
    return good;
}

static bool put_template(FILE *out, const cli_options *o, const cli_template *tmpl, size_t index)
{
    fputs("{\"name\":", out);
    text_json(out, tmpl->operand.given);
    fprintf(out, ",\"size\":[%" PRId64 ",%" PRId64 "],\"color\":\"#%06" PRIx32 "\"", tmpl->width,
            tmpl->height, io_match_color((int64_t)index));
    if (tmpl->usable && weak_sets_thresholds(o))
        fprintf(out, ",\"least\":%.6g", weak_least_score(weak_most_pixels(o, tmpl->pixels)));
    if (!tmpl->usable) {
        fputs(",\"error\":", out);
        text_json(out, tmpl->error.reason);
    }
    const bool good = !tmpl->shown.samples || put_picture(out, &tmpl->shown);
    putc('}', out);
    return good;
}

static bool put_command(FILE *out, char *const *argv)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (memory) {
        fputs("tmatch", memory);
        for (size_t i = 1; argv[0] && argv[i]; i++) {
            putc(' ', memory);
            text_shell(memory, argv[i]);
        }
    }
    const bool good = memory && fclose(memory) == 0;
    if (good)
        text_json(out, text);
    free(text);
    return good;
}

static bool put_run(FILE *out, const cli_options *o)
{
    const time_t now = time(NULL);
    struct tm local;
    char date[64] = "", zone[16] = "", score[TEXT_SCORE_SIZE] = "null";

    if (localtime_r(&now, &local)) {
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
        strftime(zone, sizeof zone, "%z", &local);
    }
    fprintf(out, "{\"version\":\"%s\",\"date\":\"%s %s\",\"metric\":\"%s\",\"distance\":%s,\"min_score\":",
            tm_version(), date, zone, tm_metric_name(o->settings.metric),
            tm_metric_is_distance(o->settings.metric) ? "true" : "false");
    if (o->has_min_score)
        text_score(score, false, o->min_score);
    fputs(score, out);
    if (o->posed)
        fprintf(out, ",\"turned\":%s,\"resized\":%s", pose_turns(o) ? "true" : "false",
                pose_resizes(o) ? "true" : "false");
    fprintf(out, ",\"number\":%" PRId64 ",\"stored_orientation\":%s,\"command\":", o->most_matches,
            o->ignore_orientation ? "true" : "false");
    const bool good = put_command(out, o->argv);
    putc('}', out);
    return good;
}

bool page_put_head(FILE *out, const cli_plan *plan)
{
    const cli_templates *templates = plan->templates;
    char *json = NULL;
    size_t size;
    FILE *memory = open_memstream(&json, &size);
    bool good = memory && put_run(memory, plan->options);

    for (size_t i = 0; i < templates->count && good; i++) {
        fputs(",\n", memory);
        good = put_template(memory, plan->options, &templates->list[i], i);
    }
    good = memory && fclose(memory) == 0 && good;
    if (good) {
        fputs("<script type=\"application/json\" id=\"run\">\n[", out);
        page_put_json(out, json, size);
        fputs("]\n</script>\n", out);
    }
    free(json);
    return good;
}
