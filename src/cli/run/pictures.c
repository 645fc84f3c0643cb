/* SPDX-License-Identifier: MIT */
#include "run/pictures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text.h"
#include "run/mirror.h"
#include "run/pose.h"
#include "run/stills.h"

/* Up to so many matches, a dashed box has "weak" in its label. */
enum { FEW = 3 };

/* So many names of templates are compared with each other. */
enum { MOST_COMPARED = 100 };

bool pictures_wanted(const cli_options *options)
{
    return options->output || options->crops || options->report || options->heatmap_overlay;
}

static size_t count_matches(const cli_job *job, const cli_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->templates->count; i++)
        count += job->pairs[i].result.match_count;
    return count;
}

static bool fail(const char *path, const io_error *error)
{
    message(path, "%s", error->reason);
    return false;
}

/* Writes a picture in the folder of outputs, and makes the folders that it needs. */
static bool write_in_folder(const cli_job *job, const cli_plan *plan, const char *folder,
                            const char *suffix, const io_picture *picture)
{
    char *path = mirror_path(folder, &job->frame, suffix);
    io_error error;
    strcpy(error.reason, tm_strerror(TM_ERR_MEMORY));
    const bool written = path && mirror_prepare(folder, path, plan->protected, &error) &&
                         io_write_picture(path, picture, &error);
    if (!written)
        message(path ? path : folder, "%s", error.reason);
    free(path);
    return written;
}

static io_crop inside(const io_picture *picture, const cli_match *match)
{
    int64_t x0 = match->x, y0 = match->y, x1 = x0 + match->w, y1 = y0 + match->h;
    x0 = x0 < 0 ? 0 : x0;
    y0 = y0 < 0 ? 0 : y0;
    x1 = x1 > picture->width ? picture->width : x1;
    y1 = y1 > picture->height ? picture->height : y1;
    return (io_crop){.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0};
}

static bool copy(const io_picture *from, const io_crop *crop, io_picture *to, io_error *error)
{
    strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
    const size_t pixel = (size_t)(from->channels * io_sample_size(from));
    const size_t row = (size_t)crop->width * pixel;
    *to = (io_picture){.width = crop->width,
                       .height = crop->height,
                       .channels = from->channels,
                       .bits = from->bits};
    to->samples = malloc(row * (size_t)crop->height);
    for (int64_t y = 0; to->samples && y < crop->height; y++)
        memcpy(to->samples + (size_t)y * row,
               from->samples + (size_t)((crop->y + y) * from->width + crop->x) * pixel, row);
    return to->samples != NULL;
}

/* Cuts a match out as it lies in the frame, or turned upright at the size that it has there. */
static bool cut(const io_picture *picture, const cli_result *r, const cli_match *match, bool upright,
                io_picture *part, io_error *error)
{
    const io_crop crop = inside(picture, match);
    const io_corners corners = pose_place(&match->pose);
    const double scale = match->pose.fine_scale;
    const int64_t w = llround((double)r->template_width * scale);
    const int64_t h = llround((double)r->template_height * scale);

    return upright ? io_cut_upright(picture, &corners, w > 0 ? w : 1, h > 0 ? h : 1, part, error)
                   : copy(picture, &crop, part, error);
}

/* Writes the match at x=412 y=96 as name.png.412+96.png; with several templates as
 * name.png.t2.412+96.png, in a pose as name.png.412+96.30deg.1.25x.png. */
static bool write_crop(const cli_job *job, const cli_plan *plan, const io_picture *picture, size_t i,
                       const cli_match *match)
{
    const cli_options *o = plan->options;
    const cli_result *r = &job->pairs[i].result;
    char suffix[96 + POSE_SUFFIX_SIZE] = "", pose[POSE_SUFFIX_SIZE] = "";
    io_picture part;
    io_error error;

    if (plan->templates->count > 1)
        snprintf(suffix, sizeof suffix, ".t%zu", i + 1);
    if (r->poses)
        pose_suffix(pose, match->pose.angle, match->pose.scale);
    snprintf(suffix + strlen(suffix), sizeof suffix - strlen(suffix),
             ".%" PRId64 "+%" PRId64 "%s.png", match->x, match->y, pose);
    const bool written = cut(picture, r, match, o->upright, &part, &error)
                             ? write_in_folder(job, plan, o->crops, suffix, &part)
                             : fail(o->crops, &error);
    io_picture_free(&part);
    return written;
}

