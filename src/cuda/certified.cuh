/* SPDX-License-Identifier: MIT */
/* Certified search of a group's templates, one after the other. */
#ifndef TMATCH_CUDA_CERTIFIED_CUH
#define TMATCH_CUDA_CERTIFIED_CUH

#include "cuda/plugin.h"
#include "cuda/rest.cuh"
#include "lcc/cuda/certified/certified.cuh"

/* A group's templates on the device, in one block of memory. */
typedef struct tm_certified_group {
    void *memory; /* NULL: none */
    tm_certified_level *levels; /* on the host, one a template */
    bool early;
    tm_rest rest; /* after a frame that left too many windows: the next ones are searched exhaustively */
    tm_certified_coarse *paired; /* on the host, one a template: what pairs of shifts share; of no templates where they do not */
    bool has_pairs;              /* some of them do */
    bool shared;                 /* in this frame, where they can */
    tm_rest apart;               /* of pairs: in the next frames they do not */
} tm_certified_group;

void tm_certified_drop(tm_certified_group *group);

/* Makes the levels of count templates of one size, for which there are cells. */
cudaError_t tm_certified_prepare(tm_certified_group *group, const tm_template *templates,
                                 size_t count, cudaStream_t stream);

/* Whether the device has the kernels, by its compute capability. */
bool tm_certified_runs(int major);

/* Whether windows of the job may be left out. */
bool tm_cuda_certified_takes(const tm_cuda *cuda, const tm_job *job);

/* Whether those of the group's next frame shall be, and by which coarse templates. A note that a frame left too many; whether one of so many
 * windows left so much that the next ones may be searched otherwise, and a note of that. */
bool tm_cuda_certified_pays(tm_certified_group *group);
void tm_certified_note_too_many(tm_certified_group *group);
bool tm_certified_left_much(const tm_certified_count *counts, size_t count, int64_t windows);
void tm_certified_note(tm_certified_group *group, const tm_certified_count *counts, size_t count, int64_t windows);

/* The memory of a launch; and its rows [first, end), after those before. The last ones write the
 * templates' best candidates, and then as many counts. */
struct tm_launch;
cudaError_t tm_certified_fit(tm_cuda *cuda, const struct tm_launch *launch);
cudaError_t tm_certified_rows(tm_cuda *cuda, struct tm_launch *launch, int64_t first, int64_t end);

/* After all bounds of a template: launches what finds a first best or peaks, and sets what the job knows, and from
 * which score on its windows are written. asked: what is matched for the first time, or NULL. *pays becomes false where all
 * windows are to be scored. */
cudaError_t tm_certified_learn(tm_cuda *cuda, struct tm_launch *launch, const tm_job *asked, tm_certified_job *job,
                               bool *pays);

#endif
