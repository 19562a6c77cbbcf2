#pragma once
// Kernels that launch kernels: a quicksort that launches itself for each part, launches into the same stream
// of a block, which keep their order, one that comes after all others, and memory that a kernel allocates for
// the next.

#include <cstdio>
#include <cstdlib>

__global__ void sort_kernel(int* values, int first, int last) {
  if (last - first < 2) return;
  const int pivot = values[last - 1];
  int middle = first;
  for (int i = first; i < last - 1; ++i)
    if (values[i] < pivot) {
      const int value = values[i];
      values[i] = values[middle];
      values[middle++] = value;
    }
  values[last - 1] = values[middle];
  values[middle] = pivot;
  cudaStream_t left, right;
  cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking);
  sort_kernel<<<1, 1, 0, left>>>(values, first, middle);
  sort_kernel<<<1, 1, 0, right>>>(values, middle + 1, last);
  cudaStreamDestroy(left);
  cudaStreamDestroy(right);
}

template <class Operation>
__global__ void apply_kernel(int* values, Operation operation, int n) {
  extern __shared__ int copies[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  copies[threadIdx.x] = i < n ? values[i] : 0;
  __syncthreads();
  if (i < n) values[i] = operation(copies[threadIdx.x]);
}

struct Times {
  int factor;
  __device__ int operator()(int x) const { return factor * x; }
};
struct Plus {
  int addend;
  __device__ int operator()(int x) const { return x + addend; }
};

__global__ void count_kernel(const int* values, int* sum, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(sum, values[i]);
}

/// Thread 0 of each block has its part of the values doubled and then raised by one, in that order; the sum
/// is taken when all of that has ended.
__global__ void steps_kernel(int* values, int* sum, int part) {
  if (threadIdx.x != 0) return;
  int* const mine = values + blockIdx.x * part;
  if (blockIdx.x == 0) count_kernel<<<1, 64, 0, cudaStreamTailLaunch>>>(values, sum, part * gridDim.x);
  apply_kernel<<<(part + 31) / 32, 32, 32 * sizeof(int)>>>(mine, Times{2}, part);
  apply_kernel<<<(part + 31) / 32, 32, 32 * sizeof(int)>>>(mine, Plus{1}, part);
}

__global__ void use_kernel(int* scratch, int* out) {
  *out = scratch[7];
  cudaFree(scratch);
}
__global__ void fill_kernel(int* scratch, int* out) {
  scratch[threadIdx.x] = 10 * threadIdx.x;
  if (threadIdx.x == 0) use_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(scratch, out);
}
__global__ void allocate_kernel(int* out) {
  int* scratch = nullptr;
  if (cudaMalloc(&scratch, 32 * sizeof(int)) != cudaSuccess) return;
  fill_kernel<<<1, 32>>>(scratch, out);
  if (cudaGetLastError() != cudaSuccess) printf("no launch\n");
}

int main() {
  constexpr int kCount = 500, kBlocks = 5;
  int host[kCount], *values, *sum, total = -1, seven = -1;
  for (int i = 0; i < kCount; ++i) host[i] = i * 7919 % 1000;
  cudaMalloc(&values, sizeof host);
  cudaMalloc(&sum, sizeof(int));
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  sort_kernel<<<1, 1>>>(values, 0, kCount);
  cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 1; i < kCount; ++i)
    if (host[i - 1] > host[i]) return printf("not sorted at %d\n", i), 1;
  long long expected = 0;
  for (int i = 0; i < kCount; ++i) expected += 2 * host[i] + 1;

  cudaMemset(sum, 0, sizeof(int));
  steps_kernel<<<kBlocks, 32>>>(values, sum, kCount / kBlocks);
  cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
  allocate_kernel<<<1, 1>>>(sum);
  cudaMemcpy(&seven, sum, sizeof seven, cudaMemcpyDeviceToHost);
  printf("%d of %lld, %d\n", total, expected, seven);
  cudaFree(values);
  cudaFree(sum);
  return total == expected && seven == 70 && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
