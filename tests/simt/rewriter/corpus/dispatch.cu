// Dispatch over types and flags by macros and immediately called lambdas.
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>

enum class ScalarType { Float, Double, Int };

#define DISPATCH_CASE(enum_type, type, ...) \
  case enum_type: {                         \
    using scalar_t = type;                  \
    return __VA_ARGS__();                   \
  }
#define DISPATCH(TYPE, ...)                                     \
  [&] {                                                         \
    switch (TYPE) {                                             \
      DISPATCH_CASE(ScalarType::Float, float, __VA_ARGS__)      \
      DISPATCH_CASE(ScalarType::Double, double, __VA_ARGS__)    \
      default: throw std::runtime_error("no <<<kernel>>> here"); \
    }                                                           \
  }()
#define BOOL_SWITCH(COND, CONST_NAME, ...)      \
  [&] {                                         \
    if (COND) {                                 \
      constexpr static bool CONST_NAME = true;  \
      return __VA_ARGS__();                     \
    } else {                                    \
      constexpr static bool CONST_NAME = false; \
      return __VA_ARGS__();                     \
    }                                           \
  }()

namespace native { namespace {

template <typename scalar_t, bool kInplace>
__global__ void relu_kernel(const scalar_t* in, scalar_t* out, int64_t n) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    (kInplace ? const_cast<scalar_t*>(in) : out)[i] = in[i] > scalar_t(0) ? in[i] : scalar_t(0);
}

} // anonymous namespace

void relu(ScalarType type, const void* in, void* out, int64_t n, cudaStream_t stream) {
  const dim3 block = 128, grid = (n + block.x - 1) / block.x;
  DISPATCH(type, [&] {
    BOOL_SWITCH(in == out, kInplace, [&] {
      relu_kernel<scalar_t, kInplace><<<grid, block, 0, stream>>>(
          static_cast<const scalar_t*>(in), static_cast<scalar_t*>(out), n);
    });
  });
}

} // namespace native
