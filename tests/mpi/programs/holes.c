/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a part of an array of bytes, so that the rest of the array is left out:
 *
 *     holes FILE collective|alone write|read ROWS COLUMNS R0 R1 C0 C1 PARTS_R PARTS_C
 * [KEY=VALUE]...
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hint(MPI_Info info, const char *word)
{
    char key[128];
    const char *value = strchr(word, '=');
    if (value == NULL || (size_t)(value - word) >= sizeof key)
        return;
    snprintf(key, sizeof key, "%.*s", (int)(value - word), word);
    MPI_Info_set(info, key, value + 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 12)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int n[8]; /* rows, columns, first and end of both, parts of both */
    for (int i = 0; i < 8; i++)
        n[i] = atoi(argv[4 + i]);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 12; i < argc; i++)
        hint(info, argv[i]);
    int block[2] = {(n[3] - n[2]) / n[6], (n[5] - n[4]) / n[7]};
    int start[2] = {n[2] + rank / n[7] * block[0], n[4] + rank % n[7] * block[1]};
    MPI_Datatype view;
    MPI_Type_create_subarray(2, n, block, start, MPI_ORDER_C, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    int size = block[0] * block[1];
    char *bytes = calloc((size_t)size, 1);
    MPI_File file;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    int code = MPI_File_open(MPI_COMM_WORLD, argv[1], mode, info, &file);
    if (code != MPI_SUCCESS || bytes == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
    int together = strcmp(argv[2], "collective") == 0;
    if (strcmp(argv[3], "write") == 0)
        code = (together ? MPI_File_write_at_all : MPI_File_write_at)(file, 0, bytes, size,
                                                                      MPI_BYTE, MPI_STATUS_IGNORE);
    else
        code = (together ? MPI_File_read_at_all : MPI_File_read_at)(file, 0, bytes, size, MPI_BYTE,
                                                                    MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_close(&file);
    MPI_Type_free(&view);
    MPI_Info_free(&info);
    free(bytes);
    MPI_Finalize();
    return 0;
}
