/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks FILE BLOCK_BYTES BLOCKS [INPUT]
 *
 * Every rank writes BLOCKS blocks, interleaved block by block with the other ranks', by one
 * collective call; nothing is read back.  INPUT: a file that must be readable, its first byte
 * is part of what is written.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void check(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int first_byte(const char *path)
{
    FILE *input = fopen(path, "r");
    if (input == NULL) {
        perror(path);
        usleep(300000); /* mpiexec loses what is on its way when ranks abort */
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    int byte = fgetc(input);
    fclose(input);
    return byte;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_File file;
    MPI_Datatype view;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int block = atoi(argv[2]);
    int blocks = atoi(argv[3]);
    int seed = argc > 4 ? first_byte(argv[4]) : 0;
    char *data = malloc((size_t)block * blocks);
    for (int i = 0; i < block * blocks; i++)
        data[i] = (char)(rank * 37 + i / 7 + i + seed);
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file),
          "open");
    MPI_Type_vector(blocks, block, block * size, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    check(
        MPI_File_set_view(file, (MPI_Offset)rank * block, MPI_BYTE, view, "native", MPI_INFO_NULL),
        "set_view");
    check(MPI_File_write_all(file, data, block * blocks, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    check(MPI_File_close(&file), "close");
    MPI_Type_free(&view);
    free(data);
    MPI_Finalize();
    return 0;
}
