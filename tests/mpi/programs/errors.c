/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors MODE FILE: MPI-IO calls that fail.
 *   missing  open a file that is not there, default handler of files (returns)
 *   fatal    the same with MPI_ERRORS_ARE_FATAL on MPI_FILE_NULL
 *   handler  the same with a handler of the program's own
 *   info     open with an MPI_Info that was freed; errors return
 *   comms    handlers of MPI_COMM_WORLD and MPI_COMM_SELF are the program's after an open
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int handled;

static void handler(MPI_File *file, int *code, ...)
{
    int class;
    (void)file;
    MPI_Error_class(*code, &class);
    fprintf(stderr, "handler: class %d\n", class);
    handled++;
}

static void comm_handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

static void report(int code)
{
    int class;
    MPI_Error_class(code, &class);
    fprintf(stderr, "class %d\n", class);
}

static void check_comms(const char *path, MPI_File *file)
{
    MPI_Errhandler own, found;
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    MPI_Comm_create_errhandler(comm_handler, &own);
    for (int i = 0; i < 2; i++)
        MPI_Comm_set_errhandler(comms[i], own);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, file);
    MPI_File_close(file);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_call_errhandler(comms[i], MPI_ERR_OTHER);
        MPI_Comm_get_errhandler(comms[i], &found);
        MPI_Errhandler_free(&found);
    }
    fprintf(stderr, "handled %d\n", handled);
}

int main(int argc, char **argv)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler own;
    const char *path = argv[2];
    MPI_Init(&argc, &argv);
    if (strcmp(argv[1], "fatal") == 0)
        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    if (strcmp(argv[1], "handler") == 0) {
        MPI_File_create_errhandler(handler, &own);
        MPI_File_set_errhandler(MPI_FILE_NULL, own);
    }
    if (strcmp(argv[1], "info") == 0) {
        MPI_Info freed;
        MPI_Info_create(&info);
        freed = info;
        MPI_Info_free(&info);
        report(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, freed, &file));
    } else if (strcmp(argv[1], "comms") == 0) {
        check_comms(path, &file);
    } else {
        report(MPI_File_open(MPI_COMM_SELF, "there/is/no/such", MPI_MODE_RDONLY, MPI_INFO_NULL,
                             &file));
    }
    MPI_Finalize();
    return 0;
}
