/* SPDX-License-Identifier: MIT */
#include "run/operand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tmatch/tmatch.h>

static void fail_memory(io_error *error)
{
    strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
}

/* Makes the name "scan.tif#3". Where the user wrote that, it is the path, and the number is taken
 * off there. */
static void name_part(cli_operand *operand, cli_part *part)
{
    operand->part = part;
    if (part->number == 0)
        return;
    char *number = part->spelled ? strrchr(operand->path, '#') : NULL;
    if ((part->spelled ? asprintf(&operand->name, "%s", operand->path)
                       : asprintf(&operand->name, "%s#%" PRId64, operand->path, part->number)) < 0) {
        operand->name = NULL;
        operand_free(operand);
        fail_memory(&operand->error);
        return;
    }
    if (number)
        *number = '\0';
}

void operand_init(cli_operand *operand, const cli_frame *frame)
{
    *operand = (cli_operand){.given = frame->path};
    if (frame->named)
        io_split_crop(frame->path, &operand->path, &operand->crop, &operand->has_crop,
                      &operand->error);
    else if (!(operand->path = strdup(frame->path)))
        fail_memory(&operand->error);
    if (operand->path && frame->part)
        name_part(operand, frame->part);
    if (!frame->error)
        return;
    snprintf(operand->error.reason, sizeof operand->error.reason, "%s", frame->error);
    free(operand->path);
    operand->path = NULL;
}

void operand_restrict(cli_operand *operand, const io_crop *roi)
{
    if (operand->has_crop) {
        operand_free(operand);
        strcpy(operand->error.reason, "has a crop, and --roi gives it another one");
    }
    operand->has_crop = true;
    operand->crop = *roi;
}

void operand_free(cli_operand *operand)
{
    free(operand->path);
    free(operand->name);
    operand->path = operand->name = NULL;
}

const char *operand_name(const cli_operand *operand)
{
    return operand->name ? operand->name : operand->path ? operand->path : operand->given;
}
