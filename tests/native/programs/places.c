/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Streams whose position does not follow from the calls alone: records at the end and a header at
 * the beginning, streams that append, and streams on descriptors that are not at the beginning. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 50
#define RECORD_BYTES 448
#define HEADER_BYTES 64

static char block[RECORD_BYTES];

static void put(FILE *stream, size_t bytes)
{
    if (fwrite(block, 1, bytes, stream) != bytes)
        exit(1);
}

/* A number of bytes that was there before the program. */
static void make(const char *path, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        exit(1);
    close(fd);
}

static void header_and_records(void)
{
    FILE *stream = fopen("records", "w+");
    put(stream, HEADER_BYTES);
    for (int i = 0; i < RECORDS; i++) {
        fseek(stream, 0, SEEK_END);
        put(stream, RECORD_BYTES);
        fseek(stream, 0, SEEK_SET);
        put(stream, HEADER_BYTES);
    }
    fclose(stream);
}

static void from_the_end(void)
{
    fpos_t place;
    make("back", 10000);
    FILE *stream = fopen("back", "r+");
    fseeko(stream, -1000, SEEK_END);
    fgetpos(stream, &place);
    put(stream, 100); /* 9000 to 9100 */
    fsetpos(stream, &place);
    put(stream, 200); /* 9000 to 9200 */
    rewind(stream);
    put(stream, 100);
    fflush(stream);
    if (ftruncate(fileno(stream), 5000) != 0)
        exit(1);
    fseek(stream, 0, SEEK_END);
    put(stream, 50); /* 5000 to 5050 */
    fclose(stream);
}

static void after_characters(void)
{
    make("characters", 3000);
    FILE *stream = fopen("characters", "r+");
    for (int i = 0; i < 10; i++)
        fgetc(stream);
    fseek(stream, 20, SEEK_CUR);
    put(stream, 5); /* 30 to 35 */
    fclose(stream);
}

static void append(void)
{
    for (int i = 0; i < 3; i++) {
        FILE *stream = fopen("appended", "a");
        put(stream, 300);
        fclose(stream);
    }
    make("read_and_appended", 2000);
    FILE *stream = fopen("read_and_appended", "a+");
    if (fread(block, 1, 10, stream) != 10)
        exit(1);
    fseek(stream, 0, SEEK_END);
    put(stream, 70);
    fclose(stream);
}

static void on_descriptors(void)
{
    make("within", 500);
    int fd = open("within", O_RDWR);
    lseek(fd, 200, SEEK_SET);
    FILE *stream = fdopen(fd, "r+");
    put(stream, 100); /* 200 to 300 */
    fclose(stream);

    make("to_the_end", 600);
    fd = open("to_the_end", O_WRONLY);
    stream = fdopen(fd, "a");
    put(stream, 40); /* 600 to 640 */
    fclose(stream);
}

static void put_characters(FILE *stream, int number)
{
    for (int i = 0; i < number; i++)
        fputc('c', stream);
}

static void by_characters(void)
{
    FILE *stream = fopen("put", "w");
    put_characters(stream, 10000);
    fclose(stream);

    make("pushed_back", 3000);
    stream = fopen("pushed_back", "r+");
    if (fread(block, 1, 10, stream) != 10)
        exit(1);
    ungetc('c', stream);
    fseek(stream, 0, SEEK_CUR);
    put(stream, 1); /* 9 to 10 */
    fclose(stream);
}

/* exit() writes what is left in them. */
static void leave_open(void)
{
    FILE *stream = fopen("left", "a");
    put(stream, 20);
    make("left_at_the_end", 100);
    stream = fopen("left_at_the_end", "r+");
    fseek(stream, 0, SEEK_END);
    put(stream, 20);
    stream = fopen("left_characters", "w");
    put_characters(stream, 5000);
}

int main(void)
{
    header_and_records();
    from_the_end();
    after_characters();
    append();
    on_descriptors();
    by_characters();
    leave_open();
    return 0;
}
