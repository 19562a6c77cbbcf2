// One access a launch, by one warp, with random elements and random active lanes: what holds for all of these
// is a rule of the hardware. Prints each launch's kernel, active lanes and elements, in order.

#include "harness.cuh"

constexpr int kElements = 256;

/// What each lane accesses.
struct Pattern {
  unsigned active;
  int element[32];
};

template <class T>
__global__ void probe_global_load_kernel(Pattern pattern, const T* x, T* y) {
  const int lane = threadIdx.x;
  if (pattern.active >> lane & 1) y[lane] = x[pattern.element[lane]];
}

template <class T>
__global__ void probe_global_store_kernel(Pattern pattern, const T* x, T* y) {
  const int lane = threadIdx.x;
  if (pattern.active >> lane & 1) y[pattern.element[lane]] = x[0];
}

template <class T>
__global__ void probe_red_kernel(Pattern pattern, const T* x, T* y) {
  const int lane = threadIdx.x;
  if (pattern.active >> lane & 1) atomicAdd(&y[pattern.element[lane]], x[0]);
}

/// Writes old with unit stride.
template <class T>
__global__ void probe_atom_kernel(Pattern pattern, const T* x, T* y, T* old) {
  const int lane = threadIdx.x;
  if (pattern.active >> lane & 1) old[lane] = atomicAdd(&y[pattern.element[lane]], x[0]);
}

/// Fills the tile with unit stride.
template <class T>
__global__ void probe_shared_load_kernel(Pattern pattern, const T* x, T* y) {
  __shared__ T tile[kElements];
  const int lane = threadIdx.x;
#pragma unroll 1
  for (int k = lane; k < kElements; k += 32) tile[k] = x[k];
  __syncthreads();
  if (pattern.active >> lane & 1) y[lane] = tile[pattern.element[lane]];
}

/// Fills the tile and reads it back with unit stride.
template <class T>
__global__ void probe_shared_store_kernel(Pattern pattern, const T* x, T* y) {
  __shared__ T tile[kElements];
  const int lane = threadIdx.x;
  const T value = x[0];
#pragma unroll 1
  for (int k = lane; k < kElements; k += 32) tile[k] = x[1 + k];
  __syncthreads();
  if (pattern.active >> lane & 1) tile[pattern.element[lane]] = value;
  __syncthreads();
#pragma unroll 1
  for (int k = lane; k < kElements; k += 32) y[k] = tile[k];
}

/// As above.
__global__ void probe_shared_red_kernel(Pattern pattern, const int* x, int* y) {
  __shared__ int tile[kElements];
  const int lane = threadIdx.x;
  const int value = x[lane];
#pragma unroll 1
  for (int k = lane; k < kElements; k += 32) tile[k] = x[1 + k];
  __syncthreads();
  if (pattern.active >> lane & 1) atomicAdd(&tile[pattern.element[lane]], value);
  __syncthreads();
#pragma unroll 1
  for (int k = lane; k < kElements; k += 32) y[k] = tile[k];
}

unsigned draw() {
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/// The narrower the range, the more lanes meet; a third of the patterns leaves lanes out.
Pattern random_pattern(const char* kernel) {
  constexpr int kRanges[] = {4, 16, 32, 64, 128, kElements};
  const unsigned range = kRanges[draw() % 6], first = draw() % (kElements + 1 - range);
  Pattern pattern = {draw() % 3 == 0 ? draw() % 65536 * 65536 + draw() % 65536 : 0xffffffffu, {}};
  if (pattern.active == 0) pattern.active = 1;
  std::printf("%s %08x", kernel, pattern.active);
  for (int& element : pattern.element) {
    element = static_cast<int>(first + draw() % range);
    std::printf(" %d", element);
  }
  std::printf("\n");
  return pattern;
}

/// Lanes that differ only in the bits of `dropped` meet at one element. kind 0: all lanes are active; 1: one
/// of those that meet; 2: at random; 3: all, and the elements are random.
Pattern meeting_pattern(const char* kernel, int dropped, int kind) {
  Pattern pattern = {0, {}};
  std::printf("%s ", kernel);
  for (int lane = 0; lane < 32; ++lane)
    if (kind == 0 || kind == 3 || (kind == 1 && (lane & dropped) == 0) || (kind == 2 && draw() % 2 == 0))
      pattern.active |= 1u << lane;
  std::printf("%08x", pattern.active);
  int next = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const bool first = (lane & dropped) == 0;
    pattern.element[lane] = first ? (kind == 3 ? static_cast<int>(draw() % kElements) : next++)
                                  : pattern.element[lane & ~dropped];
    std::printf(" %d", pattern.element[lane]);
  }
  std::printf("\n");
  return pattern;
}

/// Repeats a pattern.
Pattern again(const char* kernel, const Pattern& pattern) {
  std::printf("%s %08x", kernel, pattern.active);
  for (int element : pattern.element) std::printf(" %d", element);
  std::printf("\n");
  return pattern;
}

bool active(const Pattern& pattern, int lane) { return pattern.active >> lane & 1; }

