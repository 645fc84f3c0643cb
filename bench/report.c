/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const metrics[] = {"lcc", "ccorr"};
static const char *const domains[] = {"valid", "same", "full"};
static const char *const statuses[] = {"ok", "skipped", "failed", "wrong"};

void report_header(const report *r)
{
    const machine *m = &r->machine;
    printf("tmatch %s, commit %.12s%s, %s\n", tm_version(), m->commit, m->dirty ? " (changed)" : "",
           m->date);
    for (int i = 0; i < m->device_count; i++) {
        const tm_device_info *d = &m->devices[i];
        if (d->kind == TM_DEVICE_CPU)
            printf("cpu: %s, %d threads\n", d->name, d->units);
        else
            printf("cuda:%d: %s, %d multiprocessors, %s, driver %s\n", d->index, d->name, d->units,
                   d->detail, m->driver);
    }
    if (m->device_count < 2)
        printf("no GPU: %s\n", m->no_cuda);
    if (m->copy_rate > 0)
        printf("device copy: %.2f TB/s read and written\n", m->copy_rate * 1e-12);
    for (int i = 0; i < r->missing_count; i++)
        printf("missing: %s: %s\n", r->missing[i].name, r->missing[i].why);
}

void report_case(const bench_case *c)
{
    printf("\n%s: frame %lldx%lld, template %lldx%lld", c->suite, (long long)c->frame_width,
           (long long)c->frame_height, (long long)c->template_width,
           (long long)c->template_height);
    if (c->templates > 1)
        printf(", %d templates", c->templates);
    printf(", %s, %s, %s\n", metrics[c->metric], domains[c->domain],
           c->map ? "map and best match" : "best match only");
    printf("  %-8s %-23s %3s %10s %10s %10s %10s %10s %10s  %s\n", "device", "algorithm", "thr",
           "kernel ms", "q1", "q3", "cold ms", "call ms", "in+out ms", "error");
    fflush(stdout);
}

static void time_column(const bench_spread *spread, double value)
{
    if (!spread->samples)
        printf(" %10s", "-");
    else if (value < 1)
        printf(" %10.4f", value);
    else
        printf(" %10.3f", value);
}

void report_line(const bench_result *r)
{
    printf("  %-8s %-23s", r->device, r->algorithm);
    if (r->threads)
        printf(" %3d", r->threads);
    else
        printf(" %3s", "");
    if (r->status == BENCH_SKIPPED || r->status == BENCH_FAILED || r->status == BENCH_WRONG) {
        printf(" %s: %s\n", statuses[r->status], r->note);
        fflush(stdout);
        return;
    }
    const bench_spread copies = {.samples = r->to_device.samples};
    time_column(&r->kernel, r->kernel.median);
    time_column(&r->kernel, r->kernel.q1);
    time_column(&r->kernel, r->kernel.q3);
    time_column(&r->cold, r->cold.median);
    time_column(&r->call, r->call.median);
    time_column(&copies, r->to_device.median + r->from_device.median);
    if (r->exact)
        printf("  0, same bits");
    else
        printf("  %.2g max, %.2g rel", r->error.max_abs, r->error.relative);
    if (r->error.not_finite)
        printf(", %lld not finite", (long long)r->error.not_finite);
    printf("%s%s\n", r->note[0] ? "; " : "", r->note);
    fflush(stdout);
}

bool report_add(report *r, const bench_result *result)
{
    bench_result *grown = realloc(r->results, (size_t)(r->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    grown[r->count++] = *result;
    r->results = grown;
    return true;
}

/* "key": "text", with its comma before it. */
static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":\"", key);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            putc(*c, out);
    }
    putc('"', out);
}

static void put_number(FILE *out, const char *key, double value)
{
    if (isfinite(value))
        fprintf(out, ",\"%s\":%.9g", key, value);
    else
        fprintf(out, ",\"%s\":null", key);
}

static void put_spread(FILE *out, const char *key, const bench_spread *s)
{
    if (s->samples)
        fprintf(out, ",\"%s\":{\"samples\":%d,\"min\":%.6g,\"q1\":%.6g,\"median\":%.6g,\"q3\":%.6g,\"max\":%.6g}",
                key, s->samples, s->min, s->q1, s->median, s->q3, s->max);
}

