/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes two kinds of files with opposite needs, independently through MPI-IO: in chk*.dat the
 * ranks' small pieces lie close together (data sieving writes them at once), in plt*.dat they lie
 * far apart (data sieving reads and writes what lies between them). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_PIECE = 256, CHECK_PIECES = 1 << 17, PLOT_PIECE = 4096, PLOT_PIECES = 240 };
static const int PLOT_STRIDE = 1 << 18;

static void write_file(const char *name, int piece, int pieces, int stride)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File_set_size(file, (MPI_Offset)stride * size * pieces);
    MPI_Datatype view;
    MPI_Type_vector(pieces, piece, stride * size, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, (MPI_Offset)rank * stride, MPI_BYTE, view, "native", MPI_INFO_NULL);
    char *data = malloc((size_t)piece * (size_t)pieces);
    memset(data, 'a' + rank, (size_t)piece * (size_t)pieces);
    MPI_File_write(file, data, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&view);
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int steps = argc > 1 ? atoi(argv[1]) : 1;
    char name[64];
    for (int step = 0; step < steps; step++) {
        snprintf(name, sizeof name, "chk%04d.dat", step);
        write_file(name, CHECK_PIECE, CHECK_PIECES, CHECK_PIECE);
        snprintf(name, sizeof name, "plt%04d.dat", step);
        write_file(name, PLOT_PIECE, PLOT_PIECES, PLOT_STRIDE);
    }
    MPI_Finalize();
    return 0;
}
