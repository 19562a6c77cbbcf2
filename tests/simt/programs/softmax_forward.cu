// Row softmax, from one thread per row to one block per row. Pick one with an argument, or run them all.

#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

void cudaCheck(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
};
#define cudaCheck(err) (cudaCheck(err, __FILE__, __LINE__))

void softmax_forward_cpu(float* out, const float* inp, int N, int C) {
  for (int i = 0; i < N; i++) {
    const float* inp_row = inp + i * C;
    float* out_row = out + i * C;
    float maxval = -INFINITY;
    for (int j = 0; j < C; j++)
      if (inp_row[j] > maxval) maxval = inp_row[j];
    double sum = 0.0;
    for (int j = 0; j < C; j++) sum += out_row[j] = expf(inp_row[j] - maxval);
    for (int j = 0; j < C; j++) out_row[j] /= (float)sum;
  }
}

__global__ void softmax_forward_kernel1(float* out, const float* inp, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    const float* inp_row = inp + i * C;
    float* out_row = out + i * C;
    float maxval = -INFINITY;
    for (int j = 0; j < C; j++) maxval = fmaxf(maxval, inp_row[j]);
    double sum = 0.0;
    for (int j = 0; j < C; j++) {
      out_row[j] = expf(inp_row[j] - maxval);
      sum += out_row[j];
    }
    for (int j = 0; j < C; j++) out_row[j] /= (float)sum;
  }
}

__global__ void softmax_forward_kernel2(float* out, const float* inp, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x, tid = threadIdx.x, block_size = blockDim.x;
  const float* x = inp + idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += block_size) maxval = fmaxf(maxval, x[i]);
  shared[tid] = maxval;
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
  }
  __syncthreads();
  float offset = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = expf(x[i] - offset);
  __syncthreads();
  x = out + idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += block_size) sumval += x[i];
  shared[tid] = sumval;
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  __syncthreads();
  float sum = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = x[i] / sum;
}

__device__ float warpReduceMax(float val) {
  for (int offset = 16; offset > 0; offset /= 2) val = fmaxf(val, __shfl_down_sync(0xFFFFFFFF, val, offset));
  return val;
}
__device__ float warpReduceSum(float val) {
  for (int offset = 16; offset > 0; offset /= 2) val += __shfl_xor_sync(0xFFFFFFFF, val, offset);
  return val;
}

__global__ void softmax_forward_kernel4(float* out, const float* inp, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x, tid = threadIdx.x, warpId = threadIdx.x / 32, laneId = threadIdx.x % 32;
  int warpsPerBlock = blockDim.x / 32;
  float *maxvals = shared, *sumvals = &shared[warpsPerBlock];
  const float* x = inp + idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += blockDim.x) maxval = fmaxf(maxval, x[i]);
  maxval = warpReduceMax(maxval);
  if (laneId == 0) maxvals[warpId] = maxval;
  __syncthreads();
  if (tid == 0) {
    float val = maxvals[tid];
    for (int i = 1; i < warpsPerBlock; i++) val = fmaxf(val, maxvals[i]);
    maxvals[0] = val;
  }
  __syncthreads();
  float offset = maxvals[0];
  for (int i = tid; i < C; i += blockDim.x) __stcs(out + idx * C + i, expf(x[i] - offset));
  x = out + idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += blockDim.x) sumval += x[i];
  sumval = warpReduceSum(sumval);
  if (laneId == 0) sumvals[warpId] = sumval;
  __syncthreads();
  if (tid == 0) {
    float val = sumvals[tid];
    for (int i = 1; i < warpsPerBlock; ++i) val += sumvals[i];
    sumvals[0] = val;
  }
  __syncthreads();
  float sum = sumvals[0];
  for (int i = tid; i < C; i += blockDim.x) out[idx * C + i] = x[i] / sum;
}

