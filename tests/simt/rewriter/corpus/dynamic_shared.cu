// Dynamic shared memory at namespace and at block scope, of all kinds of types.
#include <cuda_runtime.h>

struct __align__(16) Pair { float value; int index; };

extern __shared__ float4 vectors[];
extern __shared__ __align__(16) unsigned char bytes[];
__shared__ extern Pair pairs[];
namespace inner { extern __shared__ Pair pairs_of_two[][2], more[]; }
__shared__ float at_namespace_scope[4];

template <class T> struct Vec { using type = T; };
template <> struct Vec<float> { using type = float4; };

template <typename T>
__global__ void kernel(T* out)
{
    extern __shared__ typename Vec<T>::type typed[];
    alignas(16) extern __shared__ char raw[];
    T* a = reinterpret_cast<T*>(raw);
    T* b = a + 32;
    __shared__ struct { T best; int where; } found;
    __shared__ Pair pair;
    __shared__ union { float f[4]; int i[4]; } bits, *pointer;
    __shared__ T x, y[2], (*rows)[4];
    if (threadIdx.x == 0) { found.best = T(0); found.where = 0; pair.index = 1; bits.i[0] = 0; pointer = &bits; x = y[0] = T(1); rows = nullptr; }
    __syncthreads();
    { extern __shared__ int scoped[]; scoped[threadIdx.x] = 1; }
    b[threadIdx.x] = a[threadIdx.x] + pairs[0].value + inner::pairs_of_two[0][1].value + vectors[0].x + bytes[0] + inner::more[0].value;
    out[threadIdx.x] = *reinterpret_cast<T*>(&typed[0]) + at_namespace_scope[0] + x;
}

void run(float* f) {
    kernel<<<1, 32, 1024>>>(f);
    kernel<float><<<1, 32, 64 * sizeof(float)>>>(f);
}
