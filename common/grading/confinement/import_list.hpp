#pragma once
/// @file
/// What a library built from a submission may use of other libraries: the list is in import_list.cpp, to be
/// read. Names are symbols; what follows an @ is a version and not looked at.

#include <string_view>

#include "grading/project/toolchain.hpp"

namespace course::grading {

/// @brief Whether a kernel may use this symbol of another library.
bool may_import(std::string_view symbol, Backend backend);

/// @brief Whether a kernel may define this symbol, though the loader looks for it in other libraries first:
/// it is one that may be imported, or none of theirs. Asks which names this process knows, as it has the
/// libraries that every process has; those of the simulator are told by the beginnings of their names.
bool may_define(std::string_view symbol, Backend backend);

/// @brief Whether a kernel may be linked with a library of this name.
bool may_need_library(std::string_view name, Backend backend);

/// @brief What to do instead of using a symbol that may not be imported: a sentence or two.
std::string_view advice(std::string_view symbol);

}  // namespace course::grading
