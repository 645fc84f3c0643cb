/* SPDX-License-Identifier: MIT */
#include "run/intervals_print.h"

#include <inttypes.h>
#include <unistd.h>

#include "message.h"
#include "run/pose.h"
#include "text.h"

void intervals_print_head(const cli_options *o, FILE *out)
{
    if (o->format == CLI_CSV)
        fprintf(out, "file,template,start,end,first,last,frames,x,y,w,h,score%s,index,time\n",
                o->posed ? POSE_CSV_HEAD : "");
}

static void text_appearance(const cli_options *o, FILE *out, const cli_appearance *a)
{
    char start[TEXT_CLOCK_SIZE], end[TEXT_CLOCK_SIZE];

    if (a->movie->timed) {
        text_clock(start, a->first.time);
        text_clock(end, a->end);
        fprintf(out, "%s-%s ", start, end);
    }
    fputs("x=", out);
    report_place(o, out, &a->best.match, " y=");
    fprintf(out, " w=%" PRId64 " h=%" PRId64 " best=%s", a->best.match.w, a->best.match.h,
            style_on(STDOUT_FILENO, STYLE_SCORE));
    report_score(out, a->integers, a->best.match.score);
    fputs(style_off(STDOUT_FILENO, STYLE_SCORE), out);
    if (a->posed)
        pose_text(out, o, &a->best.match.pose, false);
    if (a->movie->timed)
        fprintf(out, " frames=%" PRId64 "-%" PRId64, a->first.index, a->last.index);
}

static void text_none(const cli_options *o, FILE *out, const cli_appearance *a)
{
    fprintf(out, "%snone: best ", style_on(STDOUT_FILENO, STYLE_DIM));
    report_score(out, a->integers, a->best.match.score);
    fprintf(out, " at %" PRId64 ",%" PRId64, a->best.match.x, a->best.match.y);
    if (a->posed)
        pose_text(out, o, &a->best.match.pose, true);
    fputs(style_off(STDOUT_FILENO, STYLE_DIM), out);
    if (a->movie->timed)
        fprintf(out, " time=%.3f", a->best.time);
}

static void text(const cli_options *o, FILE *out, bool several_templates, const cli_appearance *a)
{
    text_line(out, a->movie->name);
    fputs(": ", out);
    if (a->frames > 0)
        text_appearance(o, out, a);
    else
        text_none(o, out, a);
    if (several_templates) {
        fputs(" template=", out);
        text_line(out, a->tmpl);
    }
    putc('\n', out);
}

static void csv(const cli_options *o, FILE *out, const cli_appearance *a)
{
    text_csv(out, a->movie->name);
    putc(',', out);
    text_csv(out, a->tmpl);
    if (a->frames == 0) {
        fprintf(out, ",,,,,0,,,,,%s,,\n", o->posed ? ",,,,," : "");
        return;
    }
    if (a->movie->timed)
        fprintf(out, ",%.9g,%.9g,%" PRId64 ",%" PRId64 ",", a->first.time, a->end, a->first.index, a->last.index);
    else
        fputs(",,,,,", out);
    fprintf(out, "%" PRId64 ",", a->frames);
    report_place(o, out, &a->best.match, ",");
    fprintf(out, ",%" PRId64 ",%" PRId64 ",", a->best.match.w, a->best.match.h);
    report_score(out, a->integers, a->best.match.score);
    if (o->posed)
        pose_csv(out, o, &a->best.match.pose);
    if (a->movie->timed)
        fprintf(out, ",%" PRId64 ",%.9g\n", a->best.index, a->best.time);
    else
        fputs(",,\n", out);
}

static void json_sighting(const cli_options *o, FILE *out, const char *name, const cli_appearance *a,
                          const cli_sighting *s)
{
    fprintf(out, ",\"%s\":{", name);
    if (a->movie->timed)
        fprintf(out, "\"index\":%" PRId64 ",\"time\":%.9g,", s->index, s->time);
    fputs("\"x\":", out);
    report_place(o, out, &s->match, ",\"y\":");
    if (a->frames > 0 || a->posed)
        fprintf(out, ",\"w\":%" PRId64 ",\"h\":%" PRId64, s->match.w, s->match.h);
    fputs(",\"score\":", out);
    report_score(out, a->integers, s->match.score);
    if (a->posed)
        pose_json(out, o, &s->match.pose);
    putc('}', out);
}

void intervals_print_json(const cli_options *o, FILE *out, const cli_appearance *a)
{
    fputs("{\"file\":", out);
    text_json(out, a->movie->name);
    fputs(",\"template\":", out);
    text_json(out, a->tmpl);
    fprintf(out, ",\"metric\":\"%s\",\"frames\":%" PRId64, tm_metric_name(o->settings.metric), a->frames);
    if (a->frames > 0 && a->movie->timed) {
        fprintf(out, ",\"start\":%.9g,\"end\":%.9g", a->first.time, a->end);
        json_sighting(o, out, "first", a, &a->first);
        json_sighting(o, out, "last", a, &a->last);
    }
    json_sighting(o, out, "best", a, &a->best);
    putc('}', out);
}

void intervals_print(const cli_options *o, FILE *out, bool several_templates, const cli_appearance *a)
{
    switch (o->format) {
    case CLI_TEXT: text(o, out, several_templates, a); break;
    case CLI_CSV: csv(o, out, a); break;
    case CLI_JSON:
        intervals_print_json(o, out, a);
        putc('\n', out);
        break;
    }
}
