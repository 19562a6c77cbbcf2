#pragma once
/// @file
/// From an address in compiled code to the line that the student wrote.

#include <cstdint>
#include <string>

#include "simt/runtime/call_stack.hpp"

namespace simt {

struct SourceLine {
  std::string file;  ///< empty if no debug information covers the address
  int line = 0;
  bool operator==(const SourceLine&) const = default;
};

/// @brief The innermost frame of user code: skips the runtime, the shim headers and the system's.
SourceLine user_line(const CallStack& stack);

/// @brief Where the innermost frame of user code lies in a header: the innermost line of a .cu file, which
/// led there. Line 0 if that frame is in a .cu file itself, or none is.
SourceLine calling_line(const CallStack& stack);

/// @brief Name of the function at `address`, demangled; empty if unknown.
std::string function_name(const void* address);

/// @brief The name as the program's author wrote it; the symbol itself if it is not mangled.
std::string demangle(const std::string& symbol);

/// @brief The function's own name: "flash" for both "flash<64, 32>" and "void ns::flash<64, 32>(float*)".
std::string base_name(const std::string& name);

/// @brief True if the address lies in the runtime itself (libsimt.so). Safe in a signal handler.
bool in_runtime(std::uintptr_t pc);

/// @brief The running program's file, also in a sandbox without /proc.
const char* own_program();

/// "kernel.cu:12" (without the folder), or an empty string for an unknown place.
std::string to_string(const SourceLine& line);

}  // namespace simt
