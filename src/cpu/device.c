/* SPDX-License-Identifier: MIT */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu/cpu.h"
#include "cpu/estimate.h"
#include "cpu/planes.h"
#include "cpu/together.h"
#include "fft/cpu/fft.h"
#include "integers.h"
#include "lcc/cpu/certified.h"
#include "lcc/cpu/direct.h"
#include "lcc/cpu/f32.h"
#include "lcc/cpu/pose_search.h"
#include "lcc/pauses.h"

struct tm_device {
    tm_cpu direct;
    tm_pauses pauses; /* of certified search */
    tm_kept_family family;
    uint32_t features;
    tm_rates rates;
    tm_fft_cpu *fft; /* NULL until needed */
    tm_planes_memory planes;
    int64_t memory; /* that FFT or planes may use; 0: no limit */
    bool reference; /* matches by the definition */
};

static int cpu_count(tm_message *message)
{
    (void)message;
    return 1;
}

static void processor_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");

    snprintf(name, size, "CPU");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static void feature_names(char *names, size_t size)
{
    const uint32_t features = tm_cpu_features();
    size_t used = 0;

    names[0] = '\0';
    for (uint32_t bit = 1; bit && used < size; bit <<= 1) {
        if (features & bit)
            used += (size_t)snprintf(names + used, size - used, "%s%s", used ? " " : "",
                                     tm_cpu_feature_name(bit));
    }
}

static tm_status cpu_describe(int index, tm_device_info *info, tm_message *message)
{
    (void)message;
    *info = (tm_device_info){
        .kind = TM_DEVICE_CPU, .index = index, .units = omp_get_num_procs()};
    processor_name(info->name, sizeof info->name);
    feature_names(info->detail, sizeof info->detail);
    return TM_OK;
}

static void cpu_close(tm_device *d)
{
    tm_cpu_free(&d->direct);
    tm_planes_free(&d->planes);
    tm_template_family_free(&d->family.family);
    tm_fft_cpu_destroy(&d->fft);
    free(d);
}

static tm_status cpu_open(tm_device **opened, const tm_device_settings *settings,
                          tm_message *message)
{
    tm_device *d = calloc(1, sizeof *d);
    const tm_status status =
        d ? tm_cpu_init(&d->direct, settings->threads, settings->features) : TM_ERR_MEMORY;

    if (status != TM_OK) {
        free(d);
        snprintf(message->text, sizeof message->text, "%s", tm_strerror(status));
        return status;
    }
    d->features = settings->features;
    d->rates = settings->rates ? *settings->rates : (tm_rates)TM_USUAL_RATES;
    d->memory = settings->memory;
    d->reference = settings->algorithm == TM_ALGORITHM_REFERENCE;
    *opened = d;
    return TM_OK;
}

static tm_device_traits cpu_traits(const tm_device *d)
{
    return (tm_device_traits){.kernels = d->direct.kernels.name, .threads = d->direct.threads};
}

/* Where there are planes and their sums, these have half of the memory, and FFT the rest. */
static int64_t half_of(int64_t bytes)
{
    return (bytes + 1) / 2;
}

static bool has_planes(const tm_job *job)
{
    return !tm_job_is_plain(job) && !tm_job_is_f32(job);
}

static tm_cpu_conditions conditions_of(const tm_device *d, const tm_job *job, int64_t memory)
{
    return (tm_cpu_conditions){.kernels = d->direct.kernels.name,
                               .features = d->features,
                               .threads = d->direct.threads,
                               .rates = &d->rates,
                               .started = d->fft != NULL,
                               .fft_bytes = has_planes(job) ? half_of(memory) : memory};
}

static void cpu_estimate(tm_device *d, const tm_job *jobs, size_t count,
                         const tm_estimate_request *request, tm_estimate *estimates)
{
    const bool wants_fft =
        request->algorithm == TM_ALGORITHM_FFT || request->algorithm == TM_ALGORITHM_CUFFT;

    for (size_t i = 0; i < count; i++) {
        tm_cpu_conditions conditions =
            conditions_of(d, &jobs[i], request->memory ? request->memory : d->memory);
        conditions.missed_ms = request->missed_ms;
        conditions.strategy = request->strategy;
        if (request->rates)
            conditions.rates = request->rates;
        tm_cpu_estimate(&estimates[i], &conditions, &jobs[i], wants_fft);
    }
}