static void put_result(FILE *out, const bench_result *r)
{
    const bench_case *c = &r->of;
    int64_t map_width = 0, map_height = 0;
    tm_map_size(c->domain, c->frame_width, c->frame_height, c->template_width, c->template_height,
                &map_width, &map_height);
    fprintf(out, "{\"frame\":[%lld,%lld],\"template\":[%lld,%lld],\"map\":[%lld,%lld]",
            (long long)c->frame_width, (long long)c->frame_height, (long long)c->template_width,
            (long long)c->template_height, (long long)map_width, (long long)map_height);
    put_text(out, "suite", c->suite);
    put_text(out, "metric", metrics[c->metric]);
    put_text(out, "domain", domains[c->domain]);
    put_text(out, "output", c->map ? "map" : "best");
    fprintf(out, ",\"templates\":%d", c->templates);
    if (c->table)
        fprintf(out, ",\"table\":%d", c->table);
    put_text(out, "algorithm", r->algorithm);
    put_text(out, "device", r->device);
    if (r->threads)
        fprintf(out, ",\"threads\":%d", r->threads);
    put_text(out, "status", statuses[r->status]);
    if (r->note[0])
        put_text(out, "note", r->note);
    if (r->plan[0])
        put_text(out, "plan", r->plan);
    if (r->check[0]) {
        put_text(out, "check", r->check);
        put_number(out, "max_abs_error", r->exact ? 0 : r->error.max_abs);
        put_number(out, "relative_error", r->exact ? 0 : r->error.relative);
        fprintf(out, ",\"not_finite\":%lld", (long long)r->error.not_finite);
    }
    put_spread(out, "kernel_ms", &r->kernel);
    put_spread(out, "cold_ms", &r->cold);
    put_spread(out, "call_ms", &r->call);
    put_spread(out, "to_device_ms", &r->to_device);
    put_spread(out, "from_device_ms", &r->from_device);
    if (r->device_memory)
        put_number(out, "device_memory", (double)r->device_memory);
    putc('}', out);
}

static void put_machine(FILE *out, const report *r)
{
    const machine *m = &r->machine;
    fprintf(out, "{\"schema\":1,\n\"machine\":{\"threads\":%d", m->devices[0].units);
    put_text(out, "tmatch", tm_version());
    put_text(out, "commit", m->commit);
    fprintf(out, ",\"dirty\":%s", m->dirty ? "true" : "false");
    put_text(out, "date", m->date);
    put_text(out, "command", r->command);
    put_text(out, "compiler", m->compiler);
    put_text(out, "cpu", m->devices[0].name);
    fprintf(out, ",\"seed\":%llu,\"gpus\":[", (unsigned long long)r->seed);
    for (int i = 1; i < m->device_count; i++) {
        fprintf(out, "%s{\"multiprocessors\":%d,\"memory\":%lld", i > 1 ? "," : "",
                m->devices[i].units, (long long)m->devices[i].memory_bytes);
        put_text(out, "name", m->devices[i].name);
        put_text(out, "detail", m->devices[i].detail);
        put_text(out, "driver", m->driver);
        putc('}', out);
    }
    putc(']', out);
    put_text(out, "no_cuda", m->device_count > 1 ? "" : m->no_cuda);
    put_number(out, "copy_rate", m->copy_rate);
    fputs("},\n\"missing\":[", out);
    for (int i = 0; i < r->missing_count; i++) {
        fprintf(out, "%s{\"status\":\"missing\"", i ? "," : "");
        put_text(out, "algorithm", r->missing[i].name);
        put_text(out, "note", r->missing[i].why);
        putc('}', out);
    }
    fputs("],\n\"results\":[\n", out);
}

static bool copy_file(FILE *out, const char *path)
{
    char buffer[4096];
    size_t got;
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    while ((got = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, got, out);
    const bool good = !ferror(in);
    fclose(in);
    return good;
}

const char *report_write(const report *r, const char *path)
{
    char temporary[4096];
    bool good = true;
    snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *out = fopen(temporary, "wb");
    if (!out)
        return "cannot be written";

    put_machine(out, r);
    for (int i = 0; i < r->count; i++) {
        if (i)
            fputs(",\n", out);
        put_result(out, &r->results[i]);
    }
    fputs("\n]", out);
    if (r->peers) {
        fputs(",\n\"peers\":", out);
        good = copy_file(out, r->peers);
    }
    fputs("}\n", out);
    good &= !ferror(out);
    good &= fclose(out) == 0;
    if (good && rename(temporary, path) == 0)
        return NULL;
    remove(temporary);
    return good ? "cannot be replaced" : "cannot be written, or the peers' file cannot be read";
}
