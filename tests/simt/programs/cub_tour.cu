// The primitives of CUB for warps and blocks, each held against a loop on the host.

#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include <cstdio>
#include <vector>

#ifdef __NVCC__
using Max = cuda::maximum<>;  // CUDA 13 has dropped cub::Max
#else
using cub::Max;
#endif

static int failures = 0;
#define EXPECT(condition)                                 \
  do {                                                    \
    if (!(condition)) {                                   \
      ++failures;                                         \
      std::printf("line %d: %s\n", __LINE__, #condition); \
    }                                                     \
  } while (0)

// A scan of these is right only if it keeps their order.
struct Affine {
  unsigned factor, summand;
  bool operator==(const Affine& o) const { return factor == o.factor && summand == o.summand; }
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& a, const Affine& b) const {
    return {b.factor * a.factor, b.factor * a.summand + b.summand};
  }
};
struct Wide {
  double sum;
  int count, most;
};
struct Join {
  __host__ __device__ Wide operator()(const Wide& a, const Wide& b) const {
    return {a.sum + b.sum, a.count + b.count, a.most < b.most ? b.most : a.most};
  }
};
// The sum of all tiles before this one.
struct Running {
  int total;
  __device__ int operator()(int tile) {
    const int before = total;
    total += tile;
    return before;
  }
};

