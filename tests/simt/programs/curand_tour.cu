// cuRAND: known answers of Philox in kernels and from the host, places in sequences, and the shapes of the
// distributions.

#include <curand.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}
#define CHECK_CURAND(call) expect((call) == CURAND_STATUS_SUCCESS, #call)

template <class T>
T* allocate(size_t count) {
  T* pointer = nullptr;
  if (cudaMalloc((void**)&pointer, count * sizeof(T)) != cudaSuccess) std::exit(EXIT_FAILURE);
  return pointer;
}
template <class T>
std::vector<T> taken(T* pointer, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(pointer);
  return values;
}

// What Philox's authors publish with Random123: the words for a counter and a key.
__global__ void known_answers(uint4* words) {
  curandStatePhilox4_32_10_t state;
  curand_init(0, 0, 0, &state);
  words[0] = curand4(&state);
  // The counter 0x03707344'13198a2e'85a308d3'243f6a88: its upper half is the subsequence, its lower half
  // counts blocks of four words.
  curand_init(0x299f31d0a4093822ull, 0x0370734413198a2eull, 0, &state);
  for (int quarter = 0; quarter < 4; ++quarter) skipahead(0x85a308d3243f6a88ull, &state);
  words[1] = curand4(&state);
}

/// Numbers that the toolkit's own header gives: see the host's side.
__global__ void documented_sequence(unsigned int* words, double* numbers) {
  curandStatePhilox4_32_10_t state;
  curand_init(1234567890123ull, 77, 5, &state);
  for (int i = 0; i < 6; ++i) words[i] = curand(&state);
  for (int i = 0; i < 3; ++i) numbers[i] = curand_uniform(&state);
  for (int i = 3; i < 7; ++i) numbers[i] = curand_normal(&state);
  for (int i = 7; i < 9; ++i) numbers[i] = curand_uniform_double(&state);
  for (int i = 9; i < 11; ++i) numbers[i] = curand_normal_double(&state);
  words[6] = curand4(&state).x;
  numbers[11] = curand_normal4(&state).w;
  numbers[12] = curand_uniform2_double(&state).y;
}

void check_documented_sequence() {
  const unsigned int words[] = {0xa142bb92u, 0x83dc4ab3u, 0x344e74dcu, 0xb33ed2e0u,
                                0x18571b9fu, 0x6e163737u, 0x7b0c4900u};
  const double numbers[] = {0.19826627,        0.58877945,         0.5017603,         -0.59517115,
                            0.43253273,        0.1034967,          -1.5679129,        0.927601265022531,
                            0.392310195835307, -0.260118756056967, 0.472143041653131, -0.16945976,
                            0.248745740480561};
  unsigned int* got_words = allocate<unsigned int>(7);
  double* got_numbers = allocate<double>(13);
  documented_sequence<<<1, 1>>>(got_words, got_numbers);
  const std::vector<unsigned int> as_words = taken(got_words, 7);
  const std::vector<double> as_numbers = taken(got_numbers, 13);
  for (int i = 0; i < 7; ++i) expect(as_words[i] == words[i], "Philox's words");
  for (int i = 0; i < 13; ++i) expect(std::fabs(as_numbers[i] - numbers[i]) < 1e-6, "Philox's numbers");
}

/// The same place by different ways.
template <class State>
__global__ void places(unsigned int* words) {
  State state;
  curand_init(42, 3, 0, &state);
  for (int i = 0; i < 1005; ++i) curand(&state);
  words[0] = curand(&state);
  curand_init(42, 3, 1005, &state);
  words[1] = curand(&state);
  curand_init(42, 0, 1000, &state);
  skipahead_sequence(3, &state);
  skipahead(5, &state);
  words[2] = curand(&state);
  curand_init(42, 4, 1005, &state);
  words[3] = curand(&state);  // another subsequence
  curand_init(43, 3, 1005, &state);
  words[4] = curand(&state);  // another seed
}

template <class State>
__global__ void set_up(State* states) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(1234, i, 0, &states[i]);
}
template <class State>
__global__ void draw(State* states, float* uniforms, float* normals, unsigned int* counts, int each) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  State state = states[i];
  for (int n = 0; n < each; ++n) {
    uniforms[n * threads + i] = curand_uniform(&state);
    normals[n * threads + i] = curand_normal(&state);
    counts[n * threads + i] = curand_poisson(&state, 20.0);
  }
  states[i] = state;
}

