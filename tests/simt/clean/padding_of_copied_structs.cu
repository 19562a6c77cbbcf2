// Structs with padding are filled member by member and copied as a whole: what lies between the members holds
// no value anywhere, and nobody needs one.

#include <cstdio>

struct Particle {
  float mass;  // 12 bytes of padding follow
  float4 place;
};
struct alignas(16) Point {
  float x, y, z;
};
struct Sample {
  float weight;
  double value;
};
struct Cell {
  double level;
  char kind;
  alignas(32) double next[3];
};

__device__ void fill(Particle& p, int i) {
  p.mass = 1.0f + i;
  p.place.x = p.place.y = p.place.z = p.place.w = 1.0f;
}
__device__ void fill(Point& p, int i) { p.x = i, p.y = 1.0f, p.z = 2.0f; }
__device__ void fill(Sample& s, int i) { s.weight = 0.5f, s.value = i; }
__device__ void fill(Cell& c, int i) {
  c.level = i, c.kind = 'c';
  for (double& next : c.next) next = 1.0;
}

template <class T>
struct Items {
  T* data;
};

template <class T>
__global__ void fill_all(T* items) {
  fill(items[threadIdx.x], static_cast<int>(threadIdx.x));
}

template <class T>
__global__ void reverse(Items<T> in, T* out) {
  __shared__ T tile[32];
  extern __shared__ __align__(32) unsigned char buffer[];
  T* const staged = reinterpret_cast<T*>(buffer);
  const unsigned i = threadIdx.x;
  const T own = in.data[i];
  staged[i] = own;
  fill(tile[i], static_cast<int>(i));
  __syncthreads();
  out[i] = i % 2 == 0 ? staged[31 - i] : tile[31 - i];
}

template <class T>
void run() {
  T *in, *out;
  cudaMalloc(&in, 32 * sizeof(T));
  cudaMalloc(&out, 32 * sizeof(T));
  fill_all<<<1, 32>>>(in);
  reverse<<<1, 32, 32 * sizeof(T)>>>(Items<T>{in}, out);
  T first;
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}

int main() {
  run<Particle>();
  run<Point>();
  run<Sample>();
  run<Cell>();
  std::puts("reversed");
}
