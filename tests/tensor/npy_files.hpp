#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tensor/npy.hpp"

// .npy files made by hand, byte by byte, so that the tests of the reader do not depend on the writer.

namespace course::test {

/// Magic, version, length and the dictionary as it is given, without padding.
inline std::string npy_preamble(std::string_view dictionary, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0'};
  for (std::size_t i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  }
  return bytes + std::string(dictionary);
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The message of the NpyError that a call must throw.
template <class Call>
std::string npy_error(const Call& call) {
  try {
    call();
  } catch (const NpyError& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace course::test