/* Names templates without their folders, unless several would have the same name. */
static void name_templates(const char **names, const cli_templates *templates)
{
    bool distinct = true;
    for (size_t i = 0; i < templates->count; i++) {
        names[i] = text_base_name(templates->list[i].operand.given);
    }
    for (size_t i = 0; i < templates->count && i < MOST_COMPARED; i++)
        for (size_t k = 0; k < i; k++)
            distinct &= strcmp(names[i], names[k]) != 0;
    for (size_t i = 0; i < templates->count && !distinct; i++)
        names[i] = templates->list[i].operand.given;
}

/* As "933 matches, scores 0.3004 to 1.0000". */
static void summarize(char *to, size_t size, const cli_job *job, const cli_plan *plan)
{
    char lowest[TEXT_SCORE_SIZE], highest[TEXT_SCORE_SIZE];
    double low = INFINITY, high = -INFINITY;
    bool integers = true;

    for (size_t i = 0; i < plan->templates->count; i++) {
        const cli_result *r = &job->pairs[i].result;
        for (size_t k = 0; k < r->match_count; k++) {
            low = fmin(low, r->matches[k].score);
            high = fmax(high, r->matches[k].score);
            integers &= r->integers;
        }
    }
    text_label(lowest, integers, low);
    text_label(highest, integers, high);
    snprintf(to, size, "%zu matches, scores %s to %s", count_matches(job, plan), lowest, highest);
}

static bool draw(const cli_job *job, const cli_plan *plan, io_picture *picture, io_error *error)
{
    const cli_templates *templates = plan->templates;
    const size_t total = count_matches(job, plan);
    io_box *boxes = calloc(total + 1, sizeof *boxes);
    io_corners *turned = calloc(total + 1, sizeof *turned);
    const char **names = calloc(templates->count + 1, sizeof *names);
    io_drawing drawing = {.boxes = boxes, .names = names, .name_count = templates->count,
                          .keeps_size = plan->output_is_movie};
    char summary[2 * TEXT_SCORE_SIZE + 48];
    bool good = false;

    strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
    for (size_t i = 0; i < templates->count && boxes && names && turned; i++) {
        const cli_result *r = &job->pairs[i].result;
        for (size_t k = 0; k < r->match_count; k++) {
            io_box *box = &boxes[drawing.count];
            turned[drawing.count++] = pose_place(&r->matches[k].pose);
            *box = (io_box){.x = r->matches[k].x,
                            .y = r->matches[k].y,
                            .w = r->matches[k].w,
                            .h = r->matches[k].h,
                            .weak = r->matches[k].weak,
                            .color = (int)i};
            text_label(box->label, r->integers, r->matches[k].score);
            if (box->weak && total <= FEW)
                strcat(box->label, " weak");
        }
    }
    if (pose_turns(plan->options)) /* else they are drawn as those of templates as they are */
        drawing.turned = turned;
    if (boxes && names && turned) {
        name_templates(names, templates);
        if (total > 0) {
            summarize(summary, sizeof summary, job, plan);
            drawing.summary = summary;
        }
        good = io_draw_matches(picture, &drawing, error);
    }
    free(names);
    free(turned);
    free(boxes);
    return good;
}

static bool write_annotated(const cli_job *job, const cli_plan *plan, io_picture *picture)
{
    const char *output = plan->options->output;
    io_error error;

    if (!draw(job, plan, picture, &error))
        return fail(output, &error);
    if (plan->output_is_movie)
        return true;
    if (!plan->output_is_folder)
        return io_write_picture(output, picture, &error) || fail(output, &error);
    return write_in_folder(job, plan, output, "", picture);
}

int pictures_thumbnail_side(size_t frames)
{
    return frames == 0 || frames > 24 ? 208 : frames > 1 ? 800 : 1600;
}

