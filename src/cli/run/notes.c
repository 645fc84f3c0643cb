/* SPDX-License-Identifier: MIT */
#include "run/notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "text.h"
#include "run/weak.h"

void notes_begin(cli_notes *n, const cli_options *options, const cli_templates *templates)
{
    *n = (cli_notes){.options = options, .templates = templates, .nearest = NAN};
}

static bool has_equals(const cli_result *r)
{
    return r->equal > 1;
}

static bool has_note(const cli_result *r)
{
    return r->weak_count > 0 || r->none || has_equals(r);
}

static bool is_due(const cli_notes *n, const cli_result *r)
{
    return has_note(r) && !n->options->quiet && !n->options->intervals && (n->options->verbose || n->count <= NOTES_SHOWN);
}

bool notes_were_held(const cli_notes *n)
{
    return !n->options->quiet && !n->options->intervals && !n->options->verbose && n->count > NOTES_SHOWN;
}

static void count_nearest(cli_notes *n, const char *frame, double score)
{
    const bool distance = tm_metric_is_distance(n->options->settings.metric);
    if (!isnan(score) && !(distance ? score >= n->nearest : score <= n->nearest)) {
        n->nearest = score;
        snprintf(n->nearest_frame, sizeof n->nearest_frame, "%s", frame);
    }
}

#define SLOW_MS 1000

static void say_none(const cli_options *o, const cli_result *r)
{
    const bool distance = tm_metric_is_distance(o->settings.metric);
    char best[TEXT_SCORE_SIZE], least[TEXT_SCORE_SIZE], pose[96] = "";

    text_score(least, r->integers,
               o->has_min_score ? o->min_score
                                : weak_least_score(r->has_best ? r->best.pixels : weak_most_pixels(o, r->template_pixels)));
    if (!r->has_best) {
        message_note(r->frame, "%s: nothing scores %s or %s", r->tmpl, least, distance ? "less" : "more");
        return;
    }
    text_score(best, r->integers, r->best.score);
    if (r->poses)
        snprintf(pose, sizeof pose, " angle=%.10g scale=%.9g",
                 r->best.pose.angle, r->best.pose.scale);
    /* That takes most of such a frame's time; said to a person, as it depends on the machine. */
    const char *hint = r->poses && r->times.total > SLOW_MS && style_moves_cursor()
                           ? "; with --only-matches that is not looked for, which is quicker" : "";
    message_note(r->frame, "nothing scores %s or %s: the best place for %s scores %s, at x=%" PRId64
                      " y=%" PRId64 "%s%s",
            least, distance ? "less" : "more", r->tmpl, best, r->best.x, r->best.y, pose, hint);
}

static void say_flat(const cli_result *r)
{
    message_note(r->frame, "weak: %s cannot be there: the frame is one gray everywhere", r->tmpl);
}

static void say_weak(const cli_result *r)
{
    const double score = r->matches[0].score;
    char best[TEXT_SCORE_SIZE], rest[TEXT_SCORE_SIZE + 16] = "", advice[64] = "";

    text_label(best, r->integers, score);
    if (!isnan(r->rest) && weak_needs_rest(score, r->matches[0].pixels)) {
        strcpy(rest, " and another ");
        text_label(rest + strlen(rest), r->integers, r->rest);
    }
    if (score < WEAK_LEAST_SCORE)
        snprintf(advice, sizeof advice, " (--min-score %.6g would leave it out)", WEAK_LEAST_SCORE);
    message_note(r->frame, "weak: %s may not be there: its best place scores %s%s%s", r->tmpl, best,
                 rest, advice);
}

static void say_weak_tail(const cli_result *r)
{
    char best[TEXT_SCORE_SIZE];
    text_label(best, r->integers, r->matches[r->match_count - r->weak_count].score);
    message_note(r->frame, "weak: %zu of the %zu places for %s, from score %s down, may be chance",
            r->weak_count, r->match_count, r->tmpl, best);
}

static void say_equal(const cli_result *r)
{
    char score[TEXT_SCORE_SIZE];
    text_score(score, r->integers, r->matches[0].score);
    message_note(r->frame, "%d%s places for %s score %s: --color may tell them apart", r->equal,
            r->equal == RESULT_MOST_EQUAL ? " or more" : "", r->tmpl, score);
}

static void say(const cli_options *o, const cli_result *r)
{
    if (r->none)
        say_none(o, r);
    else if (r->flat)
        say_flat(r);
    else if (r->weak_count > 0 && r->weak_count < r->match_count)
        say_weak_tail(r);
    else if (r->weak_count > 0)
        say_weak(r);
    else
        say_equal(r);
}

/* Says which threshold -n 0 takes. */
static void say_threshold(const cli_options *o, const cli_templates *templates)
{
    double least = 1, most = 0;

    if (!weak_is_judged(o)) {
        message_note(NULL, "-n 0 without --min-score lists every peak of %s, which has no scale to "
                      "choose a threshold by",
                tm_metric_name(o->settings.metric));
        return;
    }
    for (size_t i = 0; i < templates->count; i++) {
        const double own = weak_least_score(templates->list[i].pixels);
        if (!templates->list[i].usable)
            continue;
        least = fmin(least, own);
        most = fmax(most, own);
    }
    if (o->posed)
        message_note(NULL, "-n 0 without --min-score takes %.6g, and more in poses of fewer than 1024 "
                           "pixels", WEAK_LEAST_SCORE);
    else if (least < most)
        message_note(NULL, "-n 0 without --min-score takes %.6g to %.6g, by the templates' sizes",
                     least, most);
    else
        message_note(NULL, "-n 0 without --min-score takes --min-score %.6g", least);
}

void notes_take(cli_notes *n, const cli_result *r)
{
    const cli_options *o = n->options;
    if (n->results++ == 0 && o->most_matches == 0 && !o->has_min_score && !o->quiet)
        say_threshold(o, n->templates);
    n->integers = r->integers;
    n->weak += result_is_weak(r);
    n->without += r->match_count == 0;
    if (r->has_best)
        count_nearest(n, r->frame, r->best.score);
    if (!has_note(r))
        return;
    const bool due = is_due(n, r);
    n->count++;
    if (due && !n->options->verbose && n->count > NOTES_SHOWN)
        message_note(NULL, "further notes are only counted (-v prints all of them)");
    else if (due)
        say(n->options, r);
}

void notes_take_line(cli_notes *n, const char *frame, const log_line *line)
{
    n->weak += line->weak;
    n->without += !line->failed && line->matches == 0;
    count_nearest(n, frame, line->best);
}

void notes_summary(const cli_notes *n, char text[NOTES_SUMMARY_SIZE])
{
    char weak[40] = "", nearest[NOTES_SUMMARY_SIZE - 140] = "", score[TEXT_SCORE_SIZE];

    if (n->weak > 0)
        snprintf(weak, sizeof weak, ", %" PRId64 " weak", n->weak);
    if (!isnan(n->nearest)) {
        text_label(score, n->integers, n->nearest);
        snprintf(nearest, sizeof nearest, " (the nearest: %s, %s)", score, n->nearest_frame);
    }
    snprintf(text, NOTES_SUMMARY_SIZE, "%s, %" PRId64 " without a match%s", weak, n->without,
             nearest);
}