template <class T>
void expect_moments(const std::vector<T>& values, double mean, double variance, const char* what) {
  double sum = 0, squares = 0;
  for (const T value : values) sum += value, squares += (double)value * value;
  const double n = values.size(), got = sum / n, spread = squares / n - got * got;
  expect(std::fabs(got - mean) < 5 * std::sqrt(variance / n), what);
  expect(std::fabs(spread / variance - 1) < 0.06, what);
}

template <class State>
void check_device(const char* what) {
  unsigned int* words = allocate<unsigned int>(5);
  places<State><<<1, 1>>>(words);
  const std::vector<unsigned int> got = taken(words, 5);
  expect(got[0] == got[1] && got[0] == got[2] && got[0] != got[3] && got[0] != got[4], what);

  const int threads = 512, each = 20;
  State* states = allocate<State>(threads);
  float *uniforms = allocate<float>(threads * each), *normals = allocate<float>(threads * each);
  unsigned int* counts = allocate<unsigned int>(threads * each);
  set_up<<<threads / 128, 128>>>(states);
  draw<<<threads / 128, 128>>>(states, uniforms, normals, counts, each);
  const std::vector<float> drawn = taken(uniforms, threads * each);
  for (const float value : drawn) expect(value > 0.0f && value <= 1.0f, "(0, 1]");
  expect_moments(drawn, 0.5, 1.0 / 12, what);
  expect_moments(taken(normals, threads * each), 0, 1, what);
  expect_moments(taken(counts, threads * each), 20, 20, what);
  cudaFree(states);
}

void check_host(curandRngType_t type, const char* what) {
  curandGenerator_t generator;
  CHECK_CURAND(curandCreateGenerator(&generator, type));
  CHECK_CURAND(curandSetPseudoRandomGeneratorSeed(generator, 77));
  const size_t n = 20000;
  unsigned int *whole = allocate<unsigned int>(n), *second = allocate<unsigned int>(n / 2);
  CHECK_CURAND(curandGenerate(generator, whole, n));
  if (type == CURAND_RNG_PSEUDO_MTGP32) {
    expect(curandSetGeneratorOffset(generator, n / 2) == CURAND_STATUS_TYPE_ERROR, "a twister cannot leap");
  } else {
    CHECK_CURAND(curandSetGeneratorOffset(generator, n / 2));
    CHECK_CURAND(curandGenerate(generator, second, n / 2));
    const std::vector<unsigned int> all = taken(whole, n), half = taken(second, n / 2);
    expect(std::equal(half.begin(), half.end(), all.begin() + n / 2), "the offset is a place");
  }

  float* floats = allocate<float>(n);
  CHECK_CURAND(curandGenerateUniform(generator, floats, n));
  expect_moments(taken(floats, n), 0.5, 1.0 / 12, what);
  floats = allocate<float>(n);
  CHECK_CURAND(curandGenerateNormal(generator, floats, n, 3, 2));
  expect_moments(taken(floats, n), 3, 4, what);
  const bool in_pairs = type == CURAND_RNG_PSEUDO_DEFAULT;
  floats = allocate<float>(3);
  expect(curandGenerateNormal(generator, floats, 3, 0, 1) ==
             (in_pairs ? CURAND_STATUS_LENGTH_NOT_MULTIPLE : CURAND_STATUS_SUCCESS),
         "pairs");
  double* doubles = allocate<double>(n);
  CHECK_CURAND(curandGenerateLogNormalDouble(generator, doubles, n, 0, 0.5));
  expect_moments(taken(doubles, n), std::exp(0.125), (std::exp(0.25) - 1) * std::exp(0.25), what);
  unsigned int* counts = allocate<unsigned int>(n);
  CHECK_CURAND(curandGeneratePoisson(generator, counts, n, 4));
  expect_moments(taken(counts, n), 4, 4, what);
  CHECK_CURAND(curandDestroyGenerator(generator));
}

/// What the toolkit's own library gives for all dimensions that the simulator has, as a sum.
template <class Word, int kBits>
unsigned long long sum_of(Word (*vectors)[kBits]) {
  unsigned long long sum = 0;
  for (int dimension = 0; dimension < 3667; ++dimension)
    for (const Word vector : vectors[dimension]) sum = sum * 1000003 + vector;
  return sum;
}

__global__ void sobol_points(unsigned int (*vectors)[32], unsigned long long (*wide)[64], unsigned int* words,
                             double* numbers) {
  curandStateSobol32_t state;
  curandStateSobol64_t wide_state;
  curand_init(vectors[1], 0, &state);
  for (int i = 0; i < 8; ++i) words[i] = curand(&state);
  curand_init(vectors[1], 5, &state);
  skipahead(2, &state);
  words[8] = curand(&state);  // the same as words[7]
  curand_init(vectors[0], 0, &state);
  numbers[0] = curand_uniform_double(&state);
  numbers[1] = curand_uniform(&state);
  curand_init(vectors[0], 4, &state);
  numbers[2] = curand_normal(&state);
  curand_init(wide[0], 5, &wide_state);
  numbers[3] = curand_uniform_double(&wide_state);
}

