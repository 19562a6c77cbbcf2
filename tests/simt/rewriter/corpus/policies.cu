// Dependent names, packs and a launcher that forwards whatever it is given.
#include <cuda_runtime.h>

#include <tuple>
#include <type_traits>
#include <utility>

template <class... Ts> struct List {};
template <int N> using Int = std::integral_constant<int, N>;
template <class A, bool B = false> struct Wrap { using type = A; };

template <class Op, class L, int N, class T>
__global__ void apply(T* x, Op op) { if (threadIdx.x < N) x[threadIdx.x] = op(x[threadIdx.x]); }

struct Twice { template <class T> __host__ __device__ T operator()(T x) const { return x + x; } };

template <class T>
struct Policy {
  static constexpr int kThreads = 32;
  static dim3 grid(int n) { return dim3((n + kThreads - 1) / kThreads); }
  template <int N> static auto kernel() { return &apply<Twice, List<T, List<T>>, N, T>; }
};

template <class P, class T>
void run_policy(T* x, int n) {
  apply<Twice, List<List<Int<(4 > 3)>>, Wrap<T, (2 > 1)>>, P::kThreads, T><<<P::grid(n), P::kThreads>>>(x, Twice{});
  apply<Twice, List<List<Int<1>>>, (P::kThreads >> 1), typename Wrap<T>::type><<<P::grid(n), dim3(std::integral_constant<int, Int<32>::value>())>>>(x, Twice());
  P::template kernel<16>()<<<1, P::kThreads, sizeof(List<List<List<T>>>)>>>(x, Twice{});
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments&&... arguments) {
  kernel<<<grid, block>>>(std::forward<Arguments>(arguments)...);
}
template <class... Config>
void launch_on(float* x, Config... config) { apply<Twice, List<>, 8, float><<<config...>>>(x, Twice()); }

void run(float* x, double* y) {
  run_policy<Policy<float>>(x, 100);
  run_policy<Policy<double>>(y, 100);
  launch(apply<Twice, List<int, float>, 4, float>, 1, 32, x, Twice{});
  launch_on(x, 1, 32), launch_on(x, dim3(1), dim3(32), 0);
}
