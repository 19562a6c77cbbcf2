#pragma once
// cuRAND in kernels: the generators XORWOW and Philox4x32-10 and Sobol's sequences, and what can be drawn
// from them.

#include "simt_library.h"

#include "cuda_runtime.h"

#include "curand_api.h"
#include "simt_philox.h"
#include "simt_random_abi.h"

#define CURAND_KERNEL_H_
#define CURAND_2POW32_INV (2.3283064e-10f)

// What a generator remembers beside its place: the second of two normal numbers, which come in pairs.
struct SimtSpareNormals {  // without padding, and so are the states: programs copy them as a whole
  double twice;
  float single;
  bool has_single, has_twice, unused[2];
};

struct curandStateXORWOW {
  SimtXorwow generator;
  SimtSpareNormals spare;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
  uint4 ctr;           // the block of four words
  uint4 output;        // that block, once it is known
  uint2 key;           // the seed
  unsigned int STATE;  // how many of its words have been given
  unsigned int unused;
  SimtSpareNormals spare;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// ---- Places in the sequence ----

SIMT_SHIM_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                  unsigned long long offset, curandStateXORWOW_t* state) {
  state->generator = simt_xorwow(seed, subsequence, offset);
  state->spare = {};
}
SIMT_SHIM_INLINE void skipahead(unsigned long long steps, curandStateXORWOW_t* state) {
  state->generator = simt_xorwow_skip(state->generator, 0, steps);
}
SIMT_SHIM_INLINE void skipahead_sequence(unsigned long long subsequences, curandStateXORWOW_t* state) {
  state->generator = simt_xorwow_skip(state->generator, subsequences, 0);
}