/* Whether the template's last frames say that a search would not pay; sets the job's declined. */
static bool skips(tm_device *d, tm_job *job)
{
    job->declined = tm_pause_skips(&d->pauses, job->tmpl->hash);
    return job->declined;
}

static tm_certified_plan certified_plan_of(const tm_device *d, const tm_job *job,
                                           const tm_level *shared)
{
    const tm_cpu_conditions conditions = conditions_of(d, job, d->memory);
    tm_certified_plan plan;

    tm_cpu_certified_plan(&plan, &conditions, job, shared);
    return plan;
}

/* Whether a job can share its sums with others. */
static bool may_share(const tm_job *job)
{
    return job->certified && !job->tiling && !job->peaks;
}

/* Matches the first job, with as many of the next ones as share its sums, and says how many that are.
 * Leaves declined set where that does not pay. */
static size_t match_certified(tm_device *d, tm_job *jobs, size_t count, tm_status *status)
{
    tm_job *group[TM_CERTIFIED_GROUP];
    tm_certified_plan plans[TM_CERTIFIED_GROUP];
    size_t end = 1;
    int size = 0;

    plans[0] = certified_plan_of(d, jobs, NULL);
    for (; end < count && end < TM_CERTIFIED_GROUP && may_share(jobs); end++) {
        const tm_job *job = &jobs[end];
        if (!may_share(job) || job->tmpl->width != jobs->tmpl->width ||
            job->tmpl->height != jobs->tmpl->height)
            break;
        plans[end] = certified_plan_of(d, job, plans[0].by.level);
        if (!tm_level_is_like(plans[end].by.level, plans[0].by.level))
            break;
    }
    for (size_t i = 0; i < end; i++) {
        if (skips(d, &jobs[i]))
            continue;
        plans[size] = plans[i];
        plans[size].in_tiles &= end == 1;
        group[size++] = &jobs[i];
    }
    *status = end == 1 && size ? tm_cpu_match(&d->direct, jobs, plans)
              : size           ? tm_cpu_match_group(&d->direct, group, plans, size)
                               : TM_OK;
    for (int i = 0; i < size; i++)
        tm_pause_note(&d->pauses, group[i]->tmpl->hash, !group[i]->declined);
    return end;
}

/* Matches what kernels and FFT take as it is. */
static tm_status match_whole(tm_device *d, tm_job *job)
{
    if (!job->tiling)
        return tm_job_is_f32(job) ? tm_f32_match(d->direct.kernels.f32, job, d->direct.threads)
                                  : tm_cpu_match(&d->direct, job, NULL);
    tm_status status =
        d->fft ? TM_OK : tm_fft_cpu_create(&d->fft, d->direct.threads, d->features);
    if (status == TM_OK)
        status = tm_fft_cpu_match(d->fft, job, job->tiling, d->direct.kernels.f32);
    return status;
}

/* A job of planes, whose products are made band by band. */
typedef struct planes_run {
    tm_device *device;
    const tm_job *whole;
    tm_geometry geometry; /* that the estimate is for: the whole job's, or a band's */
    tm_estimate estimate;
} planes_run;

/* A band that is not the whole job wants tiles of its own, which suit all its planes. */
static const tm_fft_tiling *tile_band(planes_run *run, const tm_geometry *geometry)
{
    tm_job band = *run->whole;

    if (!run->whole->tiling)
        return NULL;
    if (memcmp(&run->geometry, geometry, sizeof *geometry) != 0) {
        const tm_cpu_conditions conditions =
            conditions_of(run->device, run->whole, run->device->memory);
        band.geometry = run->geometry = *geometry;
        tm_cpu_estimate(&run->estimate, &conditions, &band, true);
    }
    return run->estimate.fault ? NULL : &run->estimate.tiling;
}

