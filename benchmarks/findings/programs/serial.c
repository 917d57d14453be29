// SPDX-FileCopyrightText: 2026 The Stripewise developers
// SPDX-License-Identifier: BSD-3-Clause
// Programs of one process with a planted fault, and the same without: serial CASE bad|good
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void fill(const char *path, size_t bytes)
{
    char *block = calloc(1, bytes);
    FILE *file = fopen(path, "wb");
    if (!block || !file || fwrite(block, 1, bytes, file) != bytes || fclose(file))
        die(path);
    free(block);
}

static int open_or_die(const char *path, int flags)
{
    const int file = open(path, flags, 0644);
    if (file < 0)
        die(path);
    return file;
}

// Particles of 48 bytes, each written by a call of its own; good: by way of a buffer.
static void records(int bad)
{
    char record[48] = {0};
    int file = bad ? open_or_die("records.dat", O_CREAT | O_TRUNC | O_WRONLY) : -1;
    FILE *stream = bad ? NULL : fopen("records.dat", "wb");
    if (stream)
        setvbuf(stream, NULL, _IOFBF, MIB);
    for (int i = 0; i < 1000000; i++) {
        memcpy(record, &i, sizeof i);
        if (bad ? write(file, record, 48) != 48 : fwrite(record, 48, 1, stream) != 1)
            die("write");
    }
    if (bad ? close(file) : fclose(stream))
        die("close");
}

// A table read number by number.
static void numbers(int bad)
{
    fill("numbers.dat", 16 * MIB);
    double value, sum = 0;
    int file = bad ? open_or_die("numbers.dat", O_RDONLY) : -1;
    FILE *stream = bad ? NULL : fopen("numbers.dat", "rb");
    if (stream)
        setvbuf(stream, NULL, _IOFBF, MIB);
    while (bad ? read(file, &value, 8) == 8 : fread(&value, 8, 1, stream) == 1)
        sum += value;
    if (bad ? close(file) : fclose(stream))
        die("close");
    if (sum < 0)
        puts("negative");
}

// A log that is opened and closed for every line.
static void journal(int bad)
{
    const char line[] = "step finished, residual 1.0e-12\n";
    int file = bad ? -1 : open_or_die("journal.log", O_CREAT | O_WRONLY | O_APPEND);
    for (int i = 0; i < 100000; i++) {
        if (bad)
            file = open_or_die("journal.log", O_CREAT | O_WRONLY | O_APPEND);
        if (write(file, line, sizeof line - 1) < 0)
            die("write");
        if (bad && close(file))
            die("close");
    }
    if (!bad && close(file))
        die("close");
}

// Whether a file is there and how long it is, asked before every piece of work.
static void poll(int bad)
{
    fill("control.txt", 100);
    struct stat found = {0};
    long total = 0;
    for (int i = 0; i < 500000; i++) {
        if ((bad || i == 0) && stat("control.txt", &found))
            die("stat");
        total += found.st_size;
    }
    if (total < 0)
        puts("negative");
}

// Records that are forced to the disk one by one.
static void ledger(int bad)
{
    char record[4096] = {1};
    const int file = open_or_die("ledger.dat", O_CREAT | O_TRUNC | O_WRONLY);
    for (int i = 0; i < 3000; i++) {
        if (write(file, record, sizeof record) < 0)
            die("write");
        if (bad && fsync(file))
            die("fsync");
    }
    if (fsync(file) || close(file))
        die("fsync");
}

// A table of 64 MiB that every step reads anew.
static void table(int bad)
{
    const size_t bytes = 64 * MIB;
    fill("table.dat", bytes);
    char *values = malloc(bytes);
    if (!values)
        die("malloc");
    long sum = 0;
    for (int step = 0; step < 40; step++) {
        if (bad || step == 0) {
            const int file = open_or_die("table.dat", O_RDONLY);
            for (size_t at = 0; at < bytes; at += 4 * MIB)
                if (read(file, values + at, 4 * MIB) != 4 * MIB)
                    die("read");
            if (close(file))
                die("close");
        }
        sum += values[step * 1000];
    }
    if (sum < 0)
        puts("negative");
    free(values);
}

// Entries of a table looked up where they lie in the file; good: the file is read once.
static void lookup(int bad)
{
    const size_t bytes = 16 * MIB, entry = 256;
    fill("lookup.dat", bytes);
    const int file = open_or_die("lookup.dat", O_RDONLY);
    char *all = malloc(bytes), found[256];
    if (!all)
        die("malloc");
    if (!bad)
        for (size_t at = 0; at < bytes; at += 4 * MIB)
            if (read(file, all + at, 4 * MIB) != 4 * MIB)
                die("read");
    unsigned long place = 1, sum = 0;
    for (int i = 0; i < 1000000; i++) {
        place = place * 6364136223846793005UL + 1442695040888963407UL;
        const size_t at = (place >> 33) % (bytes / entry) * entry;
        if (!bad)
            memcpy(found, all + at, entry);
        else if (pread(file, found, entry, (off_t)at) != (ssize_t)entry)
            die("pread");
        sum += (unsigned char)found[0];
    }
    if (sum == 1)
        puts("one");
    free(all);
    close(file);
}

// Nothing to mend: a checkpoint in large pieces, and a log through a buffer.
static void healthy(int bad)
{
    (void)bad;
    fill("checkpoint.dat", 512 * MIB);
    FILE *log = fopen("log.txt", "w");
    for (int i = 0; i < 300000; i++)
        fprintf(log, "step %d residual %g\n", i, 1.0 / (i + 1));
    if (fclose(log))
        die("log.txt");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int bad);
    } cases[] = {{"records", records}, {"numbers", numbers}, {"journal", journal},
                 {"poll", poll},       {"ledger", ledger},   {"table", table},
                 {"lookup", lookup},   {"healthy", healthy}};
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name))
            return cases[i].run(!strcmp(argv[2], "bad")), 0;
    fprintf(stderr, "usage: serial CASE bad|good\n");
    return 2;
}
