/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* With -DLIBRARY: an ADIOS2 that keeps the members of an IO object in another order.  Without: a
 * program that opens `out.bp` with it. */
#include <cstdio>
#include <map>
#include <string>

namespace adios2 {
enum class Mode { Undefined, Write };
namespace core {
class Engine
{
};
class IO
{
    std::string engine = "an engine with a name that is not kept inside of the string";
    std::map<std::string, std::string> parameters{{"own", "value"}};
    const void *rest[3] = {nullptr, nullptr, nullptr};
    Engine opened;

  public:
    Engine &Open(const std::string &name, Mode mode);
    std::map<std::string, std::string> &GetParameters();
    void SetParameter(std::string key, std::string value);
    void ClearParameters();
    void SetEngine(std::string name);
};
#ifdef LIBRARY
Engine &IO::Open(const std::string &name, Mode mode)
{
    std::printf("opened %s %d with %zu\n", name.c_str(), (int)mode, parameters.size());
    return opened;
}
std::map<std::string, std::string> &IO::GetParameters()
{
    std::puts("looked into");
    return parameters;
}
void IO::SetParameter(std::string key, std::string value)
{
    std::puts("changed");
    parameters[key] = value;
}
void IO::ClearParameters()
{
    std::puts("changed");
    parameters.clear();
}
void IO::SetEngine(std::string name)
{
    std::puts("changed");
    engine = name;
}
#endif
} // namespace core
} // namespace adios2

#ifndef LIBRARY
int main()
{
    adios2::core::IO io;
    io.Open("out.bp", adios2::Mode::Write);
    return 0;
}
#endif
