// cuRAND for host code. Element i of an array comes from place i of the generator's one sequence, and the
// next array goes on behind it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "simt/libraries/curand_generator.hpp"
#include "simt/libraries/device_work.hpp"
#include "simt/shim/curand_api.h"
#include "simt/shim/simt_philox.h"
#include "simt/shim/simt_random_abi.h"

namespace {

using simt::Context;
using simt::LibraryCall;

/// The words of a sequence, from a place on.
class Words {
 public:
  Words(const curandGenerator_st& generator)
      : type_(generator.type), seed_(generator.seed), place_(generator.place), twister_(generator.twister) {
    if (type_ == CURAND_RNG_PSEUDO_XORWOW) xorwow_ = simt_xorwow(seed_, 0, place_);
  }

  std::uint32_t next() {
    if (type_ == CURAND_RNG_PSEUDO_XORWOW) return simt::shim::next(xorwow_);
    if (type_ == CURAND_RNG_PSEUDO_MT19937) return static_cast<std::uint32_t>(twister_());
    if (!known_ || place_ % 4 == 0) {
      block_ = simt::shim::philox(
          {{static_cast<std::uint32_t>(place_ / 4), static_cast<std::uint32_t>(place_ / 4 >> 32), 0, 0}},
          static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
      known_ = true;
    }
    return block_.at[place_++ % 4];
  }
  float uniform() { return simt::shim::uniform(next()); }
  double uniform_double() {
    const std::uint32_t low = next(), high = next();
    return simt::shim::uniform_double(low, high);
  }

 private:
  curandRngType type_;
  bool known_ = false;
  std::uint64_t seed_, place_;
  std::mt19937 twister_;
  SimtXorwow xorwow_{};
  simt::shim::PhiloxWords block_{};
};

constexpr double kTwoPi = 6.283185307179586476925;

/// Two normal numbers by the method of Box and Muller.
std::pair<float, float> normals(Words& words, float) {
  const float radius = std::sqrt(-2.0f * std::log(words.uniform()));
  const double angle = kTwoPi * static_cast<double>(words.uniform());
  return {radius * static_cast<float>(std::sin(angle)), radius * static_cast<float>(std::cos(angle))};
}
std::pair<double, double> normals(Words& words, double) {
  const double radius = std::sqrt(-2.0 * std::log(words.uniform_double()));
  const double angle = kTwoPi * words.uniform_double();
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

/// Counts until the waiting times add up to one; a large mean in pieces, whose counts add up.
unsigned int poisson(Words& words, double mean) {
  constexpr double kPiece = 16.0;
  unsigned int count = 0;
  for (; mean > 0.0; mean -= kPiece) {
    const double bound = std::exp(-std::min(mean, kPiece));
    for (double product = words.uniform(); product > bound; product *= words.uniform()) ++count;
  }
  return count;
}

/// Sobol's sequence from a place on, in one dimension: words of 64 bits, of which the 32-bit sequence has the
/// upper half.
class SobolWords {
 public:
  SobolWords(bool wide, unsigned dimension, std::uint64_t place) : place_(place) {
    for (unsigned bit = 0; bit < 64; ++bit)
      vectors_[bit] = wide       ? simt::sobol_vectors_64(dimension)[bit]
                      : bit < 32 ? std::uint64_t{simt::sobol_vectors_32(dimension)[bit]} << 32
                                 : 0;
    for (unsigned bit = 0; bit < 64; ++bit)
      if (((place ^ (place >> 1)) >> bit & 1) != 0) word_ ^= vectors_[bit];
  }
  std::uint64_t next() {
    const std::uint64_t word = word_;
    word_ ^= vectors_[__builtin_ctzll(~place_++)];
    return word;
  }

 private:
  std::uint64_t vectors_[64], place_, word_ = 0;
};

bool is_quasi(const curandGenerator_st& generator) { return generator.type >= CURAND_RNG_QUASI_DEFAULT; }

/// Queues `fill` of the array; `words_taken` words of the sequence are then used up.
template <class T, class Fill>
curandStatus_t generate(const char* function, curandGenerator_t generator, T* numbers, std::size_t count,
                        std::uint64_t words_taken, Fill fill) {
  simt::require_host_code();
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  Context& context = Context::get();
  const simt::ApiLock api_lock(context.mutex);
  if (context.sticky() != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
  if (!context.is_stream(generator->stream)) return CURAND_STATUS_LAUNCH_FAILURE;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  Words words(*generator);
  generator->place += words_taken;
  if (generator->type == CURAND_RNG_PSEUDO_MT19937) generator->twister.discard(words_taken);
  if (generator->fills_host_memory) {
    fill(words, numbers, count);
    return CURAND_STATUS_SUCCESS;
  }
  simt::queue_library_work(context, generator->stream, LibraryCall(function),
                           [numbers, count, words, fill](LibraryCall& call) mutable {
                             if (call.writes({"outputPtr", numbers, sizeof(T), count * sizeof(T)}))
                               fill(words, numbers, count);
                           });
  return CURAND_STATUS_SUCCESS;
}

/// Quasi-random numbers, all of one dimension before those of the next; `finish` makes of a word what is
/// asked for, and knows whether it has 64 bits.
template <class T, class Finish>
curandStatus_t generate_quasi(const char* function, curandGenerator_t generator, T* numbers,
                              std::size_t count, Finish finish) {
  const unsigned dimensions = generator->dimensions;
  if (count % dimensions != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  const bool wide = generator->type == CURAND_RNG_QUASI_SOBOL64;
  return generate(function, generator, numbers, count, count / dimensions,
                  [=, place = generator->place](Words&, T* to, std::size_t many) {
                    for (unsigned dimension = 0; dimension < dimensions; ++dimension) {
                      SobolWords words(wide, dimension, place);
                      for (std::size_t i = 0; i < many / dimensions; ++i) *to++ = finish(words.next(), wide);
                    }
                  });
}
double quasi_uniform(std::uint64_t word, bool wide) {
  return wide ? static_cast<double>(word >> 11) * 0x1p-53 + 0x1p-54
              : static_cast<double>(word >> 32) * 0x1p-32 + 0x1p-32;
}
double quasi_normal(std::uint64_t word, bool wide) { return simt_normal_quantile(quasi_uniform(word, wide)); }

/// Normal numbers, which come in pairs; `finish` makes of each what is asked for. Of an odd number of them
/// cuRAND's Philox and Mersenne twisters drop the last one's other half, and XORWOW refuses (seen on an H100,
/// CUDA 13.0).
template <class T, class Finish>
curandStatus_t generate_pairs(const char* function, curandGenerator_t generator, T* numbers,
                              std::size_t count, Finish finish) {
  if (generator != nullptr && is_quasi(*generator))
    return generate_quasi(function, generator, numbers, count, [finish](std::uint64_t word, bool wide) {
      return finish(static_cast<T>(quasi_normal(word, wide)));
    });
  if (generator != nullptr && generator->type == CURAND_RNG_PSEUDO_XORWOW && count % 2 != 0)
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(function, generator, numbers, count, (count + count % 2) * (sizeof(T) / sizeof(float)),
                  [finish](Words& words, T* to, std::size_t many) {
                    for (std::size_t i = 0; i < many; i += 2) {
                      const auto [first, second] = normals(words, T());
                      to[i] = finish(first);
                      if (i + 1 < many) to[i + 1] = finish(second);
                    }
                  });
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool fills_host_memory) {
  simt::require_host_code();
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
      type = CURAND_RNG_PSEUDO_XORWOW;
      break;
    case CURAND_RNG_QUASI_DEFAULT:
      type = CURAND_RNG_QUASI_SOBOL32;
      break;
    case CURAND_RNG_PSEUDO_MTGP32:  // another generator of the same family stands in for it
      type = CURAND_RNG_PSEUDO_MT19937;
      break;
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
      break;
    default: {
      Context& context = Context::get();
      const simt::ApiLock api_lock(context.mutex);
      context.misuse(
          cudaErrorNotSupported, "no_such_generator",
          "of cuRAND's generators, the simulator has XORWOW, PHILOX4_32_10, MT19937, MTGP32, SOBOL32 "
          "and SOBOL64.",
          "CURAND_STATUS_TYPE_ERROR");
      context.take_error();
      return CURAND_STATUS_TYPE_ERROR;
    }
  }
  *generator = new curandGenerator_st{.type = type, .fills_host_memory = fills_host_memory};
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (is_quasi(*generator)) return CURAND_STATUS_TYPE_ERROR;
  generator->seed = seed;
  generator->place = 0;
  generator->twister.seed(static_cast<std::uint32_t>(seed ^ seed >> 32));
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->type == CURAND_RNG_PSEUDO_MT19937) return CURAND_STATUS_TYPE_ERROR;  // it cannot leap
  generator->place = offset;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!is_quasi(*generator)) return CURAND_STATUS_TYPE_ERROR;
  if (dimensions == 0 || dimensions > simt::kSobolDimensions) return CURAND_STATUS_OUT_OF_RANGE;
  generator->dimensions = dimensions;
  generator->place = 0;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  const bool fits = (order == CURAND_ORDERING_QUASI_DEFAULT) == is_quasi(*generator);
  return fits ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* numbers, std::size_t count) {
  if (generator != nullptr && generator->type == CURAND_RNG_QUASI_SOBOL64) return CURAND_STATUS_TYPE_ERROR;
  if (generator != nullptr && is_quasi(*generator))
    return generate_quasi(__func__, generator, numbers, count,
                          [](std::uint64_t word, bool) { return static_cast<unsigned int>(word >> 32); });
  return generate(__func__, generator, numbers, count, count,
                  [](Words& words, unsigned int* to, std::size_t many) {
                    for (std::size_t i = 0; i < many; ++i) to[i] = words.next();
                  });
}
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* numbers,
                                      std::size_t count) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->type != CURAND_RNG_QUASI_SOBOL64) return CURAND_STATUS_TYPE_ERROR;
  return generate_quasi(__func__, generator, numbers, count,
                        [](std::uint64_t word, bool) { return static_cast<unsigned long long>(word); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* numbers, std::size_t count) {
  if (generator != nullptr && is_quasi(*generator))
    return generate_quasi(__func__, generator, numbers, count, [](std::uint64_t word, bool) {
      return simt::shim::uniform(static_cast<std::uint32_t>(word >> 32));
    });
  return generate(__func__, generator, numbers, count, count, [](Words& words, float* to, std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) to[i] = words.uniform();
  });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* numbers, std::size_t count) {
  if (generator != nullptr && is_quasi(*generator))
    return generate_quasi(__func__, generator, numbers, count, quasi_uniform);
  return generate(__func__, generator, numbers, count, 2 * count,
                  [](Words& words, double* to, std::size_t many) {
                    for (std::size_t i = 0; i < many; ++i) to[i] = words.uniform_double();
                  });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* numbers, std::size_t count,
                                    float mean, float deviation) {
  return generate_pairs(__func__, generator, numbers, count,
                        [=](float normal) { return mean + deviation * normal; });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* numbers, std::size_t count,
                                          double mean, double deviation) {
  return generate_pairs(__func__, generator, numbers, count,
                        [=](double normal) { return mean + deviation * normal; });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* numbers, std::size_t count,
                                       float mean, float deviation) {
  return generate_pairs(__func__, generator, numbers, count,
                        [=](float normal) { return std::exp(mean + deviation * normal); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* numbers, std::size_t count,
                                             double mean, double deviation) {
  return generate_pairs(__func__, generator, numbers, count,
                        [=](double normal) { return std::exp(mean + deviation * normal); });
}

// How many words a count takes is not known before: each array has a stretch of its own, of 2^16 words for
// each number. A Mersenne twister cannot leap, and starts anew.
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* numbers, std::size_t count,
                                     double mean) {
  if (!(mean > 0.0)) return CURAND_STATUS_OUT_OF_RANGE;
  if (generator != nullptr && is_quasi(*generator)) return CURAND_STATUS_TYPE_ERROR;
  const bool twister = generator != nullptr && generator->type == CURAND_RNG_PSEUDO_MT19937;
  const curandStatus_t status =
      generate(__func__, generator, numbers, count, twister ? 0 : static_cast<std::uint64_t>(count) << 16,
               [mean](Words& words, unsigned int* to, std::size_t many) {
                 for (std::size_t i = 0; i < many; ++i) to[i] = poisson(words, mean);
               });
  if (twister) generator->twister.seed(static_cast<std::uint32_t>(generator->twister()));
  return status;
}

}  // extern "C"
