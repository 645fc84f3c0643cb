/* SPDX-License-Identifier: MIT */
#include "run/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "text.h"
#include "run/intervals.h"
#include "run/pose.h"

/* Lines go out as they are made: a reader at the other end of a pipe sees each
 * frame when it is done. */
static bool finish_line(cli_report *report)
{
    errno = 0;
    if (fflush(report->out) != 0 || ferror(report->out))
        report->error = report->error ? report->error : errno ? errno : EIO;
    return report->error == 0;
}

static void text_time(const cli_report *report, const cli_result *r)
{
    if (r->timed)
        fprintf(report->out, " time=%.3f", r->time);
}

static void text_end(const cli_report *report, const cli_result *r)
{
    if (report->several_templates) {
        fputs(" template=", report->out);
        text_line(report->out, r->tmpl);
    }
    putc('\n', report->out);
}

void report_score(FILE *out, bool integers, double score)
{
    char text[TEXT_SCORE_SIZE];
    text_score(text, integers, score);
    fputs(text, out);
}

/* Three decimals are more than the fit is worth. */
void report_place(const cli_options *options, FILE *out, const cli_match *m, const char *between)
{
    if (options->subpixel)
        fprintf(out, "%.3f%s%.3f", (double)m->x + m->dx, between, (double)m->y + m->dy);
    else
        fprintf(out, "%" PRId64 "%s%" PRId64, m->x, between, m->y);
}

static void text_result(const cli_report *report, const cli_result *r)
{
    FILE *out = report->out;
    for (size_t i = 0; i < r->match_count; i++) {
        text_line(out, r->frame);
        fputs(": x=", out);
        report_place(report->options, out, &r->matches[i], " y=");
        fprintf(out, " w=%" PRId64 " h=%" PRId64 " score=", r->matches[i].w, r->matches[i].h);
        const cli_style style = r->matches[i].weak ? STYLE_NOTE : STYLE_SCORE;
        fputs(style_on(STDOUT_FILENO, style), out);
        report_score(out, r->integers, r->matches[i].score);
        fputs(style_off(STDOUT_FILENO, style), out);
        if (r->poses)
            pose_text(out, report->options, &r->matches[i].pose, false);
        text_time(report, r);
        text_end(report, r);
    }
    if (r->none) {
        text_line(out, r->frame);
        fprintf(out, ": %snone", style_on(STDOUT_FILENO, STYLE_DIM));
        if (r->has_best) {
            fputs(": best ", out);
            report_score(out, r->integers, r->best.score);
            fprintf(out, " at %" PRId64 ",%" PRId64, r->best.x, r->best.y);
            if (r->poses)
                pose_text(out, report->options, &r->best.pose, true);
        }
        fputs(style_off(STDOUT_FILENO, STYLE_DIM), out);
        text_time(report, r);
        text_end(report, r);
    }
    if (r->verified) {
        text_line(out, r->frame);
        fprintf(out, ": verify: positions=%" PRId64 " differing=%" PRId64
                     " max_abs_error=%.9g relative_l1_error=%.9g",
                r->verification.positions, r->verification.differing,
                r->verification.max_abs_error, r->verification.relative_l1_error);
        text_end(report, r);
    }
}

static void csv_names(FILE *out, const cli_result *r)
{
    text_csv(out, r->frame);
    putc(',', out);
    text_csv(out, r->tmpl);
    putc(',', out);
}

static void csv_end(const cli_report *report, const cli_result *r)
{
    if (report->timed)
        putc(',', report->out);
    if (report->timed && r->timed)
        fprintf(report->out, "%.9g", r->time);
    putc('\n', report->out);
}

static void csv_result(const cli_report *report, const cli_result *r)
{
    FILE *out = report->out;
    if (r->none) {
        csv_names(out, r);
        fputs(report->options->posed ? ",,,,,,,,," : ",,,,", out);
        csv_end(report, r);
    }
    for (size_t i = 0; i < r->match_count; i++) {
        csv_names(out, r);
        report_place(report->options, out, &r->matches[i], ",");
        fprintf(out, ",%" PRId64 ",%" PRId64 ",", r->matches[i].w, r->matches[i].h);
        report_score(out, r->integers, r->matches[i].score);
        if (report->options->posed)
            pose_csv(out, report->options, &r->matches[i].pose);
        csv_end(report, r);
    }
}

static void json_names(FILE *out, const cli_result *r)
{
    fputs("{\"frame\":", out);
    text_json(out, r->frame);
    if (r->index > 0)
        fprintf(out, ",\"index\":%" PRId64, r->index);
    if (r->timed)
        fprintf(out, ",\"time\":%.9g", r->time);
    fputs(",\"template\":", out);
    text_json(out, r->tmpl);
}

static void json_times(const cli_report *report, const cli_result *r)
{
    const tm_times *t = &r->times;
    fprintf(report->out, ",\"time_ms\":{\"read\":%.3f", r->read_ms);
    if (report->options->time)
        fprintf(report->out, ",\"to_device\":%.3f,\"kernel\":%.3f,\"from_device\":%.3f",
                t->to_device, t->kernel, t->from_device);
    fprintf(report->out, ",\"match\":%.3f", t->total);
    if (report->options->time)
        fprintf(report->out, ",\"total\":%.3f", r->read_ms + t->total);
    putc('}', report->out);
}

/* JSON has no NaN and no infinity, which a failed verification may have. */
static void json_error(FILE *out, const char *name, double error)
{
    if (isfinite(error))
        fprintf(out, ",\"%s\":%.9g", name, error);
    else
        fprintf(out, ",\"%s\":null", name);
}

