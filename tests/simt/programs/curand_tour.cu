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
  CHECK_CURAND(curandSetGeneratorOffset(generator, n / 2));
  CHECK_CURAND(curandGenerate(generator, second, n / 2));
  const std::vector<unsigned int> all = taken(whole, n), half = taken(second, n / 2);
  expect(std::equal(half.begin(), half.end(), all.begin() + n / 2), "the offset is a place");

  float* floats = allocate<float>(n);
  CHECK_CURAND(curandGenerateUniform(generator, floats, n));
  expect_moments(taken(floats, n), 0.5, 1.0 / 12, what);
  floats = allocate<float>(n);
  CHECK_CURAND(curandGenerateNormal(generator, floats, n, 3, 2));
  expect_moments(taken(floats, n), 3, 4, what);
  expect(curandGenerateNormal(generator, floats, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "pairs");
  double* doubles = allocate<double>(n);
  CHECK_CURAND(curandGenerateLogNormalDouble(generator, doubles, n, 0, 0.5));
  expect_moments(taken(doubles, n), std::exp(0.125), (std::exp(0.25) - 1) * std::exp(0.25), what);
  unsigned int* counts = allocate<unsigned int>(n);
  CHECK_CURAND(curandGeneratePoisson(generator, counts, n, 4));
  expect_moments(taken(counts, n), 4, 4, what);
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

  curandGenerator_t generator;  // into memory of the host
  CHECK_CURAND(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  unsigned int first[4] = {};
  CHECK_CURAND(curandGenerate(generator, first, 4));
  CHECK_CURAND(curandDestroyGenerator(generator));
  std::printf(failures == 0 ? "Test PASSED\n" : "Test FAILED\n");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
