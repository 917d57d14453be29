// SPDX-FileCopyrightText: 2026 The Stripewise developers
// SPDX-License-Identifier: BSD-3-Clause
//
// adwriter FILE: the C++ interface of ADIOS2; floats and a single value, written and read back,
// the floats also as a block; then a block that is not there.
// Exceptions pass before and after, and are caught; then six bytes go to after-RANK.txt.
#include <adios2.h>
#include <mpi.h>

#include <fstream>
#include <iostream>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

static const size_t elements = 4096;

static int failures(adios2::ADIOS &adios, int number)
{
    adios2::IO io = adios.DeclareIO("missing" + std::to_string(number));
    try {
        adios2::Engine engine = io.Open("missing.bp", adios2::Mode::Read, MPI_COMM_SELF);
    } catch (const std::exception &) {
        return 1;
    }
    return 0;
}

// ADIOS2 2.12 reads nothing, and throws only where it is asked how much that is.
static bool no_block(adios2::Engine &reader, adios2::Variable<float> &variable)
{
    std::vector<float> nothing(elements);
    variable.SetBlockSelection(1000);
    reader.Get(variable, nothing.data(), adios2::Mode::Sync);
    return std::uncaught_exceptions() == 0;
}

int main(int argc, char **argv)
{
    int rank = 0, size = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        adios2::ADIOS adios(MPI_COMM_WORLD);
        int caught = failures(adios, 1);
        adios2::IO io = adios.DeclareIO("writer");
        auto field = io.DefineVariable<float>("field", {size * elements}, {rank * elements},
                                              {elements}, adios2::ConstantDims);
        auto value = io.DefineVariable<int>("value");
        std::vector<float> data(elements, float(rank + 1));
        adios2::Engine engine = io.Open(argv[1], adios2::Mode::Write);
        engine.BeginStep();
        engine.Put(field, data.data());
        engine.Put("value", 7);
        engine.PerformPuts();
        engine.EndStep();
        engine.Close();
        caught += failures(adios, 2);
        std::ofstream("after-" + std::to_string(rank) + ".txt") << "after\n";
        adios2::IO input = adios.DeclareIO("reader");
        adios2::Engine reader = input.Open(argv[1], adios2::Mode::Read);
        reader.BeginStep();
        std::vector<float> found;
        auto variable = input.InquireVariable<float>("field");
        variable.SetSelection({{rank * elements}, {elements}});
        reader.Get(variable, found, adios2::Mode::Sync);
        std::vector<float> block(elements);
        variable.SetBlockSelection(size_t(rank));
        reader.Get(variable, block.data(), adios2::Mode::Sync);
        bool right = no_block(reader, variable);
        reader.EndStep();
        reader.Close();
        if (rank == 0)
            std::cout << "caught " << caught << " parameters " << io.Parameters().size()
                      << (right && found == data && block == data ? " right" : " wrong") << std::endl;
    }
    MPI_Finalize();
    return 0;
}