namespace simt::shim {

SIMT_SHIM_INLINE uint4 philox_output(uint4 counter, uint2 key) noexcept {
  const PhiloxWords words = philox({{counter.x, counter.y, counter.z, counter.w}}, key.x, key.y);
  return make_uint4(words.at[0], words.at[1], words.at[2], words.at[3]);
}
SIMT_SHIM_INLINE unsigned int component(const uint4& words, unsigned int i) noexcept {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

/// The counter, a number of 128 bits, goes on; the lower half is the place in a subsequence.
SIMT_SHIM_INLINE void advance(curandStatePhilox4_32_10_t* state, unsigned long long blocks,
                              unsigned long long subsequences) noexcept {
  unsigned long long low = state->ctr.x | (unsigned long long)state->ctr.y << 32,
                     high = state->ctr.z | (unsigned long long)state->ctr.w << 32;
  low += blocks;
  high += subsequences + (low < blocks);
  state->ctr = make_uint4((unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high,
                          (unsigned int)(high >> 32));
}

}  // namespace simt::shim

SIMT_SHIM_INLINE void skipahead(unsigned long long steps, curandStatePhilox4_32_10_t* state) {
  const unsigned long long words = state->STATE + steps % 4;
  simt::shim::advance(state, steps / 4 + words / 4, 0);
  state->STATE = (unsigned int)(words % 4);
  state->output = simt::shim::philox_output(state->ctr, state->key);
}
SIMT_SHIM_INLINE void skipahead_sequence(unsigned long long subsequences, curandStatePhilox4_32_10_t* state) {
  simt::shim::advance(state, 0, subsequences);
  state->output = simt::shim::philox_output(state->ctr, state->key);
}
SIMT_SHIM_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                  unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  state->output = make_uint4(0, 0, 0, 0);
  state->STATE = state->unused = 0;
  state->spare = {};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

// ---- Words ----

SIMT_SHIM_INLINE unsigned int curand(curandStateXORWOW_t* state) {
  return simt::shim::next(state->generator);
}

SIMT_SHIM_INLINE unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned int word = simt::shim::component(state->output, state->STATE++);
  if (state->STATE == 4) {
    simt::shim::advance(state, 1, 0);
    state->output = simt::shim::philox_output(state->ctr, state->key);
    state->STATE = 0;
  }
  return word;
}

SIMT_SHIM_INLINE uint4 curand4(curandStatePhilox4_32_10_t* state) {
  uint4 words;
  words.x = curand(state), words.y = curand(state), words.z = curand(state), words.w = curand(state);
  return words;
}

// ---- Numbers ----

template <class State>
SIMT_SHIM_INLINE float curand_uniform(State* state) {
  return simt::shim::uniform(curand(state));
}
SIMT_SHIM_INLINE double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned int low = curand(state), high = curand(state);
  return simt::shim::uniform_double(low, high);
}
/// Of a single word, as cuRAND's is; curand_uniform2_double() has all bits.
SIMT_SHIM_INLINE double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return curand(state) * 0x1p-32 + 0x1p-32;
}
/// Two by the method of Box and Muller.
template <class State>
SIMT_SHIM_INLINE float2 curand_normal2(State* state) {
  const float radius = sqrtf(-2.0f * logf(curand_uniform(state))), turn = curand_uniform(state);
  return make_float2(radius * sinpif(2.0f * turn), radius * cospif(2.0f * turn));
}
template <class State>
SIMT_SHIM_INLINE double2 curand_normal2_double(State* state) {
  const auto uniform = [state] {
    const unsigned int low = curand(state), high = curand(state);
    return simt::shim::uniform_double(low, high);
  };
  const double radius = sqrt(-2.0 * log(uniform())), angle = 6.283185307179586476925 * uniform();
  return make_double2(radius * sin(angle), radius * cos(angle));
}
template <class State>
SIMT_SHIM_INLINE float curand_normal(State* state) {
  if (state->spare.has_single) {
    state->spare.has_single = false;
    return state->spare.single;
  }
  const float2 pair = curand_normal2(state);
  state->spare.has_single = true;
  state->spare.single = pair.y;
  return pair.x;
}
template <class State>
SIMT_SHIM_INLINE double curand_normal_double(State* state) {
  if (state->spare.has_twice) {
    state->spare.has_twice = false;
    return state->spare.twice;
  }
  const double2 pair = curand_normal2_double(state);
  state->spare.has_twice = true;
  state->spare.twice = pair.y;
  return pair.x;
}
template <class State>
SIMT_SHIM_INLINE float curand_log_normal(State* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <class State>
SIMT_SHIM_INLINE double curand_log_normal_double(State* state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
template <class State>
SIMT_SHIM_INLINE float2 curand_log_normal2(State* state, float mean, float deviation) {
  const float2 pair = curand_normal2(state);
  return make_float2(expf(mean + deviation * pair.x), expf(mean + deviation * pair.y));
}
template <class State>
SIMT_SHIM_INLINE double2 curand_log_normal2_double(State* state, double mean, double deviation) {
  const double2 pair = curand_normal2_double(state);
  return make_double2(exp(mean + deviation * pair.x), exp(mean + deviation * pair.y));
}

// Philox gives four words at a time.
SIMT_SHIM_INLINE float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 words = curand4(state);
  return make_float4(simt::shim::uniform(words.x), simt::shim::uniform(words.y), simt::shim::uniform(words.z),
                     simt::shim::uniform(words.w));
}
SIMT_SHIM_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 words = curand4(state);
  return make_double2(simt::shim::uniform_double(words.x, words.y),
                      simt::shim::uniform_double(words.z, words.w));
}
SIMT_SHIM_INLINE float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const float2 first = curand_normal2(state), second = curand_normal2(state);
  return make_float4(first.x, first.y, second.x, second.y);
}
SIMT_SHIM_INLINE float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float deviation) {
  const float2 first = curand_log_normal2(state, mean, deviation),
               second = curand_log_normal2(state, mean, deviation);
  return make_float4(first.x, first.y, second.x, second.y);
}

/// Counts until the waiting times add up to one; a large mean in pieces, whose counts add up.
template <class State>
inline unsigned int curand_poisson(State* state, double mean) {
  constexpr double kPiece = 16.0;
  unsigned int count = 0;
  for (; mean > 0.0; mean -= kPiece) {
    const double bound = exp(-(mean < kPiece ? mean : kPiece));
    for (double product = curand_uniform(state); product > bound; product *= curand_uniform(state)) ++count;
  }
  return count;
}

// ---- Sobol's sequences ----