static tm_status match_product(void *context, tm_job *job)
{
    planes_run *run = context;
    job->tiling = tile_band(run, &job->geometry);
    return match_whole(run->device, job);
}

static tm_status match_planes(tm_device *d, tm_job *job, tm_message *message)
{
    planes_run run = {.device = d, .whole = job, .geometry = job->geometry};
    tm_planes_call call = {.threads = d->direct.threads,
                           .limit = d->memory ? half_of(d->memory) : TM_PLANES_MEMORY,
                           .match_product = match_product,
                           .context = &run};

    if (job->tiling)
        run.estimate.tiling = *job->tiling;
    const tm_status status = tm_planes_match(&d->planes, job, &call);
    if (call.refused)
        snprintf(message->text, sizeof message->text,
                 "a row of the score map takes %lld bytes, and the limit leaves %lld for it",
                 (long long)call.refused, (long long)call.limit);
    return status;
}

static tm_status match_job(tm_device *d, tm_job *job, tm_message *message)
{
    if (d->reference)
        return tm_reference_match(job);
    if (has_planes(job) && (job->tiling || !tm_cpu_takes(job)))
        return match_planes(d, job, message);
    return match_whole(d, job);
}

/* How many of the jobs, the first and those after it, share a mask. */
static size_t masked_together(const tm_device *d, const tm_job *jobs, size_t count)
{
    size_t taken = 1;

    if (d->reference || !has_planes(jobs) || jobs->tiling || !tm_cpu_takes(jobs))
        return 1;
    while (taken < count && taken < TM_SHARED_MASK && !jobs[taken].tiling &&
           tm_jobs_share_mask(jobs, &jobs[taken]))
        taken++;
    return taken;
}

static tm_status cpu_match(tm_device *d, tm_job *jobs, size_t count, tm_work *work,
                           tm_message *message)
{
    const double start = clock_ms();
    tm_message why = {""};
    tm_status status = TM_OK;

    *work = (tm_work){0};
    for (size_t i = 0, taken; i < count && status == TM_OK; i += taken) {
        if (jobs[i].certified && !jobs[i].tiling) {
            taken = match_certified(d, jobs + i, count - i, &status);
            continue;
        }
        taken = masked_together(d, jobs + i, count - i);
        status = taken > 1 ? tm_cpu_match_masked(&d->direct, jobs + i, (int)taken)
                           : match_job(d, &jobs[i], &why);
        if (jobs[i].tiling && tm_job_is_f32(&jobs[i]) && d->fft)
            work->windows_again += tm_fft_cpu_again(d->fft);
    }
    work->times.kernel = clock_ms() - start;
    if (status != TM_OK)
        snprintf(message->text, sizeof message->text, "%s",
                 why.text[0] ? why.text : tm_strerror(status));
    return status;
}

tm_status tm_cpu_match_poses(tm_device *device, tm_pose_search *search)
{
    return tm_cpu_search_poses(&device->direct, search);
}

tm_status tm_cpu_score_poses(tm_device *device, const tm_image *frame, tm_metric metric, tm_domain domain,
                             tm_pose_windows_of *list, size_t count)
{
    return tm_cpu_score_pose_windows(&device->direct, frame, metric, domain, list, count);
}

tm_status tm_cpu_match_templates(tm_device *d, tm_cpu_together *call)
{
    const tm_cpu_conditions conditions = conditions_of(d, call->jobs[0], d->memory);
    return tm_cpu_try_together(&d->direct, &d->family, &d->pauses, &conditions, call);
}

const tm_backend *tm_cpu_backend(void)
{
    static const tm_backend backend = {.version = TM_BACKEND_VERSION,
                                       .count = cpu_count,
                                       .describe = cpu_describe,
                                       .open = cpu_open,
                                       .close = cpu_close,
                                       .traits = cpu_traits,
                                       .estimate = cpu_estimate,
                                       .match = cpu_match};
    return &backend;
}
