#pragma once
/// @file
/// What a library built from a submission wants from other libraries, and whether it may have it. Looked at
/// before the library is loaded for the first time: what it imports says what it could do, short of machine
/// code of its own that asks the system directly, which the sandbox stops.

#include <string>
#include <string_view>
#include <vector>

#include "grading/project/toolchain.hpp"

namespace course::grading {

/// Symbols that a shared library wants from elsewhere, and libraries that it names. Without version suffixes,
/// sorted, none twice; the libraries in the order of the file.
struct Imports {
  std::vector<std::string> symbols;
  std::vector<std::string> libraries;
  /// Symbols that it defines and yet looks up: the loader takes the definition of another library if one has
  /// it. So a definition of `system` is a way to the C library's.
  std::vector<std::string> preemptible;
};

/// @brief Reads them as the loader would: through the dynamic section, from the symbol table and from the
/// symbols that relocations name. Weak symbols count. Cost: one pass over the relocations and the symbol
/// table; names are read up to a limit on their total length.
/// @throws std::invalid_argument in a sentence if it is not a 64-bit little-endian ELF shared library that
/// can be read, or one in which the loader might find something else than this does.
Imports read_imports(std::string_view elf_file_content);

/// @brief "" or a sentence for the student that names the first symbol (and how many more there are) or
/// library that import_list.cpp does not allow, and says what to do instead.
std::string forbidden_import(const Imports& imports, Backend backend);

/// @brief Whether the symbol is a function of the C or C++ library that CUDA does not have in kernels. Those
/// that check mode sees, and those that touch no memory of a kernel's, are none. Asks which names this
/// process knows, as it has these libraries.
bool is_host_function(std::string_view symbol);

/// @brief Whether the symbol is a function that the C library or the compiler's own has, or one of C++ that
/// allocates. Calls of a definition in the file itself would pass what check mode links in front of these.
bool is_library_function(std::string_view symbol);

}  // namespace course::grading
