/* SPDX-License-Identifier: MIT */
#include "run/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "run/identity.h"
#include "run/input.h"
#include "message.h"

bool inputs_init(cli_inputs *inputs, const cli_options *options, const cli_frames *frames,
                 const cli_templates *templates)
{
    const char *named[] = {options->mask, options->frame_mask, options->files_from};

    *inputs = (cli_inputs){.frames = frames, .lock = PTHREAD_MUTEX_INITIALIZER};
    inputs->others = calloc(templates->count + 3, sizeof *inputs->others);
    if (!inputs->others) {
        message(NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < templates->count; i++)
        if (templates->list[i].operand.path)
            inputs->others[inputs->other_count++] = templates->list[i].operand.path;
    for (int i = 0; i < 3; i++)
        if (named[i])
            inputs->others[inputs->other_count++] = named[i];
    return true;
}

void inputs_free(cli_inputs *inputs)
{
    free(inputs->others);
    free(inputs->sorted);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(cli_identity));
}

static void list_all(cli_inputs *inputs)
{
    const cli_frames *frames = inputs->frames;
    cli_identity *list = malloc((frames->count + inputs->other_count + 1) * sizeof *list);

    inputs->count = 0;
    for (size_t i = 0; i < frames->count && list; i++) {
        cli_operand operand;
        operand_init(&operand, &frames->list[i]); /* takes a crop off the name */
        inputs->count += identify(operand.path, &list[inputs->count]);
        operand_free(&operand);
    }
    for (size_t i = 0; i < inputs->other_count && list; i++)
        inputs->count += identify(inputs->others[i], &list[inputs->count]);
    if (list)
        qsort(list, inputs->count, sizeof *list, compare);
    inputs->sorted = list;
}

/* Only a file that exists can be an input: on a first run nothing is listed. */
bool inputs_spare(cli_inputs *inputs, const char *path, io_error *error)
{
    cli_identity id;

    if (!identify(path, &id))
        return true;
    pthread_mutex_lock(&inputs->lock);
    if (!inputs->sorted)
        list_all(inputs);
    pthread_mutex_unlock(&inputs->lock);
    if (inputs->sorted && !bsearch(&id, inputs->sorted, inputs->count, sizeof id, compare))
        return true;
    strcpy(error->reason,
           inputs->sorted ? "is an input too, and would be overwritten" : "out of memory");
    return false;
}