static void json_matches(const cli_options *options, FILE *out, const cli_result *r)
{
    fputs(",\"matches\":[", out);
    for (size_t i = 0; i < r->match_count; i++) {
        const cli_match *m = &r->matches[i];
        fputs(i > 0 ? ",{\"x\":" : "{\"x\":", out);
        report_place(options, out, m, ",\"y\":");
        fprintf(out, ",\"w\":%" PRId64 ",\"h\":%" PRId64 ",\"score\":", m->w, m->h);
        report_score(out, r->integers, m->score);
        fputs(",\"margin\":", out);
        if (isnan(m->margin))
            fputs("null", out);
        else
            report_score(out, r->integers, m->margin);
        if (!isnan(m->margin_below)) {
            fputs(",\"margin_below\":", out);
            report_score(out, false, m->margin_below);
        }
        if (r->poses)
            pose_json(out, options, &m->pose);
        if (m->weak && !result_is_weak(r)) /* else the whole result is marked weak */
            fputs(",\"weak\":true", out);
        putc('}', out);
    }
    putc(']', out);
}

static void json_best(const cli_options *options, FILE *out, const cli_result *r)
{
    fprintf(out, ",\"best\":{\"x\":%" PRId64 ",\"y\":%" PRId64, r->best.x, r->best.y);
    if (r->poses)
        fprintf(out, ",\"w\":%" PRId64 ",\"h\":%" PRId64, r->best.w, r->best.h);
    fputs(",\"score\":", out);
    report_score(out, r->integers, r->best.score);
    if (r->poses)
        pose_json(out, options, &r->best.pose);
    putc('}', out);
}

static void json_verification(FILE *out, const verification *v)
{
    fprintf(out, ",\"verify\":{\"positions\":%" PRId64 ",\"differing\":%" PRId64, v->positions,
            v->differing);
    json_error(out, "max_abs_error", v->max_abs_error);
    json_error(out, "relative_l1_error", v->relative_l1_error);
    putc('}', out);
}

static void json_failure(FILE *out, const cli_result *r, const char *reason)
{
    json_names(out, r);
    fputs(",\"error\":", out);
    text_json(out, reason);
}

void report_found(const cli_options *options, FILE *out, const cli_result *r)
{
    fprintf(out, ",\"metric\":\"%s\"", tm_metric_name(options->settings.metric));
    if (r->poses)
        fprintf(out, ",\"poses\":%zu", r->poses);
    json_matches(options, out, r);
    if (result_is_weak(r))
        fputs(",\"weak\":true", out);
    if (r->has_best)
        json_best(options, out, r);
}

void report_constant(const cli_options *options, FILE *out, const cli_result *r, const char *error)
{
    if (error) {
        json_failure(out, r, error);
        return;
    }
    json_names(out, r);
    fprintf(out, ",\"frame_size\":[%" PRId64 ",%" PRId64 "]", r->frame_width, r->frame_height);
    fprintf(out, ",\"template_size\":[%" PRId64 ",%" PRId64 "]", r->template_width,
            r->template_height);
    if (r->has_rows)
        fprintf(out, REPORT_ROWS "%" PRId64 ",%" PRId64 "]", r->first_row, r->end_row);
    report_found(options, out, r);
}

static void json_result(const cli_report *report, const cli_result *r)
{
    FILE *out = report->out;
    report_constant(report->options, out, r, NULL);
    if (r->verified)
        json_verification(out, &r->verification);
    fputs(",\"algorithm\":", out);
    text_json(out, r->algorithm);
    if (r->poses || strcmp(r->algorithm, "direct") == 0)
        fprintf(out, ",\"search\":\"%s\",\"scored\":%.4g", r->search, r->scored);
    fputs(",\"device\":", out);
    text_json(out, r->device);
    json_times(report, r);
    fputs("}\n", out);
}

bool report_begin(cli_report *report, const cli_options *options, size_t templates, bool timed, FILE *out)
{
    *report = (cli_report){.options = options, .several_templates = templates > 1, .timed = timed, .out = out};
    if (intervals_wanted(options) && !intervals_open(&report->intervals, options, templates, out))
        report->error = ENOMEM;
    if (options->format == CLI_CSV && !options->intervals)
        fprintf(out, "frame,template,x,y,w,h,score%s%s\n", options->posed ? POSE_CSV_HEAD : "", timed ? ",time" : "");
    return finish_line(report);
}

bool report_end(cli_report *report)
{
    if (!report->out)
        return true;
    if (report->intervals && report->error == 0)
        intervals_finish(report->intervals);
    return finish_line(report);
}

void report_free(cli_report *report)
{
    intervals_close(&report->intervals);
}

bool report_take(cli_report *report, const cli_result *r, bool failed)
{
    if (report->intervals && report->error == 0 && !intervals_take(report->intervals, r, failed))
        report->error = ENOMEM;
    return finish_line(report);
}

bool report_result(cli_report *report, const cli_result *r)
{
    if (!report_take(report, r, false) || report->options->intervals)
        return report->error == 0;
    switch (report->options->format) {
    case CLI_TEXT: text_result(report, r); break;
    case CLI_CSV: csv_result(report, r); break;
    case CLI_JSON: json_result(report, r); break;
    }
    return finish_line(report);
}

bool report_failure(cli_report *report, const cli_result *r, const char *reason)
{
    if (!report_take(report, r, true))
        return false;
    if (report->options->format == CLI_JSON) {
        json_failure(report->out, r, reason);
        fputs("}\n", report->out);
    }
    return finish_line(report);
}
