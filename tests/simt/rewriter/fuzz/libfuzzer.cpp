// The same properties under libFuzzer, which needs clang: build the target simt-rewrite-libfuzzer and run it
// on a folder.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string found =
      simt::fuzz::broken_property(std::string(reinterpret_cast<const char*>(data), size));
  if (found.empty()) return 0;
  std::fprintf(stderr, "%s\n", found.c_str());
  std::abort();
}
