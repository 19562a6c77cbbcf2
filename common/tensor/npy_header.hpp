#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tensor/layout.hpp"

// The text in front of an .npy file's data. Source: NumPy's documentation of numpy.lib.format.
//
//   bytes 0..5   "\x93NUMPY"
//   bytes 6, 7   major and minor version
//   bytes 8...   length of the dictionary, little endian: 2 bytes in version 1, 4 bytes in versions 2 and 3
//   then         a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }

namespace course::detail {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
inline constexpr std::size_t kNpyVersionEnd = 8;  // bytes of magic and version

/// What the dictionary says.
struct NpyHeader {
  std::string descr;  // NumPy's code of the element type, "<f4"; "structured" for a list of fields
  bool fortran_order = false;
  Shape shape;
};

/// @brief Reads the dictionary.
/// @throws std::invalid_argument with the end of a sentence that begins "its header ".
NpyHeader parse_npy_header(std::string_view text);

/// @brief Everything in front of the data of a format 1.0 file in C order; a multiple of 64 bytes.
/// @throws std::invalid_argument if the shape has too many axes for the format.
std::string make_npy_preamble(std::string_view descr, const Shape& shape);

/// NumPy's name of an element type code: "float32" for "<f4" and ">f4"; the code itself if there is no name.
std::string npy_dtype_name(std::string_view descr);

}  // namespace course::detail
