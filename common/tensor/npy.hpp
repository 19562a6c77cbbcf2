#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

// Arrays in NumPy's .npy files: format 1.0, 2.0 and 3.0, little and big endian, C and Fortran order.
// Element types: float (float32), double (float64), int32_t, int64_t, float16, and bfloat16, for which NumPy
// has no type: a file holds its numbers as words of 16 bits. They are written as uint16, and read from
// uint16, int16 and the two raw bytes ("V2") as which NumPy saves the bfloat16 of other packages.

namespace course {

/// An .npy file that cannot be read or written: one sentence with the file, what is wrong and what was
/// wanted.
class NpyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @brief What `tensor` means in a file, where its numbers would be misread: one sentence; else nothing.
template <class T>
constexpr std::string_view kNpyRemark = "";
template <>
inline constexpr std::string_view kNpyRemark<bfloat16> =
    "NumPy has no bfloat16: the file holds the numbers as words of 16 bits (uint16).";

/// What the header of an .npy file says.
struct NpyInfo {
  std::string
      dtype;  // NumPy's name ("float32", "int64", "complex128", "object"), or its code if it has no name
  Shape shape;
  bool fortran_order = false;
};

/// @brief Reads only the header, whatever the element type.
/// @throws NpyError if the file cannot be opened or its header is not one of an .npy file.
NpyInfo peek_npy(const std::filesystem::path& path);

/// @brief Reads an array. The tensor is contiguous and row-major, whichever order the file has.
/// Cost: one read into the final storage; one more pass if the file is big endian or in Fortran order.
/// @throws NpyError if the file cannot be read, is damaged or cut short, or holds another type: values are
/// never converted.
template <class T>
Tensor<T> read_npy(const std::filesystem::path& path);

/// @brief Writes an array in row-major order (format 1.0, little endian), replacing a file of that name.
/// The data go to a temporary file beside `path` that is renamed at the end, so `path` never holds half an
/// array: after a failure (disk full, folder read-only) it is what it was before, and no temporary file
/// remains.
/// @throws NpyError if the file cannot be written.
template <class T>
void write_npy(const std::filesystem::path& path, const Tensor<T>& tensor);

extern template Tensor<float> read_npy<float>(const std::filesystem::path&);
extern template Tensor<double> read_npy<double>(const std::filesystem::path&);
extern template Tensor<std::int32_t> read_npy<std::int32_t>(const std::filesystem::path&);
extern template Tensor<std::int64_t> read_npy<std::int64_t>(const std::filesystem::path&);
extern template Tensor<bfloat16> read_npy<bfloat16>(const std::filesystem::path&);
extern template Tensor<float16> read_npy<float16>(const std::filesystem::path&);

extern template void write_npy(const std::filesystem::path&, const Tensor<float>&);
extern template void write_npy(const std::filesystem::path&, const Tensor<double>&);
extern template void write_npy(const std::filesystem::path&, const Tensor<std::int32_t>&);
extern template void write_npy(const std::filesystem::path&, const Tensor<std::int64_t>&);
extern template void write_npy(const std::filesystem::path&, const Tensor<bfloat16>&);
extern template void write_npy(const std::filesystem::path&, const Tensor<float16>&);

}  // namespace course
