// The ways in which C++ programs write kernels: in namespaces, as class templates' helpers, with functors,
// lambdas, parameter packs, default arguments and deduced template parameters.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <utility>
#include <vector>

namespace lib {
namespace detail {
template <typename F, typename T>
__global__ void transform_kernel(T* data, std::size_t n, F f) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) data[i] = f(data[i]);
}
}  // namespace detail

template <typename T, typename F>
cudaError_t transform(T* data, std::size_t n, F f, cudaStream_t stream = nullptr) {
  constexpr int kThreads = 64;
  detail::transform_kernel<<<(n + kThreads - 1) / kThreads, kThreads, 0, stream>>>(data, n, f);
  return cudaGetLastError();
}

inline namespace v2 {
__global__ void fill(int* p, int n, int value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = value;
}
}  // namespace v2
}  // namespace lib

namespace {
template <class T>
struct Affine {
  T a, b;
  __host__ __device__ constexpr T operator()(T x) const { return a * x + b; }
};

template <class F, class G>
struct Compose {
  F f;
  G g;
  template <class T>
  __host__ __device__ auto operator()(T x) const -> decltype(g(f(x))) {
    return g(f(x));
  }
};

struct Counters {
  static __device__ int* slot(int* base, int i) { return base + i; }
  __device__ static void add(int* base, int i, int v) { atomicAdd(slot(base, i), v); }
};

enum class Mode : std::uint8_t { kSum, kMax };

template <Mode mode, typename... Columns>
__global__ void combine(int* out, int n, const Columns*... columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if constexpr (mode == Mode::kSum) {
    out[i] = (0 + ... + static_cast<int>(columns[i]));
  } else {
    int best = INT32_MIN;
    ((best = max(best, static_cast<int>(columns[i]))), ...);
    out[i] = best;
  }
  Counters::add(out, n, 1);
}

// A lambda that lives in the kernel, handed to a device function template.
template <typename Body>
__device__ void for_each_mine(int n, Body body) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) body(i);
}
__global__ void squares(int* out, int n) {
  __shared__ int offset;
  if (threadIdx.x == 0) offset = 7;
  __syncthreads();
  const int scale = 3;
  for_each_mine(n, [=](int i) { out[i] = scale * i * i; });
  __syncthreads();
  auto add = [&](int i) { out[i] += offset; };
  for_each_mine(n, add);
}
}  // namespace

int main() {
  using namespace lib;
  const int n = 300;
  int* d;
  short* s;
  cudaMalloc(&d, (n + 1) * sizeof(int));
  cudaMalloc(&s, n * sizeof(short));
  std::vector<int> h(n + 1);
  auto fetch = [&] { cudaMemcpy(h.data(), d, (n + 1) * sizeof(int), cudaMemcpyDeviceToHost); };
  int wrong = 0;

  lib::fill<<<1, 128>>>(d, n, 5);
  transform(d, n, Affine<int>{2, 1});
  transform(d, n, Compose<Affine<int>, Affine<int>>{{3, 0}, {1, -4}});
  fetch();
  for (int i = 0; i < n; ++i) wrong += h[i] != 29;

  squares<<<1, 96>>>(d, n);
  fetch();
  for (int i = 0; i < n; ++i) wrong += h[i] != 3 * i * i + 7;

  std::vector<short> columns(n);
  for (int i = 0; i < n; ++i) columns[i] = (short)(1000 - i * 10);
  int* e;
  cudaMalloc(&e, n * sizeof(int));
  cudaMemcpy(s, columns.data(), n * sizeof(short), cudaMemcpyHostToDevice);
  cudaMemcpy(e, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d, 0, (n + 1) * sizeof(int));
  combine<Mode::kSum><<<(n + 31) / 32, 32>>>(d, n, (const short*)s, (const int*)e);
  std::vector<int> before = h;
  fetch();
  for (int i = 0; i < n; ++i) wrong += h[i] != columns[i] + before[i];
  wrong += h[n] != n;
  combine<Mode::kMax, short, int, short><<<(n + 31) / 32, 32>>>(d, n, s, e, s);
  fetch();
  for (int i = 0; i < n; ++i) wrong += h[i] != (columns[i] > before[i] ? columns[i] : before[i]);
  cudaFree(d), cudaFree(e), cudaFree(s);
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaDeviceSynchronize()));
  return wrong != 0;
}
