/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

#include "options.h"

static const char *const metrics[] = {"lcc", "ccorr"};
static const char *const domains[] = {"valid", "same", "full"};
static const char *const statuses[] = {"ok", "skipped", "failed", "wrong"};

static void print_machine(const bench_report *r)
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
    fflush(stdout);
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

static void print_result(const bench_result *r)
{
    printf("  %-8s %-23s", r->device, r->algorithm);
    if (r->threads)
        printf(" %3d", r->threads);
    else
        printf(" %3s", "");
    if (r->status != BENCH_OK) {
        printf(" %s: %s\n", statuses[r->status], r->note);
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
}

static void put_case(json *j, const bench_case *c)
{
    int64_t map_width = 0, map_height = 0;
    tm_map_size(c->domain, c->frame_width, c->frame_height, c->template_width, c->template_height,
                &map_width, &map_height);
    json_sizes(j, c);
    json_pair(j, "map", map_width, map_height);
    json_text(j, "metric", metrics[c->metric]);
    json_text(j, "domain", domains[c->domain]);
    json_text(j, "output", c->map ? "map" : "best");
    json_integer(j, "templates", c->templates);
    if (c->table)
        json_integer(j, "table", c->table);
}

bool report_result(bench_report *report, const bench_result *r)
{
    json *j = report_row(report, r->of.suite);

    print_result(r);
    fflush(stdout);
    put_case(j, &r->of);
    json_text(j, "algorithm", r->algorithm);
    json_text(j, "device", r->device);
    if (r->threads)
        json_integer(j, "threads", r->threads);
    json_text(j, "status", statuses[r->status]);
    if (r->note[0])
        json_text(j, "note", r->note);
    if (r->plan[0])
        json_text(j, "plan", r->plan);
    if (r->check[0]) {
        json_text(j, "check", r->check);
        json_number(j, "max_abs_error", r->exact ? 0 : r->error.max_abs);
        json_number(j, "relative_error", r->exact ? 0 : r->error.relative);
        json_integer(j, "not_finite", r->error.not_finite);
    }
    json_spread(j, "kernel_ms", &r->kernel);
    json_spread(j, "cold_ms", &r->cold);
    json_spread(j, "call_ms", &r->call);
    json_spread(j, "to_device_ms", &r->to_device);
    json_spread(j, "from_device_ms", &r->from_device);
    if (r->device_memory)
        json_integer(j, "device_memory", r->device_memory);
    return report_row_end(report, false);
}

static void put_machine(json *j, const bench_report *r)
{
    const machine *m = &r->machine;
    json_begin(j, "machine", '{');
    json_integer(j, "threads", m->devices[0].units);
    json_text(j, "tmatch", tm_version());
    json_text(j, "commit", m->commit);
    json_bool(j, "dirty", m->dirty);
    json_text(j, "date", m->date);
    json_text(j, "command", r->command);
    json_text(j, "compiler", m->compiler);
    json_text(j, "cpu", m->devices[0].name);
    json_integer(j, "seed", (int64_t)r->seed);
    json_begin(j, "gpus", '[');
    for (int i = 1; i < m->device_count; i++) {
        json_begin(j, NULL, '{');
        json_integer(j, "multiprocessors", m->devices[i].units);
        json_integer(j, "memory", m->devices[i].memory_bytes);
        json_text(j, "name", m->devices[i].name);
        json_text(j, "detail", m->devices[i].detail);
        json_text(j, "driver", m->driver);
        json_end(j, '}');
    }
    json_end(j, ']');
    json_text(j, "no_cuda", m->device_count > 1 ? "" : m->no_cuda);
    json_number(j, "copy_rate", m->copy_rate);
    json_end(j, '}');
}

static void put_missing(json *j, const bench_report *r)
{
    json_begin(j, "missing", '[');
    for (int i = 0; i < r->missing_count; i++) {
        json_begin(j, NULL, '{');
        json_text(j, "status", "missing");
        json_text(j, "algorithm", r->missing[i].name);
        json_text(j, "note", r->missing[i].why);
        json_end(j, '}');
    }
    json_end(j, ']');
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

/* Returns the fault, or NULL. */
static const char *write_file(bench_report *r)
{
    char temporary[4096];
    bool good = fflush(r->rows.out) == 0;
    snprintf(temporary, sizeof temporary, "%s.part", r->path);
    json j = {.out = fopen(temporary, "wb")};
    if (!j.out)
        return "cannot be written";

    json_begin(&j, NULL, '{');
    json_integer(&j, "schema", 1);
    put_machine(&j, r);
    put_missing(&j, r);
    json_begin(&j, "results", '[');
    fwrite(r->text, 1, r->size, j.out);
    json_end(&j, ']');
    if (r->peers) {
        fputs(",\n\"peers\":", j.out);
        good &= copy_file(j.out, r->peers);
    }
    fputs("}\n", j.out);
    good &= !ferror(j.out);
    good &= fclose(j.out) == 0;
    if (good && rename(temporary, r->path) == 0)
        return NULL;
    remove(temporary);
    return good ? "cannot be replaced" : "cannot be written, or the peers' file cannot be read";
}

static bool save(bench_report *r)
{
    const char *fault = r->path ? write_file(r) : NULL;
    return !fault || bench_fail(r->path, fault);
}

static void add_missing(bench_report *r, const char *name, const char *why)
{
    missing *m = &r->missing[r->missing_count++];
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(m->why, sizeof m->why, "%.190s", why);
}

bool report_open(bench_report *r)
{
    machine_describe(&r->machine);
    r->missing_count = modules_missing(r->missing);
    if (r->machine.device_count < 2)
        add_missing(r, "cuda", r->machine.no_cuda);
    else
        r->machine.copy_rate = modules_copy_rate(r->machine.devices[1].index);
    r->rows.out = open_memstream(&r->text, &r->size);
    if (!r->rows.out)
        return bench_fail("report", "out of memory");
    print_machine(r);
    return save(r);
}

void report_close(bench_report *r)
{
    if (r->rows.out)
        fclose(r->rows.out);
    free(r->text);
}

json *report_row(bench_report *r, const char *suite)
{
    fputs(r->count++ ? ",\n" : "\n", r->rows.out);
    r->rows.comma = false;
    json_begin(&r->rows, NULL, '{');
    json_text(&r->rows, "suite", suite);
    return &r->rows;
}

bool report_row_end(bench_report *r, bool print)
{
    json_end(&r->rows, '}');
    if (fflush(r->rows.out) != 0)
        return bench_fail("report", "out of memory");
    if (print) {
        const char *row = r->text + r->size;
        while (row > r->text && row[-1] != '\n')
            row--;
        puts(row);
        fflush(stdout);
    }
    return save(r);
}
