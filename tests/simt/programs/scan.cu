// Exclusive prefix sums: a work-efficient tree in each block, the block sums scanned by one more block.

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

static __global__ void scan_block(const int* in, int* out, int* sums, int n) {
  extern __shared__ int temp[];
  const int thid = threadIdx.x, per_block = 2 * blockDim.x, first = blockIdx.x * per_block;
  int offset = 1;
  const int ai = thid, bi = thid + per_block / 2;
  const int bank_a = CONFLICT_FREE_OFFSET(ai), bank_b = CONFLICT_FREE_OFFSET(bi);
  temp[ai + bank_a] = first + ai < n ? in[first + ai] : 0;
  temp[bi + bank_b] = first + bi < n ? in[first + bi] : 0;
  for (int d = per_block >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (thid == 0) {
    const int last = per_block - 1 + CONFLICT_FREE_OFFSET(per_block - 1);
    if (sums) sums[blockIdx.x] = temp[last];
    temp[last] = 0;
  }
  for (int d = 1; d < per_block; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      const int t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  if (first + ai < n) out[first + ai] = temp[ai + bank_a];
  if (first + bi < n) out[first + bi] = temp[bi + bank_b];
}

static __global__ void uniform_add(int* out, const int* sums, int n) {
  __shared__ int addend;
  if (threadIdx.x == 0) addend = sums[blockIdx.x];
  __syncthreads();
  for (int i = threadIdx.x; i < 2 * blockDim.x; i += blockDim.x) {
    const int at = blockIdx.x * 2 * blockDim.x + i;
    if (at < n) out[at] += addend;
  }
}

int main(void) {
  const int n = 10000, threads = 128, blocks = (n + 2 * threads - 1) / (2 * threads);
  const size_t shared = (2 * threads + CONFLICT_FREE_OFFSET(2 * threads)) * sizeof(int);
  int *in = (int*)malloc(n * sizeof *in), *out = (int*)malloc(n * sizeof *out);
  for (int i = 0; i < n; i++) in[i] = rand() & 0xF;
  int *d_in, *d_out, *d_sums;
  cudaMalloc((void**)&d_in, n * sizeof(int));
  cudaMalloc((void**)&d_out, n * sizeof(int));
  cudaMalloc((void**)&d_sums, blocks * sizeof(int));
  cudaMemcpy(d_in, in, n * sizeof(int), cudaMemcpyHostToDevice);
  scan_block<<<blocks, threads, shared>>>(d_in, d_out, d_sums, n);
  scan_block<<<1, threads, shared>>>(d_sums, d_sums, NULL, blocks);
  uniform_add<<<blocks, threads>>>(d_out, d_sums, n);
  cudaMemcpy(out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = 0, sum = 0; i < n; sum += in[i++]) wrong += out[i] != sum;
  printf("%d of %d sums are wrong\n", wrong, n);
  cudaFree(d_in), cudaFree(d_out), cudaFree(d_sums);
  free(in), free(out);
  return wrong != 0;
}