namespace simt::shim {

/// One dimension: place i of the sequence is the sum, without carry, of the direction vectors that the bits
/// of i's Gray code name.
template <class Word>
struct Sobol {
  Word i, x;
  Word direction_vectors[8 * sizeof(Word)];
};

template <class Word>
SIMT_SHIM_INLINE void sobol_skip(Sobol<Word>* state, Word steps) {
  const Word gray_before = state->i ^ (state->i >> 1);
  state->i += steps;
  Word change = gray_before ^ state->i ^ (state->i >> 1);
  for (int bit = 0; change != 0; ++bit, change >>= 1)
    if ((change & 1) != 0) state->x ^= state->direction_vectors[bit];
}
template <class Word>
SIMT_SHIM_INLINE void sobol_init(const Word* vectors, Word offset, Sobol<Word>* state) {
  state->i = state->x = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(Word); ++bit) state->direction_vectors[bit] = vectors[bit];
  sobol_skip(state, offset);
}
template <class Word>
SIMT_SHIM_INLINE Word sobol_next(Sobol<Word>* state) {
  const Word word = state->x;
  sobol_skip(state, Word{1});
  return word;
}

}  // namespace simt::shim

struct curandStateSobol32 : simt::shim::Sobol<unsigned int> {};
typedef struct curandStateSobol32 curandStateSobol32_t;
struct curandStateSobol64 : simt::shim::Sobol<unsigned long long> {};
typedef struct curandStateSobol64 curandStateSobol64_t;

SIMT_SHIM_INLINE void curand_init(const unsigned int* vectors, unsigned int offset,
                                  curandStateSobol32_t* state) {
  simt::shim::sobol_init<unsigned int>(vectors, offset, state);
}
SIMT_SHIM_INLINE void curand_init(const unsigned long long* vectors, unsigned long long offset,
                                  curandStateSobol64_t* state) {
  simt::shim::sobol_init<unsigned long long>(vectors, offset, state);
}
SIMT_SHIM_INLINE void skipahead(unsigned int steps, curandStateSobol32_t* state) {
  simt::shim::sobol_skip<unsigned int>(state, steps);
}
SIMT_SHIM_INLINE void skipahead(unsigned long long steps, curandStateSobol64_t* state) {
  simt::shim::sobol_skip<unsigned long long>(state, steps);
}
SIMT_SHIM_INLINE unsigned int curand(curandStateSobol32_t* state) {
  return simt::shim::sobol_next<unsigned int>(state);
}
SIMT_SHIM_INLINE unsigned long long curand(curandStateSobol64_t* state) {
  return simt::shim::sobol_next<unsigned long long>(state);
}

// Each number comes of one word, so that points stay evenly spread: normal numbers by their quantile.
SIMT_SHIM_INLINE float curand_uniform(curandStateSobol32_t* state) {
  return simt::shim::uniform(curand(state));
}
SIMT_SHIM_INLINE float curand_uniform(curandStateSobol64_t* state) {
  return simt::shim::uniform((unsigned int)(curand(state) >> 32));
}
SIMT_SHIM_INLINE double curand_uniform_double(curandStateSobol32_t* state) {
  return curand(state) * 0x1p-32 + 0x1p-32;
}
SIMT_SHIM_INLINE double curand_uniform_double(curandStateSobol64_t* state) {
  return (double)(curand(state) >> 11) * 0x1p-53 + 0x1p-54;
}
#define SIMT_SOBOL_NORMAL(STATE)                                                                    \
  SIMT_SHIM_INLINE double curand_normal_double(STATE* state) {                                      \
    return simt_normal_quantile(curand_uniform_double(state));                                      \
  }                                                                                                 \
  SIMT_SHIM_INLINE float curand_normal(STATE* state) { return (float)curand_normal_double(state); } \
  SIMT_SHIM_INLINE float curand_log_normal(STATE* state, float mean, float deviation) {             \
    return expf(mean + deviation * curand_normal(state));                                           \
  }                                                                                                 \
  SIMT_SHIM_INLINE double curand_log_normal_double(STATE* state, double mean, double deviation) {   \
    return exp(mean + deviation * curand_normal_double(state));                                     \
  }
SIMT_SOBOL_NORMAL(curandStateSobol32_t)
SIMT_SOBOL_NORMAL(curandStateSobol64_t)
#undef SIMT_SOBOL_NORMAL