/// How many active lanes meet element i.
int meetings(const Pattern& pattern, int i) {
  int count = 0;
  for (int lane = 0; lane < 32; ++lane) count += active(pattern, lane) && pattern.element[lane] == i;
  return count;
}

template <class T>
void probe_load(const char* name, const Pattern& pattern, bool shared) {
  const std::vector<T> values = scrambled<T>(kElements);
  Array<T> x(values), y(32);
  if (shared)
    probe_shared_load_kernel<T><<<1, 32>>>(pattern, x.data(), y.data());
  else
    probe_global_load_kernel<T><<<1, 32>>>(pattern, x.data(), y.data());
  expect_copy(name, y, values, [&](int i) { return active(pattern, i) ? pattern.element[i] : -1; });
}

template <class T>
void probe_store(const char* name, const Pattern& pattern, bool shared) {
  const std::vector<T> values = scrambled<T>(1 + kElements);
  Array<T> x(values), y(kElements);
  if (shared)
    probe_shared_store_kernel<T><<<1, 32>>>(pattern, x.data(), y.data());
  else
    probe_global_store_kernel<T><<<1, 32>>>(pattern, x.data(), y.data());
  expect_copy(name, y, values, [&](int i) { return meetings(pattern, i) > 0 ? 0 : shared ? 1 + i : -1; });
}

template <class T>
void probe_loads(int count, const char* global_name, const char* shared_name) {
  for (int k = 0; k < count; ++k) {
    probe_load<T>(global_name, random_pattern(global_name), false);
    probe_load<T>(shared_name, random_pattern(shared_name), true);
  }
}

template <class T>
void probe_stores(int count, const char* global_name, const char* shared_name) {
  for (int k = 0; k < count; ++k) {
    probe_store<T>(global_name, random_pattern(global_name), false);
    probe_store<T>(shared_name, random_pattern(shared_name), true);
  }
}

/// Wide accesses of lanes that meet.
template <class T>
void probe_meetings(const char* load_name, const char* store_name) {
  for (int dropped : {1, 2, 4, 8, 16, 3, 5}) {
    for (int kind = 0; kind < 4; ++kind)
      probe_load<T>(load_name, meeting_pattern(load_name, dropped, kind), true);
  }
  for (int dropped : {1, 2}) {
    for (int kind : {0, 1, 3}) probe_store<T>(store_name, meeting_pattern(store_name, dropped, kind), true);
  }
}

/// Each pattern twice as a reduction, and once as an atomic that returns something.
template <class T>
void probe_atomics(int count, const char* red_name, const char* atom_name) {
  const T value = 3;
  Array<T> x(std::vector<T>(1, value));
  for (int k = 0; k < count; ++k) {
    const Pattern pattern = random_pattern(red_name);
    for (int repeat = 0; repeat < 3; ++repeat) {
      Array<T> y(kElements), old(32);
      if (repeat < 2)
        probe_red_kernel<T><<<1, 32>>>(repeat == 0 ? pattern : again(red_name, pattern), x.data(), y.data());
      else
        probe_atom_kernel<T><<<1, 32>>>(again(atom_name, pattern), x.data(), y.data(), old.data());
      expect(red_name, y, [&](int i) { return static_cast<T>(value * meetings(pattern, i)); });
    }
  }
}

void probe_shared_atomics(int count) {
  std::vector<int> values(1 + kElements);
  for (int i = 0; i <= kElements; ++i) values[i] = i * 5 % 17;
  Array<int> x(values);
  for (int k = 0; k < count; ++k) {
    const Pattern pattern = random_pattern("probe_shared_red_kernel");
    Array<int> y(kElements);
    probe_shared_red_kernel<<<1, 32>>>(pattern, x.data(), y.data());
    expect("probe_shared_red_kernel", y, [&](int i) {
      int sum = values[1 + i];
      for (int lane = 0; lane < 32; ++lane)
        sum += active(pattern, lane) && pattern.element[lane] == i ? values[lane] : 0;
      return sum;
    });
  }
}

int main() {
  probe_loads<float>(4, "probe_global_load_kernel<float>", "probe_shared_load_kernel<float>");
  probe_loads<float2>(5, "probe_global_load_kernel<float2>", "probe_shared_load_kernel<float2>");
  probe_loads<float4>(5, "probe_global_load_kernel<float4>", "probe_shared_load_kernel<float4>");
  probe_stores<float>(4, "probe_global_store_kernel<float>", "probe_shared_store_kernel<float>");
  probe_stores<float2>(4, "probe_global_store_kernel<float2>", "probe_shared_store_kernel<float2>");
  probe_stores<float4>(4, "probe_global_store_kernel<float4>", "probe_shared_store_kernel<float4>");
  probe_meetings<float2>("probe_shared_load_kernel<float2>", "probe_shared_store_kernel<float2>");
  probe_meetings<float4>("probe_shared_load_kernel<float4>", "probe_shared_store_kernel<float4>");
  probe_atomics<int>(6, "probe_red_kernel<int>", "probe_atom_kernel<int>");
  probe_atomics<float>(2, "probe_red_kernel<float>", "probe_atom_kernel<float>");
  probe_shared_atomics(4);
  return finish("probes");
}