template <class T>
std::vector<T> results_of(const T* device, int n) {
  std::vector<T> host(n);
  CubDebugExit(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}
template <class T>
T* device_array(int n) {
  T* x;
  CubDebugExit(cudaMalloc(&x, n * sizeof(T)));
  cudaMemset(x, 0xee, n * sizeof(T));
  return x;
}
static int item(int i) { return i * 37 % 101 - 50; }
static Affine affine(int i) { return {2u * i + 3, 7u * i + 1}; }

// --- Warps

template <int kWarp>
__global__ void warps(int* sums, int* firsts, int* largest, int* heads, int* inclusive, int* exclusive,
                      Affine* maps, int valid) {
  using Reduce = cub::WarpReduce<int, kWarp>;
  using Scan = cub::WarpScan<int, kWarp>;
  using Maps = cub::WarpScan<Affine, kWarp>;
  __shared__ typename Reduce::TempStorage reduce_smem[128 / kWarp];
  __shared__ typename Scan::TempStorage scan_smem[128 / kWarp];
  __shared__ typename Maps::TempStorage maps_smem[128 / kWarp];
  const int thread = threadIdx.x, warp = thread / kWarp, x = thread * 37 % 101 - 50;
  const int sum = Reduce(reduce_smem[warp]).Sum(x);
  const int first = Reduce(reduce_smem[warp]).Sum(x, valid);
  const int most = Reduce(reduce_smem[warp]).Reduce(x, Max());
  heads[thread] = Reduce(reduce_smem[warp]).HeadSegmentedSum(x, thread % 5 == 0);
  if (thread % kWarp == 0) sums[warp] = sum, firsts[warp] = first, largest[warp] = most;
  int aggregate = 0, up_to = 0, before = 0;
  Scan(scan_smem[warp]).InclusiveSum(x, up_to, aggregate);
  Scan(scan_smem[warp]).ExclusiveSum(x, before);
  inclusive[thread] = up_to;
  exclusive[thread] = before;
  if (aggregate != Scan(scan_smem[warp]).Broadcast(sum, 0)) inclusive[thread] = -1;
  Affine map{2u * thread + 3, 7u * thread + 1}, composed;
  Maps(maps_smem[warp]).ExclusiveScan(map, composed, Affine{1, 0}, Compose());
  maps[thread] = composed;
}

template <int kWarp>
void check_warps() {
  constexpr int n = 128, valid = kWarp > 2 ? kWarp - 2 : kWarp;
  int *sums = device_array<int>(n), *firsts = device_array<int>(n), *largest = device_array<int>(n),
      *heads = device_array<int>(n), *inclusive = device_array<int>(n), *exclusive = device_array<int>(n);
  Affine* maps = device_array<Affine>(n);
  warps<kWarp><<<1, n>>>(sums, firsts, largest, heads, inclusive, exclusive, maps, valid);
  const auto s = results_of(sums, n / kWarp), f = results_of(firsts, n / kWarp),
             l = results_of(largest, n / kWarp);
  const auto h = results_of(heads, n), i = results_of(inclusive, n), e = results_of(exclusive, n);
  const auto m = results_of(maps, n);
  for (int warp = 0; warp < n / kWarp; ++warp) {
    int sum = 0, first = 0, most = -1000;
    Affine map{1, 0};
    for (int k = 0; k < kWarp; ++k) {
      const int at = warp * kWarp + k, x = item(at);
      EXPECT(e[at] == sum);
      EXPECT(m[at] == map);
      sum += x;
      if (k < valid) first += x;
      most = x > most ? x : most;
      EXPECT(i[at] == sum);
      map = Compose()(map, affine(at));
      if (at % 5 == 0 || k == 0) {
        int segment = x;
        for (int next = at + 1; next % 5 != 0 && next / kWarp == warp; ++next) segment += item(next);
        EXPECT(h[at] == segment);
      }
    }
    EXPECT(s[warp] == sum && f[warp] == first && l[warp] == most);
  }
  for (int* x : {sums, firsts, largest, heads, inclusive, exclusive}) cudaFree(x);
  cudaFree(maps);
}

// --- Reductions of a block

template <int kX, int kY>
__global__ void block_reductions(int* ints, float* floats, Wide* wide, Affine* maps, int valid) {
  using Ints = cub::BlockReduce<int, kX, cub::BLOCK_REDUCE_RAKING, kY>;
  using Floats = cub::BlockReduce<float, kX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kY>;
  using Wides = cub::BlockReduce<Wide, kX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kY>;
  using Maps = cub::BlockReduce<Affine, kX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kY>;
  __shared__ union {
    typename Ints::TempStorage ints;
    typename Floats::TempStorage floats;
    typename Wides::TempStorage wides;
    typename Maps::TempStorage maps;
  } smem;
  const int thread = threadIdx.y * kX + threadIdx.x, x = thread * 37 % 101 - 50;
  const int sum = Ints(smem.ints).Sum(x);
  __syncthreads();
  const int first = Ints(smem.ints).Sum(x, valid);
  __syncthreads();
  int items[3] = {x, x + 1, x + 2};
  const int of_items = Ints(smem.ints).Sum(items);
  __syncthreads();
  const int least = Ints(smem.ints).Reduce(items, cuda::minimum<>());
  __syncthreads();
  const float most = Floats(smem.floats).Reduce(static_cast<float>(x), Max());
  __syncthreads();
  const Wide joined = Wides(smem.wides).Reduce(Wide{0.5 * x, 1, x}, Join());
  __syncthreads();
  const Affine map = Maps(smem.maps).Reduce(Affine{2u * thread + 3, 7u * thread + 1}, Compose());
  const int own_memory = Ints().Reduce(x, cuda::std::plus<>());
  if (thread == 0) {
    ints[0] = sum, ints[1] = first, ints[2] = of_items, ints[3] = least, ints[4] = own_memory;
    floats[0] = most;
    wide[0] = joined;
    maps[0] = map;
  }
}

template <int kX, int kY>
void check_block_reductions(int valid) {
  int* ints = device_array<int>(5);
  float* floats = device_array<float>(1);
  Wide* wide = device_array<Wide>(1);
  Affine* maps = device_array<Affine>(1);
  block_reductions<kX, kY><<<1, dim3(kX, kY)>>>(ints, floats, wide, maps, valid);
  int sum = 0, first = 0, of_items = 0, least = 1000;
  Wide joined{0, 0, -1000};
  Affine map{1, 0};
  for (int i = 0; i < kX * kY; ++i) {
    const int x = item(i);
    sum += x;
    if (i < valid) first += x;
    of_items += 3 * x + 3;
    least = x < least ? x : least;
    joined = Join()(joined, Wide{0.5 * x, 1, x});
    map = Compose()(map, affine(i));
  }
  const auto got = results_of(ints, 5);
  EXPECT(got[0] == sum && got[1] == first && got[2] == of_items && got[3] == least && got[4] == sum);
  const Wide w = results_of(wide, 1)[0];
  EXPECT(w.sum == joined.sum && w.count == joined.count && w.most == joined.most);
  EXPECT(results_of(floats, 1)[0] == static_cast<float>(joined.most));
  EXPECT(results_of(maps, 1)[0] == map);
  cudaFree(ints), cudaFree(floats), cudaFree(wide), cudaFree(maps);
}

// --- Scans of a block

template <int kThreads>
__global__ void block_scans(int* out, Affine* maps) {
  using Scan = cub::BlockScan<int, kThreads>;
  using Maps = cub::BlockScan<Affine, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage smem;
  __shared__ typename Maps::TempStorage maps_smem;
  const int thread = threadIdx.x, x = thread * 37 % 101 - 50;
  int result, all;
  Scan(smem).ExclusiveSum(x, result, all);
  out[thread] = result;
  out[kThreads + thread] = all;
  __syncthreads();
  Scan(smem).InclusiveScan(x, result, Max());
  out[2 * kThreads + thread] = result;
  __syncthreads();
  int items[2] = {x, 2 * x};
  Scan(smem).InclusiveSum(items, items);
  out[3 * kThreads + 2 * thread] = items[0];
  out[3 * kThreads + 2 * thread + 1] = items[1];
  Affine composed;
  Maps(maps_smem).ExclusiveScan(Affine{2u * thread + 3, 7u * thread + 1}, composed, Affine{5, 6}, Compose());
  maps[thread] = composed;
}

template <int kThreads>
void check_block_scans() {
  int* out = device_array<int>(5 * kThreads);
  Affine* maps = device_array<Affine>(kThreads);
  block_scans<kThreads><<<1, kThreads>>>(out, maps);
  const auto got = results_of(out, 5 * kThreads);
  const auto m = results_of(maps, kThreads);
  int sum = 0, most = -1000, all = 0, of_items = 0;
  Affine map{5, 6};
  for (int i = 0; i < kThreads; ++i) all += item(i);
  for (int i = 0; i < kThreads; ++i) {
    const int x = item(i);
    EXPECT(got[i] == sum && got[kThreads + i] == all);
    EXPECT(m[i] == map);
    sum += x;
    most = x > most ? x : most;
    EXPECT(got[2 * kThreads + i] == most);
    EXPECT(got[3 * kThreads + 2 * i] == (of_items += x));
    EXPECT(got[3 * kThreads + 2 * i + 1] == (of_items += 2 * x));
    map = Compose()(map, affine(i));
  }
  cudaFree(out), cudaFree(maps);
}

// --- A scan of an array by one block, tile by tile, as CUB's manual does it

template <cub::BlockLoadAlgorithm kLoad, cub::BlockStoreAlgorithm kStore>
__global__ void scan_tiles(const int* in, int* out, int n) {
  constexpr int kThreads = 64, kItems = 3, kTile = kThreads * kItems;
  using Load = cub::BlockLoad<int, kThreads, kItems, kLoad>;
  using Store = cub::BlockStore<int, kThreads, kItems, kStore>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } smem;
  Running running{0};
  for (int begin = 0; begin < n; begin += kTile) {
    int items[kItems];
    const int valid = n - begin < kTile ? n - begin : kTile;
    Load(smem.load).Load(in + begin, items, valid, 0);
    __syncthreads();
    Scan(smem.scan).ExclusiveSum(items, items, running);
    __syncthreads();
    Store(smem.store).Store(out + begin, items, valid);
    __syncthreads();
  }
}

template <cub::BlockLoadAlgorithm kLoad, cub::BlockStoreAlgorithm kStore>
void check_tiles() {
  const int n = 1000;
  int *in = device_array<int>(n), *out = device_array<int>(n);
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = item(i);
  cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan_tiles<kLoad, kStore><<<1, 64>>>(in, out, n);
  const auto got = results_of(out, n);
  for (int i = 0, sum = 0; i < n; sum += host[i++]) EXPECT(got[i] == sum);
  cudaFree(in), cudaFree(out);
}

int main() {
  check_warps<32>();
  check_warps<16>();
  check_warps<4>();
  check_block_reductions<128, 1>(100);
  check_block_reductions<16, 16>(31);
  check_block_reductions<32, 1>(7);
  check_block_reductions<100, 1>(97);  // the last warp has 4 threads
  check_block_scans<256>();
  check_block_scans<32>();
  check_block_scans<70>();
  check_tiles<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>();
  check_tiles<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>();
  CubDebugExit(cudaDeviceSynchronize());
  std::printf(failures == 0 ? "all as on the host\n" : "%d differ\n", failures);
  return failures != 0;
}
