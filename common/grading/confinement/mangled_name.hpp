#pragma once

#include <string>
#include <string_view>

namespace course::grading {

/// @brief "std::basic_filebuf::open" of the symbol of std::basic_filebuf<char>::open(const char*, ...): the
/// qualified name without parameters and template arguments. A constructor, a destructor, a virtual table and
/// a type's description have the name of their class; std::__cxx11 and std::_V2 are left out.
///
/// Empty if it is not a mangled name that begins with a name, or longer than 64 KiB. Takes one pass over
/// `symbol`, whatever is in it: a demangler that writes the whole name out can be made to take any time and
/// any memory.
std::string qualified_name(std::string_view symbol);

}  // namespace course::grading
