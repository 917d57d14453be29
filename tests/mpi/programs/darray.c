/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPI_Type_create_darray deals out to each rank, for tests.  Each line of standard input is
 *
 *     C|F RANKS ELEMENT_BYTES N_DIMS  (EXTENT b|c|n WIDTH PARTS) x N_DIMS
 *
 * with WIDTH 0 for the default.  Each line of the answer lists "rank:offset,length", in bytes, of
 * what the type selects: elements that are their own numbers are packed with it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIMS 8

struct request {
    int order, n_ranks, element_bytes, n_dims;
    int extent[MOST_DIMS], kind[MOST_DIMS], width[MOST_DIMS], parts[MOST_DIMS];
};

static int read_request(struct request *r)
{
    char order, kind;
    if (scanf(" %c %d %d %d", &order, &r->n_ranks, &r->element_bytes, &r->n_dims) != 4)
        return 0;
    r->order = order == 'C' ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < r->n_dims && d < MOST_DIMS; d++) {
        if (scanf("%d %c %d %d", &r->extent[d], &kind, &r->width[d], &r->parts[d]) != 4)
            return 0;
        r->kind[d] = kind == 'b'   ? MPI_DISTRIBUTE_BLOCK
                     : kind == 'c' ? MPI_DISTRIBUTE_CYCLIC
                                   : MPI_DISTRIBUTE_NONE;
        if (r->width[d] == 0)
            r->width[d] = MPI_DISTRIBUTE_DFLT_DARG;
    }
    return 1;
}

/* Packs an array whose elements are their own numbers, and prints runs of those. */
static void print_owned(const struct request *r, int rank)
{
    MPI_Datatype element, type;
    int elements = 1, bytes = 0, position = 0;
    for (int d = 0; d < r->n_dims; d++)
        elements *= r->extent[d];
    MPI_Type_contiguous(1, MPI_INT, &element);
    MPI_Type_create_darray(r->n_ranks, rank, r->n_dims, r->extent, r->kind, r->width, r->parts,
                           r->order, element, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    int *numbers = malloc((size_t)elements * sizeof *numbers);
    int *found = malloc((size_t)bytes + 1);
    for (int i = 0; i < elements; i++)
        numbers[i] = i;
    MPI_Pack(numbers, 1, type, found, bytes, &position, MPI_COMM_SELF);
    int n = bytes / (int)sizeof *found;
    for (int i = 0, first = 0; i < n; i++) {
        if (i + 1 < n && found[i + 1] == found[i] + 1)
            continue;
        printf(" %d:%d,%d", rank, found[first] * r->element_bytes,
               (i + 1 - first) * r->element_bytes);
        first = i + 1;
    }
    free(found);
    free(numbers);
    MPI_Type_free(&type);
    MPI_Type_free(&element);
}

int main(int argc, char **argv)
{
    struct request request;
    MPI_Init(&argc, &argv);
    while (read_request(&request)) {
        for (int rank = 0; rank < request.n_ranks; rank++)
            print_owned(&request, rank);
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
