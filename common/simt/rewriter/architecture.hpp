#pragma once

#include "simt/rewriter/sequence.hpp"

namespace simt::rewriter {

/// @brief Where code for the device alone asks for `__CUDA_ARCH__`: in the bodies of functions that are
/// declared
/// `__global__` or `__device__` and not `__host__`, and in conditionals outside of functions that hold such
/// functions and none for the host. A function for both sides is compiled as on the host, and so is one in
/// which plain C++ stands as the alternative to inline PTX.
std::vector<Stretch> find_device_code(const Lexed& lexed, std::string_view file_name);

/// @brief Defines `__CUDA_ARCH__` in the file's device code, and nowhere else. Every line keeps its number.
void define_architecture(File& file);

}  // namespace simt::rewriter
