// What the simulator's run mode costs. Run: build/bin/benchmarks/simt_benchmark
//
// barrier/1024x1000: blocks of 1024 threads that meet 1000 times; barrier_seconds is the time per thread and
// barrier. phases/256: the same with two barriers in a round, as in one that fills a tile and then uses it.
// shuffle: one warp reduction after another; shuffles_per_second counts each lane's. attention: the
// shape of FlashAttention-2 forward (tiles of K and V in shared memory, a query row a thread); FLOPS counts 4
// * heads * N * N * D, as papers do.

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Device memory of `count` floats with values in [-1, 1).
class DeviceFloats {
 public:
  explicit DeviceFloats(std::size_t count) {
    std::vector<float> values(count);
    std::uint32_t state = 1;
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
    }
    check(cudaMalloc(&data_, count * sizeof(float)));
    check(cudaMemcpy(data_, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  }
  ~DeviceFloats() { cudaFree(data_); }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

__global__ void barrier_kernel(int rounds) {
  for (int round = 0; round < rounds; ++round) __syncthreads();
}

__global__ void phases_kernel(int rounds) {
  for (int round = 0; round < rounds; round += 2) {
    __syncthreads();
    __syncthreads();
  }
}

void time_barriers(benchmark::State& state, void (*kernel)(int rounds)) {
  const int threads = static_cast<int>(state.range(0)), rounds = 1000, blocks = 4;
  for (auto _ : state) {
    kernel<<<blocks, threads>>>(rounds);
    check(cudaDeviceSynchronize());
  }
  state.counters["barrier_seconds"] =
      benchmark::Counter(1.0 * blocks * threads * rounds,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void barrier(benchmark::State& state) { time_barriers(state, barrier_kernel); }
BENCHMARK(barrier)->Arg(128)->Arg(1024)->UseRealTime()->Unit(benchmark::kMillisecond);

void phases(benchmark::State& state) { time_barriers(state, phases_kernel); }
BENCHMARK(phases)->Arg(256)->UseRealTime()->Unit(benchmark::kMillisecond);

__global__ void shuffle_kernel(float* out, int rounds) {
  float value = static_cast<float>(threadIdx.x);
  for (int round = 0; round < rounds; ++round)
    for (int offset = 16; offset > 0; offset /= 2)
      value += 0.5f * __shfl_xor_sync(0xffffffffu, value, offset);
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

void shuffle(benchmark::State& state) {
  const int threads = 256, blocks = 64, rounds = 100;
  const DeviceFloats out(static_cast<std::size_t>(threads * blocks));
  for (auto _ : state) {
    shuffle_kernel<<<blocks, threads>>>(out.data(), rounds);
    check(cudaDeviceSynchronize());
  }
  state.counters["shuffles_per_second"] =
      benchmark::Counter(5.0 * threads * blocks * rounds, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(shuffle)->UseRealTime()->Unit(benchmark::kMillisecond);

__global__ void copy_kernel(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

void copy(benchmark::State& state) {
  const std::int64_t n = 1 << 22;
  const DeviceFloats in(n), out(n);
  for (auto _ : state) {
    copy_kernel<<<static_cast<unsigned>(n / 256), 256>>>(in.data(), out.data(), n);
    check(cudaDeviceSynchronize());
  }
  state.counters["thread_seconds"] = benchmark::Counter(
      static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(copy)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Q, K, V, O are (heads, N, kDim). One thread a query row, 64 rows a block, tiles of 64 keys.
template <int kDim>
__global__ void attention_kernel(const float* Q, const float* K, const float* V, float* O, int N,
                                 float scale) {
  constexpr int kRows = 64, kKeys = 64;
  extern __shared__ float tiles[];
  float* const K_smem = tiles;                 // (kKeys, kDim)
  float* const V_smem = tiles + kKeys * kDim;  // (kKeys, kDim)
  const std::int64_t head = std::int64_t{blockIdx.y} * N * kDim;
  const int row = static_cast<int>(blockIdx.x) * kRows + static_cast<int>(threadIdx.x);

  float q[kDim], o[kDim];
  for (int d = 0; d < kDim; ++d) q[d] = Q[head + std::int64_t{row} * kDim + d] * scale, o[d] = 0.0f;
  float m = -INFINITY, l = 0.0f;
  for (int first = 0; first < N; first += kKeys) {
    for (int i = static_cast<int>(threadIdx.x); i < kKeys * kDim; i += kRows) {
      K_smem[i] = K[head + std::int64_t{first} * kDim + i];
      V_smem[i] = V[head + std::int64_t{first} * kDim + i];
    }
    __syncthreads();  // the tiles are complete
    float s[kKeys], m_new = m;
    for (int key = 0; key < kKeys; ++key) {
      float dot = 0.0f;
      for (int d = 0; d < kDim; ++d) dot += q[d] * K_smem[key * kDim + d];
      s[key] = dot;
      m_new = fmaxf(m_new, dot);
    }
    const float correction = expf(m - m_new);
    l *= correction;
    for (int d = 0; d < kDim; ++d) o[d] *= correction;
    for (int key = 0; key < kKeys; ++key) {
      const float p = expf(s[key] - m_new);
      l += p;
      for (int d = 0; d < kDim; ++d) o[d] += p * V_smem[key * kDim + d];
    }
    m = m_new;
    __syncthreads();  // everybody has read the tiles; they may be overwritten
  }
  for (int d = 0; d < kDim; ++d) O[head + std::int64_t{row} * kDim + d] = o[d] / l;
}

void attention(benchmark::State& state) {
  constexpr int kDim = 64, kTiles = 2 * 64 * kDim * static_cast<int>(sizeof(float));
  const int N = 512, heads = 4;
  const auto count = static_cast<std::size_t>(heads * N * kDim);
  const DeviceFloats Q(count), K(count), V(count), O(count);
  for (auto _ : state) {
    attention_kernel<kDim>
        <<<dim3(N / 64, heads), 64, kTiles>>>(Q.data(), K.data(), V.data(), O.data(), N, 0.125f);
    check(cudaDeviceSynchronize());
  }
  state.counters["FLOPS"] =
      benchmark::Counter(4.0 * heads * N * N * kDim, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(attention)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