// Maximum and sum of the elements seen so far, as one 8-byte value that travels between lanes.
struct __align__(8) SumMax {
  float maxval;
  float sum;
};
__device__ __forceinline__ SumMax reduce_sum_max_op(SumMax a, SumMax b) {
  bool a_bigger = (a.maxval > b.maxval);
  SumMax bigger_m = a_bigger ? a : b;
  SumMax smaller_m = a_bigger ? b : a;
  SumMax res;
  res.maxval = bigger_m.maxval;
  res.sum = bigger_m.sum + smaller_m.sum * expf(smaller_m.maxval - bigger_m.maxval);
  return res;
}

__global__ void softmax_forward_online_kernel8(float* out, const float* inp, int N, int C) {
  namespace cg = cooperative_groups;
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (idx >= N) return;
  const float* x = inp + idx * C;
  SumMax sm_partial;
  sm_partial.maxval = -INFINITY;
  sm_partial.sum = 0.0f;
  for (int i = warp.thread_rank(); i < C; i += warp.size())
    sm_partial = reduce_sum_max_op(sm_partial, {x[i], 1.0f});
  SumMax sm_total = cg::reduce(warp, sm_partial, reduce_sum_max_op);
  for (int i = warp.thread_rank(); i < C; i += warp.size())
    __stcs(out + idx * C + i, expf(x[i] - sm_total.maxval) / sm_total.sum);
}

void softmax_forward(int kernel_num, float* out, const float* inp, int N, int C, const int block_size) {
  switch (kernel_num) {
    case 1:
      softmax_forward_kernel1<<<CEIL_DIV(N, block_size), block_size>>>(out, inp, N, C);
      break;
    case 2:
      softmax_forward_kernel2<<<N, block_size, block_size * sizeof(float)>>>(out, inp, N, C);
      break;
    case 4:
      softmax_forward_kernel4<<<N, block_size, 2 * (block_size / 32) * sizeof(float)>>>(out, inp, N, C);
      break;
    case 8:
      softmax_forward_online_kernel8<<<CEIL_DIV(N, block_size / 32), block_size>>>(out, inp, N, C);
      break;
    default:
      printf("Invalid kernel number\n");
      exit(1);
  }
  cudaCheck(cudaGetLastError());
}

int main(int argc, char** argv) {
  const int B = 2, T = 20, V = 500, all[] = {1, 2, 4, 8};
  int deviceIdx = 0;
  cudaCheck(cudaSetDevice(deviceIdx));
  float *out = (float*)malloc(B * T * V * sizeof(float)), *got = (float*)malloc(B * T * V * sizeof(float));
  float* inp = (float*)malloc(B * T * V * sizeof(float));
  for (int i = 0; i < B * T * V; i++) inp[i] = ((float)rand() / RAND_MAX) * 2.0f - 1.0f;
  for (int row = 0; row < B * T; row++) inp[row * V + rand() % V] = 20 * row % 37;
  softmax_forward_cpu(out, inp, B * T, V);

  float *d_out, *d_inp;
  cudaCheck(cudaMalloc(&d_out, B * T * V * sizeof(float)));
  cudaCheck(cudaMalloc(&d_inp, B * T * V * sizeof(float)));
  cudaCheck(cudaMemcpy(d_inp, inp, B * T * V * sizeof(float), cudaMemcpyHostToDevice));
  int block_sizes[] = {32, 128, 256};
  for (int kernel_num : all) {
    if (argc > 1 && atoi(argv[1]) != kernel_num) continue;
    for (int block_size : block_sizes) {
      softmax_forward(kernel_num, d_out, d_inp, B * T, V, block_size);
      cudaCheck(cudaMemcpy(got, d_out, B * T * V * sizeof(float), cudaMemcpyDeviceToHost));
      for (int i = 0; i < B * T * V; i++)
        if (fabsf(got[i] - out[i]) > 1e-4f * fabsf(out[i]) || isnan(got[i])) {
          printf("kernel %d, block size %d: mismatch at %d: %g, expected %g\n", kernel_num, block_size, i,
                 got[i], out[i]);
          exit(EXIT_FAILURE);
        }
    }
    printf("kernel %d: all results match\n", kernel_num);
  }
  free(out);
  free(got);
  free(inp);
  cudaCheck(cudaFree(d_out));
  cudaCheck(cudaFree(d_inp));
  return 0;
}
