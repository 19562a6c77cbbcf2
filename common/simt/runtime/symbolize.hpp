#pragma once
/// @file
/// From an address in compiled code to the line that the student wrote.

#include <cstdint>
#include <string>
#include <vector>

#include "simt/findings.hpp"
#include "simt/runtime/call_stack.hpp"

namespace simt {

/// True for what names are made of.
bool is_name(char c);

struct SourceLine {
  std::string file;  ///< empty if no debug information covers the address
  int line = 0;
  bool operator==(const SourceLine&) const = default;
};

/// @brief The innermost frame of user code: skips the runtime, the shim headers and the system's.
SourceLine user_line(const CallStack& stack);

/// SourceCall::function of a lambda.
inline constexpr const char kLambda[] = "a lambda";

/// How a thread came to a place.
struct UserCalls {
  std::vector<SourceCall> calls;  ///< as in FindingSide, for kernels without the launch
  std::string kernel;             ///< the outermost function with its template arguments; empty if unknown
};

/// @brief All frames of user code. Cost: up to a microsecond each, and the source is read for its lines.
UserCalls user_calls(const CallStack& stack);

/// @brief The text of a source line, without the spaces around it; empty if the file cannot be read. A
/// relative name starts from the folder that SIMT_SOURCES names.
std::string source_text(const SourceLine& line);

/// @brief Name of the function at `address`, demangled; empty if unknown.
std::string function_name(const void* address);

/// @brief The name as the program's author wrote it; the symbol itself if it is not mangled.
std::string demangle(const std::string& symbol);

/// @brief The function's own name: "flash" for both "flash<64, 32>" and "void ns::flash<64, 32>(float*)".
std::string base_name(const std::string& name);

/// @brief The name as one writes it: without return type, namespaces and parameters, but with its template
/// arguments: "flash<Shape<64, 32>>" for "void ns::flash<ns::Shape<64, 32> >(float*)".
std::string written_name(const std::string& demangled);

/// @brief True if the address lies in the runtime itself (libsimt.so). Safe in a signal handler.
bool in_runtime(std::uintptr_t pc);

/// @brief The running program's file, also in a sandbox without /proc.
const char* own_program();

/// "kernel.cu:12" (without the folder), or an empty string for an unknown place.
std::string to_string(const SourceLine& line);

}  // namespace simt
