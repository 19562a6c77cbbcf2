#include "grading/base/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace course::grading {

namespace {

/// Names refer back to their own parts: each pair of references may double the whole.
bool may_be_demangled(std::string_view name) {
  constexpr std::size_t kLongest = 4000, kMostReferences = 40;
  std::size_t references = 0;
  for (std::size_t at = name.find_first_of("ST"); at < name.size(); at = name.find_first_of("ST", at + 1))
    if (const std::size_t end = name.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
        end < name.size() && name[end] == '_')
      ++references;
  return name.size() <= kLongest && references <= kMostReferences;
}

}  // namespace

std::string demangle(const char* name) {
  if (!may_be_demangled(name)) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace course::grading
