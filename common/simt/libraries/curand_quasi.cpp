// Sobol's sequences: the direction vectors, which Boost.Random has by Joe and Kuo's numbers.

#include <boost/math/special_functions/erf.hpp>
#include <boost/random/sobol.hpp>
#include <limits>
#include <mutex>
#include <vector>

#include "simt/libraries/curand_generator.hpp"
#include "simt/shim/simt_random_abi.h"

namespace {

/// The vectors of all dimensions, dimension by dimension. The sequence changes by vector k from place 2^k - 1
/// to place 2^k; Boost leaves out place 0, where all is 0.
template <class Word>
std::vector<Word> all_vectors() {
  constexpr unsigned kBits = std::numeric_limits<Word>::digits;
  std::vector<Word> vectors(std::size_t{simt::kSobolDimensions} * kBits);
  boost::random::sobol_engine<Word, kBits> points(simt::kSobolDimensions);
  for (unsigned bit = 0; bit < kBits; ++bit) {
    const auto visit = [&](Word place) {
      points.seed(place - 1);
      for (unsigned dimension = 0; dimension < simt::kSobolDimensions; ++dimension)
        vectors[std::size_t{dimension} * kBits + bit] ^= static_cast<Word>(points());
    };
    if (bit > 0) visit((Word{1} << bit) - 1);
    visit(Word{1} << bit);
  }
  return vectors;
}

}  // namespace

const std::uint32_t* simt::sobol_vectors_32(unsigned dimension) {
  static const auto* const vectors = new std::vector<std::uint32_t>(all_vectors<std::uint32_t>());
  return vectors->data() + std::size_t{32} * dimension;
}
const std::uint64_t* simt::sobol_vectors_64(unsigned dimension) {
  static const auto* const vectors = new std::vector<std::uint64_t>(all_vectors<std::uint64_t>());
  return vectors->data() + std::size_t{64} * dimension;
}

extern "C" {

double simt_normal_quantile(double probability) {
  constexpr double kRootOfTwo = 1.41421356237309504880;
  if (probability >= 1.0) return std::numeric_limits<double>::infinity();
  return -kRootOfTwo * boost::math::erfc_inv(2.0 * probability);
}

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[],
                                           curandDirectionVectorSet_t set) {
  if (vectors == nullptr || set != CURAND_DIRECTION_VECTORS_32_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
  *vectors =
      reinterpret_cast<curandDirectionVectors32_t*>(const_cast<std::uint32_t*>(simt::sobol_vectors_32(0)));
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[],
                                           curandDirectionVectorSet_t set) {
  if (vectors == nullptr || set != CURAND_DIRECTION_VECTORS_64_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
  *vectors =
      reinterpret_cast<curandDirectionVectors64_t*>(const_cast<std::uint64_t*>(simt::sobol_vectors_64(0)));
  return CURAND_STATUS_SUCCESS;
}

}  // extern "C"
