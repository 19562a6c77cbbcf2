// Causal multi-head attention in four plain kernels: scores, softmax, weighted values, all from packed QKV.

#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void attention_query_key_kernel1(float* preatt, const float* inp, int B, int T, int C, int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int total_threads = B * NH * T * T;
  if (idx < total_threads) {
    int t2 = idx % T, t = (idx / T) % T;
    if (t2 > t) {
      preatt[idx] = -INFINITY;
      return;
    }
    int h = (idx / (T * T)) % NH, b = idx / (NH * T * T);
    int C3 = C * 3, hs = C / NH;
    const float* query_t = inp + b * T * C3 + t * C3 + h * hs;
    const float* key_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C;
    float val = 0.0f;
    for (int i = 0; i < hs; i++) val += query_t[i] * key_t2[i];
    val *= 1.0 / sqrtf(hs);
    preatt[idx] = val;
  }
}

__global__ void attention_softmax_kernel1(float* att, const float* preatt, int B, int T, int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < B * T * NH) {
    int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
    const float* preatt_bth = preatt + b * NH * T * T + h * T * T + t * T;
    float* att_bth = att + b * NH * T * T + h * T * T + t * T;
    float maxval = -FLT_MAX;
    for (int t2 = 0; t2 <= t; t2++)
      if (preatt_bth[t2] > maxval) maxval = preatt_bth[t2];
    float expsum = 0.0f;
    for (int t2 = 0; t2 <= t; t2++) {
      float expv = expf(preatt_bth[t2] - maxval);
      expsum += expv;
      att_bth[t2] = expv;
    }
    float expsum_inv = expsum == 0.0f ? 0.0f : 1.0f / expsum;
    for (int t2 = 0; t2 < T; t2++) {
      if (t2 <= t)
        att_bth[t2] *= expsum_inv;
      else
        att_bth[t2] = 0.0f;
    }
  }
}

__global__ void attention_value_kernel1(float* out, const float* att, const float* inp, int B, int T, int C,
                                        int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < B * T * NH) {
    int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
    int C3 = C * 3, hs = C / NH;
    float* out_bth = out + b * T * C + t * C + h * hs;
    const float* att_bth = att + b * NH * T * T + h * T * T + t * T;
    for (int i = 0; i < hs; i++) out_bth[i] = 0.0f;
    for (int t2 = 0; t2 <= t; t2++) {
      const float* value_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C * 2;
      float att_btht2 = att_bth[t2];
      for (int i = 0; i < hs; i++) out_bth[i] += att_btht2 * value_t2[i];
    }
  }
}

template <class T>
__host__ __device__ T ceil_div(T dividend, T divisor) {
  return (dividend + divisor - 1) / divisor;
}

void attention_forward1(float* out, float* preatt, float* att, const float* inp, int B, int T, int C, int NH,
                        const int block_size) {
  attention_query_key_kernel1<<<ceil_div(B * NH * T * T, block_size), block_size>>>(preatt, inp, B, T, C, NH);
  attention_softmax_kernel1<<<ceil_div(B * T * NH, block_size), block_size>>>(att, preatt, B, T, NH);
  attention_value_kernel1<<<ceil_div(B * T * NH, block_size), block_size>>>(out, att, inp, B, T, C, NH);
}

int main() {
  const int B = 2, T = 33, C = 48, NH = 3, hs = C / NH;
  float *inp = (float*)malloc(B * T * 3 * C * sizeof(float)),
        *out = (float*)malloc(B * T * C * sizeof(float));
  for (int i = 0; i < B * T * 3 * C; i++) inp[i] = ((float)rand() / RAND_MAX) * 2.0f - 1.0f;
  float *d_inp, *d_out, *d_preatt, *d_att;
  cudaMalloc(&d_inp, B * T * 3 * C * sizeof(float));
  cudaMalloc(&d_out, B * T * C * sizeof(float));
  cudaMalloc(&d_preatt, B * NH * T * T * sizeof(float));
  cudaMalloc(&d_att, B * NH * T * T * sizeof(float));
  cudaMemcpy(d_inp, inp, B * T * 3 * C * sizeof(float), cudaMemcpyHostToDevice);
  attention_forward1(d_out, d_preatt, d_att, d_inp, B, T, C, NH, 64);
  cudaMemcpy(out, d_out, B * T * C * sizeof(float), cudaMemcpyDeviceToHost);

  double worst = 0;
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < NH; ++h)
      for (int t = 0; t < T; ++t) {
        double p[T], sum = 0;
        for (int s = 0; s <= t; ++s) {
          double dot = 0;
          for (int i = 0; i < hs; ++i)
            dot += (double)inp[(b * T + t) * 3 * C + h * hs + i] * inp[(b * T + s) * 3 * C + C + h * hs + i];
          sum += p[s] = exp(dot / sqrt((double)hs));
        }
        for (int i = 0; i < hs; ++i) {
          double o = 0;
          for (int s = 0; s <= t; ++s) o += p[s] / sum * inp[(b * T + s) * 3 * C + 2 * C + h * hs + i];
          worst = fmax(worst, fabs(o - out[(b * T + t) * C + h * hs + i]));
        }
      }
  cudaFree(d_inp), cudaFree(d_out), cudaFree(d_preatt), cudaFree(d_att);
  free(inp), free(out);
  printf("largest error %g, %s\n", worst, cudaGetErrorName(cudaGetLastError()));
  return worst < 1e-5 ? 0 : 1;
}