void check_sobol() {
  curandDirectionVectors32_t *vectors, *on_device = allocate<curandDirectionVectors32_t>(2);
  curandDirectionVectors64_t *wide, *wide_on_device = allocate<curandDirectionVectors64_t>(1);
  CHECK_CURAND(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  CHECK_CURAND(curandGetDirectionVectors64(&wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
  expect(sum_of(vectors) == 0xb4b187b097d509cf, "Sobol's vectors of 32 bits");
  expect(sum_of(wide) == 0x519b9f4cba3258c9, "Sobol's vectors of 64 bits");

  cudaMemcpy(on_device, vectors, 2 * sizeof *vectors, cudaMemcpyHostToDevice);
  cudaMemcpy(wide_on_device, wide, sizeof *wide, cudaMemcpyHostToDevice);
  unsigned int* got_words = allocate<unsigned int>(9);
  double* got_numbers = allocate<double>(4);
  sobol_points<<<1, 1>>>(on_device, wide_on_device, got_words, got_numbers);
  const std::vector<unsigned int> words = taken(got_words, 9);
  const std::vector<double> numbers = taken(got_numbers, 4);
  cudaFree(on_device);
  cudaFree(wide_on_device);
  expect(words[8] == words[7], "a leap of Sobol's sequence");
  expect(numbers[0] == 0x1p-32 && numbers[1] == 0.5, "Sobol's uniform numbers");
  expect(std::fabs(numbers[2] + 0.318639) < 1e-5, "Sobol's normal numbers");
  expect(std::fabs(numbers[3] - 0.875) < 1e-9, "Sobol's sequence of 64 bits");

  curandGenerator_t generator;
  CHECK_CURAND(curandCreateGeneratorHost(&generator, CURAND_RNG_QUASI_SOBOL32));
  CHECK_CURAND(curandSetQuasiRandomGeneratorDimensions(generator, 2));
  unsigned int points[2][8];
  CHECK_CURAND(curandGenerate(generator, points[0], 16));  // dimension by dimension
  expect(std::equal(points[1], points[1] + 8, words.begin()), "Sobol's points from the host");
  const unsigned int first[] = {0, 0x80000000u, 0xc0000000u, 0x40000000u, 0x60000000u};
  expect(std::equal(first, first + 5, points[0]), "Sobol's first dimension");
  expect(curandGenerate(generator, points[0], 15) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "whole points");
  float normal[4];
  CHECK_CURAND(curandSetGeneratorOffset(generator, 4));
  CHECK_CURAND(curandGenerateNormal(generator, normal, 4, 0, 1));
  expect(std::fabs(normal[0] - numbers[2]) < 1e-5, "Sobol's normal numbers from the host");
  CHECK_CURAND(curandDestroyGenerator(generator));
}

int main() {
  uint4* words = allocate<uint4>(2);
  known_answers<<<1, 1>>>(words);
  const std::vector<uint4> known = taken(words, 2);
  expect(known[0].x == 0x6627e8d5u && known[0].y == 0xe169c58du && known[0].z == 0xbc57ac4cu &&
             known[0].w == 0x9b00dbd8u,
         "Philox of zeros");
  expect(known[1].x == 0xd16cfe09u && known[1].y == 0x94fdccebu && known[1].z == 0x5001e420u &&
             known[1].w == 0x24126ea1u,
         "Philox of the digits of pi");
  check_documented_sequence();
  check_device<curandState>("XORWOW");
  check_device<curandStatePhilox4_32_10_t>("Philox");
  check_host(CURAND_RNG_PSEUDO_DEFAULT, "XORWOW from the host");
  check_host(CURAND_RNG_PSEUDO_PHILOX4_32_10, "Philox from the host");

  check_host(CURAND_RNG_PSEUDO_MTGP32, "a Mersenne twister");
  check_sobol();

  curandGenerator_t generator;  // into memory of the host
  CHECK_CURAND(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  unsigned int first[4] = {};
  CHECK_CURAND(curandGenerate(generator, first, 4));
  CHECK_CURAND(curandDestroyGenerator(generator));
  std::printf(failures == 0 ? "Test PASSED\n" : "Test FAILED\n");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
