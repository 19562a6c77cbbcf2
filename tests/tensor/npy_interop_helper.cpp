// The C++ side of scripts/npy_interop.py.
//
//   npy_interop_helper copy IN OUT [IN OUT]...   reads each IN and writes it as OUT
//   npy_interop_helper round IN OUT              reads float32 and writes it as float16
//   npy_interop_helper make DIR                  writes arrays whose elements are their own linear indices

#include <cstdio>
#include <filesystem>
#include <string>

#include "tensor/npy.hpp"

namespace {

using namespace course;

template <class T>
void copy(const std::filesystem::path& in, const std::filesystem::path& out) {
  write_npy(out, read_npy<T>(in));
}

void copy_any(const std::filesystem::path& in, const std::filesystem::path& out) {
  const std::string dtype = peek_npy(in).dtype;
  if (dtype == "float32") return copy<float>(in, out);
  if (dtype == "float64") return copy<double>(in, out);
  if (dtype == "int32") return copy<std::int32_t>(in, out);
  if (dtype == "int64") return copy<std::int64_t>(in, out);
  if (dtype == "float16") return copy<float16>(in, out);
  if (dtype == "uint16") return copy<bfloat16>(in, out);
  throw NpyError("No tensor holds " + dtype + ".");
}

template <class T>
T element(std::int64_t i) {
  if constexpr (is_16_bit<T>)
    return T(static_cast<float>(i));
  else
    return static_cast<T>(i);
}

template <class T>
void make(const std::filesystem::path& folder, const std::string& dtype) {
  const Shape shape{5, 4, 3, 2};
  for (std::size_t rank = 0; rank <= shape.size(); ++rank) {
    Tensor<T> tensor(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(rank)));
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.at_linear(i) = element<T>(i);
    write_npy(folder / (dtype + "_" + std::to_string(rank) + ".npy"), tensor);
    if (rank >= 2)
      write_npy(folder / (dtype + "_" + std::to_string(rank) + "_transposed.npy"), tensor.transposed(0, 1));
  }
}

int run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "copy" && argc > 2 && argc % 2 == 0) {
    for (int i = 2; i < argc; i += 2) copy_any(argv[i], argv[i + 1]);
    return 0;
  }
  if (command == "round" && argc == 4) {
    write_npy(argv[3], read_npy<float>(argv[2]).to<float16>());
    return 0;
  }
  if (command == "make" && argc == 3) {
    make<float>(argv[2], "float32");
    make<double>(argv[2], "float64");
    make<std::int32_t>(argv[2], "int32");
    make<std::int64_t>(argv[2], "int64");
    make<float16>(argv[2], "float16");
    make<bfloat16>(argv[2], "uint16");
    return 0;
  }
  std::fprintf(stderr, "usage: %s copy IN OUT [IN OUT]... | round IN OUT | make DIR\n", argv[0]);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
