/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * two_files NAME NAME
 *
 * All ranks have both files open; each writes 256 KiB of the one, then of the other, collectively.
 * Rank 0 prints the seconds that each took.
 */
#include <mpi.h>
#include <stdio.h>

#define BYTES (256 << 10)

static char data[BYTES];

int main(int argc, char **argv)
{
    MPI_File files[2];
    double seconds[2];
    int rank;
    int code = argc != 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        code |= MPI_File_open(MPI_COMM_WORLD, argv[i + 1], MPI_MODE_CREATE | MPI_MODE_WRONLY,
                              MPI_INFO_NULL, &files[i]);
    for (int i = 0; i < 2 && code == 0; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        code |= MPI_File_write_at_all(files[i], (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE,
                                      MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        seconds[i] = MPI_Wtime() - start;
    }
    for (int i = 0; i < 2 && code == 0; i++)
        code |= MPI_File_close(&files[i]);
    if (rank == 0 && code == 0)
        printf("%f %f\n", seconds[0], seconds[1]);
    MPI_Finalize();
    return code != 0;
}
