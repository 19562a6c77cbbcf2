#include "grading/calls/worker/kernel_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <string_view>

#include "grading/calls/worker/backend.hpp"

namespace course::grading {

void* load_kernel_library(const std::string& path) {
  static std::map<std::string, void*> loaded;
  if (const auto found = loaded.find(path); found != loaded.end()) return found->second;
  void* const library = [&] {
    const backend::HostCode host_code;  // its constructors
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  if (!library)
    throw std::runtime_error(
        fmt::format("The library built from your file cannot be loaded: {}.", dlerror()));
  loaded[path] = library;
  return library;
}

const EntryRecord& find_entry(void* library, const std::string& name, const std::string& signature) {
  using TableFunction = const EntryTable* (*)();
  const auto entries = reinterpret_cast<TableFunction>(dlsym(library, kEntryTableSymbol));
  if (!entries || !entries() || entries()->version != kEntryTableVersion)
    throw std::runtime_error(
        "The library built from your file has no table of entries. Build it again with ./course.");
  const EntryTable& table = *entries();
  for (std::uint32_t i = 0; i < table.count; ++i) {
    if (name != table.entries[i].name) continue;
    if (signature != table.entries[i].signature)
      throw std::runtime_error(fmt::format(
          "{} was built with other parameters than the test expects. Build the kernel again with ./course.",
          name));
    return table.entries[i];
  }
  throw std::runtime_error(fmt::format("Your file has no function {}; see the lesson's header.", name));
}

}  // namespace course::grading
