/* SPDX-License-Identifier: MIT */
#include "run/arguments.h"

#include <string.h>

#include "message.h"
#include "run/folders.h"
#include "run/intervals.h"

static bool add_operands(cli_frames *frames, const char **operands, int count)
{
    for (int i = 0; i < count; i++)
        if (!folders_add(frames, operands[i])) {
            message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
            return false;
        }
    return true;
}

static int standard_inputs(const cli_frames *frames)
{
    int count = 0;
    for (size_t i = 0; i < frames->count; i++)
        count += frames->list[i].named && (!frames->list[i].part || frames->list[i].part->number < 2) &&
                 strncmp(frames->list[i].path, "-", 1) == 0 &&
                 strchr("[", frames->list[i].path[1]);
    return count;
}

/* The only operand, or NULL. */
static const char *lone_folder(const char *const *operands, int count, const char *list)
{
    return count == 1 && !list ? operands[0] : NULL;
}

/* Whether the options about movies have one; they choose from Y4M files, too. */
static bool check_movies(const cli_options *options, cli_frames *frames)
{
    const io_movie_wish *wish = &options->movie;
    const char *option = wish->every ? "every" : wish->has_from ? "from" : wish->has_to ? "to"
                         : wish->key_frames ? "key-frames" : options->intervals ? "intervals"
                         : options->chapters ? "chapters" : "edl";
    bool any = false;

    if (!wish->every && !wish->has_from && !wish->has_to && !wish->key_frames && !intervals_asked(options))
        return true;
    for (size_t i = 0; i < frames->count && !any; i++)
        any = frames->list[i].stream || (frames->list[i].part && frames->list[i].part->location.timed);
    if (!any)
        message_usage("--%s is about the frames of a movie, and no frame is one", option);
    frames_thin(frames, wish);
    if (any && frames->count == 0)
        message(NULL, "no frame is shown in the time that --from and --to leave");
    return any && frames->count > 0;
}

bool arguments_find(const cli_options *o, cli_frames *frames, cli_frames *names, cli_watch *watch)
{
    names->one_each = "a template";
    frames->recursive = names->recursive = o->recursive;
    frames->not_below[0] = o->output;
    frames->not_below[1] = o->crops;
    if (o->watch && !watch_open(watch, o->watch))
        return false;
    frames->from_folders = o->watch != NULL;
    if (!add_operands(frames, o->frames, o->frame_count) ||
        !add_operands(names, o->templates, o->template_count) ||
        (o->files_from && !folders_add_list(frames, o->files_from, o->null_names ? '\0' : '\n')))
        return false;
    if (standard_inputs(frames) + standard_inputs(names) + (o->files_from && strcmp(o->files_from, "-") == 0) > 1) {
        message(NULL, "standard input ('-') can be only one of the pictures");
        return false;
    }
    if (!o->quiet) {
        folders_note_skipped(frames, lone_folder(o->frames, o->frame_count, o->files_from));
        folders_note_skipped(names, lone_folder(o->templates, o->template_count, NULL));
    }
    return (!o->watch || watch_know(watch, frames)) && check_movies(o, frames);
}