static bool make_thumbnail(const cli_job *job, const cli_plan *plan, const io_picture *picture)
{
    io_error error;
    if (io_write_thumbnail(picture, plan->thumbnail_side, job->thumbnail, &error) &&
        fflush(job->thumbnail) == 0)
        return true;
    return fail(operand_name(&job->operand), &error);
}

/* Decodes the whole frame once more. 16 bits stay, floats become 8 bits to look at. */
static bool decode(const cli_job *job, const cli_plan *plan, io_color color, io_picture *picture,
                   io_error *error)
{
    const io_request request = {.color = color, .deep = true, .floats = IO_FLOATS_SHOWN,
                                .stored_orientation = plan->frame_input.stored_orientation,
                                .frugal = plan->frame_input.max_memory > 0};
    return io_decode_as(&job->input.source, &request, &plan->frame_input.limits, picture, error);
}

bool pictures_decode(const cli_job *job, const cli_plan *plan, io_color color, io_picture *picture,
                     io_error *error)
{
    if (!decode(job, plan, color, picture, error))
        return false;
    io_show(picture);
    return true;
}

/* Whether one of the frame's matches may be the best of an appearance; of a frame that was matched before, the log says
 * how many it has. */
static bool may_be_still(const cli_job *job, const cli_plan *plan)
{
    bool any = false;

    if (!stills_wanted(plan, job))
        return false;
    for (size_t i = 0; i < plan->templates->count; i++) {
        const cli_result *r = &job->pairs[i].result;
        any |= job->skipped && resume_find(plan->resume, job->ids[i])->matches > 0;
        for (size_t k = 0; k < r->match_count && !any; k++)
            any = intervals_match_counts(plan->options, &r->matches[k]);
    }
    return any;
}

void pictures_make_thumbnail(cli_job *job, const cli_plan *plan)
{
    io_source *source = &job->input.source;
    io_picture picture;
    io_error error;

    job->input = (cli_input){0};
    /* Errors are not told: the log has what came of the frame. */
    if (!job->operand.path || io_is_stream(job->operand.path) ||
        !input_open(source, &job->operand, &plan->frame_input, &error))
        return;
    if (pictures_decode(job, plan, IO_RGB, &picture, &error)) {
        for (size_t i = 0; i < plan->templates->count; i++) {
            job->pairs[i].result.frame_width = picture.width;
            job->pairs[i].result.frame_height = picture.height;
        }
        make_thumbnail(job, plan, &picture);
        if (may_be_still(job, plan))
            job->still = picture;
        else
            io_picture_free(&picture);
    }
    input_free(&job->input);
}

bool pictures_write(cli_job *job, const cli_plan *plan)
{
    const cli_options *o = plan->options;
    io_picture picture;
    io_error error;
    bool good = true;
    const bool found = count_matches(job, plan) > 0;
    const bool drawn = o->output && (found || plan->output_is_movie);
    const bool wanted = o->report || drawn || (found && o->crops);

    if (!drawn && o->output && !plan->output_is_folder && job->pairs[0].done && !o->quiet)
        message_note(o->output, "not written: nothing reaches --min-score");
    if (!wanted)
        return true;
    if (!decode(job, plan, IO_RGB, &picture, &error))
        return fail(operand_name(&job->operand), &error);
    for (size_t i = 0; i < plan->templates->count && o->crops; i++)
        for (size_t k = 0; k < job->pairs[i].result.match_count; k++)
            good &= write_crop(job, plan, &picture, i, &job->pairs[i].result.matches[k]);
    io_show(&picture); /* crops keep the file's samples, what follows is to look at */
    if (o->report)
        good &= make_thumbnail(job, plan, &picture);
    const bool still = may_be_still(job, plan);
    if (still && drawn) /* what is drawn on is none */
        good &= pictures_decode(job, plan, IO_RGB, &job->still, &error) || fail(operand_name(&job->operand), &error);
    if (drawn)
        good &= write_annotated(job, plan, &picture);
    if (plan->output_is_movie)
        job->drawn = picture;
    else if (still && !drawn)
        job->still = picture;
    else
        io_picture_free(&picture);
    return good;
}
