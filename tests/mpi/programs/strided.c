/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided FILE MODE BLOCK_BYTES BLOCKS [key=value...]
 *
 * Every rank writes BLOCKS blocks, interleaved block by block with the other ranks' through a
 * file view, and reads them back.  MODE is independent, collective, nonblocking, split, at
 * (explicit offsets, no view), ordered, or with MPI_Count large, large-nonblocking and large-at.
 * key=value: the program's hints.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void check(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static MPI_Info program_hints(int argc, char **argv)
{
    MPI_Info info = MPI_INFO_NULL;
    for (int i = 5; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (info == MPI_INFO_NULL)
            MPI_Info_create(&info);
        *value = '\0';
        MPI_Info_set(info, argv[i], value + 1);
    }
    return info;
}

#if MPI_VERSION >= 4
static int large_at(MPI_File file, int writing, char *data, int bytes, int block)
{
    for (int i = 0; i < bytes / block; i++) {
        MPI_Offset offset = ((MPI_Offset)i * size + rank) * block;
        char *at = data + (size_t)i * block;
        check(writing
                  ? MPI_File_write_at_all_c(file, offset, at, block, MPI_BYTE, MPI_STATUS_IGNORE)
                  : MPI_File_read_at_all_c(file, offset, at, block, MPI_BYTE, MPI_STATUS_IGNORE),
              "large-at");
    }
    return MPI_SUCCESS;
}
#endif

static int transfer(MPI_File file, const char *mode, int writing, char *data, int bytes, int block)
{
    MPI_Request request;
    if (strcmp(mode, "independent") == 0)
        return writing ? MPI_File_write(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                       : MPI_File_read(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    if (strcmp(mode, "collective") == 0)
        return writing ? MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                       : MPI_File_read_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    if (strcmp(mode, "nonblocking") == 0) {
        check(writing ? MPI_File_iwrite(file, data, bytes, MPI_BYTE, &request)
                      : MPI_File_iread(file, data, bytes, MPI_BYTE, &request),
              "nonblocking");
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(mode, "split") == 0) {
        check(writing ? MPI_File_write_all_begin(file, data, bytes, MPI_BYTE)
                      : MPI_File_read_all_begin(file, data, bytes, MPI_BYTE),
              "begin");
        return writing ? MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE)
                       : MPI_File_read_all_end(file, data, MPI_STATUS_IGNORE);
    }
    if (strcmp(mode, "ordered") == 0)
        return writing ? MPI_File_write_ordered(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                       : MPI_File_read_ordered(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    if (strcmp(mode, "large") == 0)
        return writing ? MPI_File_write_all_c(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                       : MPI_File_read_all_c(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    if (strcmp(mode, "large-nonblocking") == 0) {
        check(writing ? MPI_File_iwrite_c(file, data, bytes, MPI_BYTE, &request)
                      : MPI_File_iread_c(file, data, bytes, MPI_BYTE, &request),
              "nonblocking");
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(mode, "large-at") == 0)
        return large_at(file, writing, data, bytes, block);
#endif
    if (strcmp(mode, "at") != 0)
        return MPI_ERR_ARG;
    for (int i = 0; i < bytes / block; i++) {
        MPI_Offset offset = ((MPI_Offset)i * size + rank) * block;
        check(writing ? MPI_File_write_at(file, offset, data + (size_t)i * block, block, MPI_BYTE,
                                          MPI_STATUS_IGNORE)
                      : MPI_File_read_at(file, offset, data + (size_t)i * block, block, MPI_BYTE,
                                         MPI_STATUS_IGNORE),
              "at");
    }
    return MPI_SUCCESS;
}

static void set_view(MPI_File file, const char *mode, int block, int blocks, MPI_Datatype *view)
{
    MPI_Type_vector(blocks, block, block * size, MPI_BYTE, view);
    MPI_Type_commit(view);
    if (strcmp(mode, "at") != 0 && strcmp(mode, "large-at") != 0 && strcmp(mode, "ordered") != 0)
        check(MPI_File_set_view(file, (MPI_Offset)rank * block, MPI_BYTE, *view, "native",
                                MPI_INFO_NULL),
              "set_view");
}

static void rewind_all(MPI_File file, const char *mode)
{
    if (strcmp(mode, "ordered") == 0)
        check(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek_shared");
    else
        check(MPI_File_seek(file, 0, MPI_SEEK_SET), "seek");
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Datatype view;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int block = atoi(argv[3]);
    int blocks = atoi(argv[4]);
    int bytes = block * blocks;
    char *data = malloc(bytes);
    char *again = malloc(bytes);
    for (int i = 0; i < bytes; i++)
        data[i] = (char)(rank * 37 + i / 7 + i);
    MPI_Info info = program_hints(argc, argv);
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
          "open");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    set_view(file, argv[2], block, blocks, &view);
    check(transfer(file, argv[2], 1, data, bytes, block), "write");
    check(MPI_File_sync(file), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    rewind_all(file, argv[2]);
    check(transfer(file, argv[2], 0, again, bytes, block), "read");
    if (memcmp(data, again, bytes) != 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
    check(MPI_File_close(&file), "close");
    MPI_Type_free(&view);
    free(data);
    free(again);
    MPI_Finalize();
    return 0;
}
