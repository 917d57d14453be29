/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/*
 * flatten PLUGIN FILE SEED TYPES: random datatypes, nested at will, are flattened by the plug-in
 * and by the MPI itself: MPI_Pack tells the order of all bytes, and a write through a view with
 * that filetype tells which bytes of the file it means.  Prints what was compared.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stripewise/plugin.h"

#define ORIGIN (1 << 14) /* of the buffer; datatypes reach to both sides */
#define ROOM (1 << 15)
#define DEPTH 3
#define MOST 4096 /* bytes of data in a datatype */

static unsigned long long state;

static int below(int n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)n);
}

/* ---- datatypes ------------------------------------------------------------------- */

static int fortran_types;
static int large;
static int
    no_filetype; /* ROMIO has trouble with those that are large, begin elsewhere, or are pairs */

static MPI_Datatype leaf(void)
{
    MPI_Datatype named[] = {MPI_BYTE,   MPI_SHORT,     MPI_INT,
                            MPI_DOUBLE, MPI_SHORT_INT, MPI_DOUBLE_INT};
    int which = below(6);
    MPI_Datatype type = named[which];
    no_filetype |= which >= 4;
    if (fortran_types && below(8) == 0)
        MPI_Type_create_f90_real(6, 30, &type);
    return type;
}

static MPI_Datatype array(MPI_Datatype old)
{
    MPI_Datatype type;
    int n = 1 + below(3), sizes[3], parts[3], starts[3];
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < n; i++) {
        sizes[i] = 1 + below(5);
        parts[i] = 1 + below(sizes[i]);
        starts[i] = below(sizes[i] - parts[i] + 1);
    }
#if MPI_VERSION >= 4
    if (large) {
        MPI_Count s[3], p[3], f[3];
        for (int i = 0; i < n; i++) {
            s[i] = sizes[i];
            p[i] = parts[i];
            f[i] = starts[i];
        }
        MPI_Type_create_subarray_c(n, s, p, f, order, old, &type);
        return type;
    }
#endif
    MPI_Type_create_subarray(n, sizes, parts, starts, order, old, &type);
    return type;
}

