/* SPDX-License-Identifier: MIT */
/* tmatch-bench: measures tmatch and what it is compared with, one command a question. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define BIT(name) (UINT32_C(1) << OPTION_##name)

static const bench_command commands[] = {
    {"match", "[FRAME,TEMPLATE]...", "Check, then time every algorithm on every device",
     "With the thesis's programs, cuFFT and NPP where they were built. A result of tmatch\n"
     "that differs from the exact one ends the run. Without --devices: cpu:1, cpu, all GPUs.\n",
     "short", NULL, 21, true,
     BIT(SUITE) | BIT(DEVICES) | BIT(ALGORITHMS) | BIT(METRIC) | BIT(DOMAIN) | BIT(BEST) |
         BIT(TEMPLATES) | BIT(SAMPLES) | BIT(BUDGET) | BIT(THESIS_LIMIT) | BIT(THREADS) |
         BIT(SEED) | BIT(JSON) | BIT(PEERS) | BIT(TABLES),
     bench_match},
    {"plan", "[FRAME,TEMPLATE]...", "How good the choice between direct and FFT is",
     "Whole calls for the best match by direct, fft and auto, in turns; on a GPU from\n"
     "pageable memory (suite grid) and from pinned (grid-pinned). A minute on an H200.\n",
     "grid", "cpu", 101, true, BIT(SUITE) | BIT(DEVICES) | BIT(SAMPLES) | BIT(LIMIT) | BIT(COSTS) | BIT(JSON),
     bench_plan},
    {"formats", "[FRAME,TEMPLATE]...",
     "What 16 bits, floats, colour, masks and the other metrics cost",
     "As multiples of LCC of 8-bit gray of the same size, best match only. A GPU repeats\n"
     "what lies on it (\"timed\": \"replay\"); on the CPU a sample is a whole match\n"
     "(\"match\"), and those of 8-bit gray take turns with each format's.\n",
     "2048,21 2048,64", "cpu", 41, true,
     BIT(DEVICES) | BIT(ALGORITHM) | BIT(FORMAT) | BIT(SAMPLES) | BIT(THREADS) | BIT(JSON),
     bench_formats},
    {"floats", "[FRAME,TEMPLATE]...", "Float pictures on the CPU, direct beside FFT",
     "Whole calls for the best match in noise of even light, the two in turns. \"again\"\n"
     "counts the windows that FFT made again directly.\n",
     "2048,64 2048,128 2048,256", "cpu", 9, true, BIT(SAMPLES) | BIT(THREADS) | BIT(JSON), bench_floats},
    {"peaks", "[FRAME,TEMPLATE]...", "What several matches cost beside the best one",
     "Whole calls, in smooth noise into which the template was planted 40 times.\n",
     "1920x1080,32 5020,21", "cpu", 41, true, BIT(DEVICES) | BIT(SAMPLES) | BIT(THREADS) | BIT(JSON),
     bench_peaks},
    {"devices", "[FRAME,TEMPLATE]...", "One frame over 1, 2, 4, ... GPUs",
     "Whole calls, the kernels alone, and the bus alone, which is a call's floor.\n",
     "32768,64", NULL, 31, true,
     BIT(FORMAT) | BIT(MAP) | BIT(PAGEABLE) | BIT(GPUS) | BIT(SAMPLES) | BIT(JSON), bench_devices},
    {"costs", NULL, "What the plan's cost model is fitted to, by fit_costs.py",
     "Processor time of one thread, so that a busy machine disturbs it little; on a GPU\n"
     "repeats of what lies on it. Takes some minutes.\n",
     NULL, "cpu,cuda:0", 9, true, BIT(DEVICES) | BIT(COPIES) | BIT(JSON), bench_costs},
    {"start", "nothing|load|init|context|init-left|context-left|tmatch|certified", "What starting CUDA takes, for start.py",
     "load, init and context go so far by the driver's API alone; where they are left, the process\n"
     "ends without what the driver does at an end. tmatch and certified open the first device and\n"
     "match twice, all windows or few. Prints a line of milliseconds for each phase.\n",
     NULL, NULL, 1, false, 0, bench_start},
#if BENCH_HAVE_PICTURES
    {"batch", "frames FOLDER COUNT PICTURE... | decode FRAME... | match TEMPLATE FRAME...",
     "Frames for batch.py, and the two halves of a batch by themselves",
     "frames makes 1920x1080 frames; decode only reads them, match only matches them, and\n"
     "both print the seconds that it took, without starting up.\n",
     NULL, NULL, 1, false, BIT(THREADS), bench_batch},
    {"certified", "FRAME TEMPLATE...", "Certified search beside exhaustive search, on a GPU",
     "The best match of pictures from files, the frame on the device. An answer of one that\n"
     "is not the other's ends the run. certified.py draws the pictures.\n",
     NULL, "cuda:0", 15, true, BIT(DEVICES) | BIT(SAMPLES) | BIT(JSON), bench_certified},
    {"frame", "SIZE FILE.pgm|FILE.png", "Write a frame of noise by rows, however large",
     "A PNG is stored, not compressed: noise has nothing to compress.\n", NULL, NULL, 1, false, 0,
     bench_frame},
#endif
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    puts("Usage: tmatch-bench COMMAND [OPTION]... [OPERAND]...\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].summary);
    puts("\n'tmatch-bench COMMAND --help' lists its options.\n"
         "Exit status: 0, 2 an error or a result that differs from the exact one.");
}

static char *join(int argc, char **argv)
{
    size_t size = 1;
    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    char *line = calloc(1, size);
    for (int i = 0; line && i < argc; i++) {
        strcat(line, i ? " " : "");
        strcat(line, argv[i]);
    }
    return line;
}

static bool measure(const bench_command *command, bench_options *options, const char *line)
{
    static bench_report report;
    report.command = line;
    report.path = options->json;
    report.peers = options->peers;
    report.seed = options->seed;
    modules_open();
    const bool good = report_open(&report) && command->run(options, &report);
    report_close(&report);
    modules_close();
    return good;
}

static bool run(const bench_command *command, int argc, char **argv)
{
    static bench_options options;
    bool help = false;
    char *line = join(argc, argv);
    bool good = line && bench_options_parse(&options, command, argc - 1, argv + 1, &help);

    if (good && !help)
        good = command->measures ? measure(command, &options, line) : command->run(&options, NULL);
    bench_options_free(&options);
    free(line);
    return good;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--help";

    if (strcmp(name, "--help") == 0) {
        print_help();
        return argc > 1 ? 0 : 2;
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return run(&commands[i], argc, argv) ? 0 : 2;
    }
    fprintf(stderr, "tmatch-bench: no such command: '%s'\nTry 'tmatch-bench --help'.\n", name);
    return 2;
}