static MPI_Datatype distributed(MPI_Datatype old)
{
    static const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    MPI_Datatype type;
    int n = 1 + below(3), sizes[3], how[3], arguments[3], grid[3], ranks = 1;
    for (int i = 0; i < n; i++) {
        sizes[i] = 1 + below(7);
        how[i] = kinds[below(3)];
        grid[i] = how[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (how[i] == MPI_DISTRIBUTE_CYCLIC && below(2))
            arguments[i] = 1 + below(3);
        if (how[i] == MPI_DISTRIBUTE_BLOCK && below(2))
            arguments[i] = (sizes[i] + grid[i] - 1) / grid[i] + below(2);
#if defined(OPEN_MPI) /* 4.1 makes none for a process without elements */
        int block = (sizes[i] + grid[i] - 1) / grid[i];
        if (arguments[i] > 0 ? (grid[i] - 1) * arguments[i] >= sizes[i]
                             : (grid[i] - 1) * block >= sizes[i])
            grid[i] = 1;
        if (grid[i] == 1)
            arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
#endif
        ranks *= grid[i];
    }
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
#if MPI_VERSION >= 4
    if (large) {
        MPI_Count s[3];
        for (int i = 0; i < n; i++)
            s[i] = sizes[i];
        MPI_Type_create_darray_c(ranks, below(ranks), n, s, how, arguments, grid, order, old,
                                 &type);
        return type;
    }
#endif
    MPI_Type_create_darray(ranks, below(ranks), n, sizes, how, arguments, grid, order, old, &type);
    return type;
}

/* Lists that grow, sometimes with an empty block, sometimes backwards. */
static int lists(int lengths[4], int places[4], int step)
{
    int n = 1 + below(4), at = below(3);
    for (int i = 0; i < n; i++) {
        lengths[i] = i > 0 && below(6) == 0 ? 0 : 1 + below(3);
        places[i] = at * step;
        no_filetype |= lengths[i] == 0 || places[0] != 0;
        at += lengths[i] + below(3);
    }
    if (n == 3 && below(3) == 0) {
        int other = places[0];
        places[0] = places[2];
        places[2] = other;
        lengths[0] = lengths[1] = lengths[2] = 1;
    }
    return n;
}

static MPI_Datatype make(int depth);

static MPI_Datatype listed(MPI_Datatype old, int kind, int depth)
{
    MPI_Datatype type, olds[4] = {old, old, old, old};
    MPI_Aint lower, extent, bytes[4];
    int lengths[4], places[4];
    MPI_Type_get_extent(old, &lower, &extent);
    int n = lists(lengths, places, 1);
    for (int i = 0; i < n; i++)
        bytes[i] = places[i] * extent + (i > 0 ? below(2) : 0);
#if MPI_VERSION >= 4
    if (large && kind < 5) {
        MPI_Count l[4], p[4], b[4];
        for (int i = 0; i < n; i++) {
            l[i] = lengths[i];
            p[i] = places[i];
            b[i] = bytes[i];
        }
        switch (kind) {
        case 0:
            MPI_Type_indexed_c(n, l, p, old, &type);
            return type;
        case 1:
            MPI_Type_create_hindexed_c(n, l, b, old, &type);
            return type;
        case 2:
            MPI_Type_create_indexed_block_c(n, 1, p, old, &type);
            return type;
        case 3:
            MPI_Type_create_hindexed_block_c(n, 1, b, old, &type);
            return type;
        default:
            MPI_Type_create_struct_c(n, l, b, olds, &type);
            return type;
        }
    }
#endif
    switch (kind) {
    case 0:
        MPI_Type_indexed(n, lengths, places, old, &type);
        break;
    case 1:
        MPI_Type_create_hindexed(n, lengths, bytes, old, &type);
        break;
    case 2:
        MPI_Type_create_indexed_block(n, 1, places, old, &type);
        break;
    case 3:
        MPI_Type_create_hindexed_block(n, 1, bytes, old, &type);
        break;
    case 4:
        MPI_Type_create_struct(n, lengths, bytes, olds, &type);
        break;
    default: { /* of two different ones, the second behind the first */
        MPI_Datatype other = make(depth - 1);
        MPI_Aint true_lower, true_extent;
        MPI_Type_get_true_extent(old, &true_lower, &true_extent);
        olds[1] = other;
        lengths[0] = lengths[1] = 1;
        bytes[0] = 0;
        bytes[1] = true_lower + true_extent + 8;
        MPI_Type_create_struct(2, lengths, bytes, olds, &type);
        MPI_Type_free(&other);
    }
    }
    return type;
}

static MPI_Datatype strided(MPI_Datatype old, int kind)
{
    MPI_Datatype type;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(old, &lower, &extent);
    int count = 1 + below(4), block = 1 + below(3), stride = block + below(3);
#if !defined(OPEN_MPI) /* 4.1 packs hvectors that go backwards wrongly */
    if (below(8) == 0)
        stride = -stride;
#endif
#if MPI_VERSION >= 4
    if (large) {
        if (kind == 0)
            MPI_Type_contiguous_c(count, old, &type);
        else if (kind == 1)
            MPI_Type_vector_c(count, block, stride, old, &type);
        else
            MPI_Type_create_hvector_c(count, block, stride * extent + below(4), old, &type);
        return type;
    }
#endif
    if (kind == 0)
        MPI_Type_contiguous(count, old, &type);
    else if (kind == 1)
        MPI_Type_vector(count, block, stride, old, &type);
    else
        MPI_Type_create_hvector(count, block, stride * extent + below(4), old, &type);
    return type;
}

static MPI_Datatype resized(MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(old, &lower, &extent);
    int more = below(9);
#if MPI_VERSION >= 4
    if (large) {
        MPI_Type_create_resized_c(old, lower, extent + more, &type);
        return type;
    }
#endif
    if (below(4) == 0) {
        lower -= 4;
        no_filetype = 1;
    }
    MPI_Type_create_resized(old, lower, extent + more, &type);
    return type;
}

static MPI_Datatype derive(MPI_Datatype old, int depth)
{
    MPI_Datatype type;
    int how = below(8);
    no_filetype |= how <= 2 && depth < DEPTH; /* ROMIO repeats these at other extents */
    switch (how) {
    case 0:
        return array(old);
    case 1:
        return distributed(old);
    case 2:
        return resized(old);
    case 3:
        MPI_Type_dup(old, &type);
        return type;
    case 4:
    case 5:
        return strided(old, below(3));
    default:
        return listed(old, below(6), depth);
    }
}

/* What is not freed makes MPICH 4.0 pack wrongly after some hundred datatypes. */
static MPI_Datatype make(int depth)
{
    int derived = depth > 1 && below(4) != 0;
    MPI_Datatype old = derived ? make(depth - 1) : leaf();
    MPI_Datatype type = derive(old, depth);
    if (derived)
        MPI_Type_free(&old);
    return type;
}

/* ---- what the plug-in says -------------------------------------------------------- */

struct map {
    long at[MOST]; /* of each byte of data, in order */
    int n;
    int pieces;
};

static int visit(void *context, int64_t offset, int64_t bytes)
{
    struct map *map = context;
    map->pieces++;
    for (int64_t i = 0; i < bytes; i++) {
        if (map->n == MOST)
            return 1;
        map->at[map->n++] = (long)(offset + i);
    }
    return 0;
}

static void fail(int number, const char *what)
{
    fflush(stdout);
    printf("type %d: %s\n", number, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- what the MPI says -------------------------------------------------------------- */

static unsigned char buffer[2 * ORIGIN + ROOM];
static unsigned char packed[2][MOST];

static void compare_with_pack(MPI_Datatype type, const struct map *map, int number)
{
    int bytes;
    MPI_Type_size(type, &bytes);
    if (bytes != map->n)
        fail(number, "not as many bytes");
    for (int half = 0; half < 2; half++) {
        int position = 0;
        for (size_t i = 0; i < sizeof buffer; i++)
            buffer[i] = (unsigned char)(i >> 8 * half);
        MPI_Pack(buffer + ORIGIN, 1, type, packed[half], MOST, &position, MPI_COMM_SELF);
    }
    for (int i = 0; i < map->n; i++)
        if ((packed[0][i] | packed[1][i] << 8) != ((map->at[i] + ORIGIN) & 0xffff))
            fail(number, "another byte at that place");
}

/* May be a filetype: offsets grow and begin at 0 or later. */
static int grows(const struct map *map, MPI_Aint lower)
{
    for (int i = 1; i < map->n; i++)
        if (map->at[i] <= map->at[i - 1])
            return 0;
    return map->n > 0 && map->at[0] >= 0 && lower >= 0;
}

/* Two filetypes of data through a view that begins at byte 5. */
static int compare_with_view(MPI_Datatype type, const struct map *map, const char *path,
                             int number)
{
    static unsigned char expected[4 * ROOM], found[4 * ROOM];
    MPI_Aint lower, extent;
    MPI_File file;
    MPI_Type_get_extent(type, &lower, &extent);
    if (!grows(map, lower) || 2 * map->n > MOST || extent < map->at[map->n - 1] + 1)
        return 0;
    memset(expected, 0, sizeof expected);
    memset(found, 0, sizeof found);
    for (int i = 0; i < 2 * map->n; i++)
        expected[5 + map->at[i % map->n] + i / map->n * extent] = (unsigned char)(1 + i % 255);
    for (int i = 0; i < 2 * map->n; i++)
        packed[0][i] = (unsigned char)(1 + i % 255);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    /* ROMIO's data sieving writes what it likes into holes past the end. */
    MPI_File_write_at(file, 0, found, sizeof found, MPI_BYTE, MPI_STATUS_IGNORE);
    if (MPI_File_set_view(file, 5, MPI_BYTE, type, "native", MPI_INFO_NULL) != MPI_SUCCESS)
        fail(number, "no view");
    MPI_File_write_at(file, 0, packed[0], 2 * map->n, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fread(found, 1, sizeof found, stream) == 0)
        fail(number, "no file");
    fclose(stream);
    if (memcmp(expected, found, sizeof found) != 0)
        fail(number, "other bytes of the file");
    return 1;
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    void *library = dlopen(arguments[1], RTLD_NOW);
    const struct sw_plugin *(*get)(void) =
        library ? (const struct sw_plugin *(*)(void))dlsym(library, "sw_plugin_get") : NULL;
    int types = atoi(arguments[4]), packs = 0, views = 0, pieces = 0;
    state = (unsigned long long)atoll(arguments[3]);
    if (get == NULL)
        fail(0, "no plug-in");
    fortran_types = count > 5;
    for (int i = 0; i < types; i++) {
        static struct map map;
        MPI_Aint lower, extent;
        int64_t own_lower, own_extent;
        large = no_filetype = MPI_VERSION >= 4 && below(2);
        MPI_Datatype type = make(DEPTH);
        MPI_Aint true_lower, true_extent;
        int bytes;
        MPI_Type_commit(&type);
        MPI_Type_size(type, &bytes);
        MPI_Type_get_true_extent(type, &true_lower, &true_extent);
        if (bytes > MOST || true_lower < -ORIGIN || true_lower + true_extent > ROOM) {
            MPI_Type_free(&type);
            continue;
        }
        map.n = map.pieces = 0;
        if (get()->type_pieces((sw_handle)type, visit, &map) != 0)
            fail(i, "not looked into");
        MPI_Type_get_extent(type, &lower, &extent);
        if (get()->type_extent((sw_handle)type, &own_lower, &own_extent) != MPI_SUCCESS ||
            own_lower != lower || own_extent != extent)
            fail(i, "another extent");
        compare_with_pack(type, &map, i);
        packs++;
        if (!no_filetype && views < 40)
            views += compare_with_view(type, &map, arguments[2], i);
        pieces += map.pieces;
        MPI_Type_free(&type);
    }
    printf("%d types %d pieces %d views\n", packs, pieces, views);
    MPI_Finalize();
    return 0;
}
