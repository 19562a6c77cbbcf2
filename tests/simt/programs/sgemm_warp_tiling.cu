// A matrix product with three levels of tiles (block, warp, thread) and helper functions in a namespace.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

const int WARPSIZE = 32;

namespace wt {
template <const int BM, const int BN, const int BK, const int rowStrideA, const int rowStrideB>
__device__ void loadFromGmem(int N, int K, const float* A, const float* B, float* As, float* Bs,
                             int innerRowA, int innerColA, int innerRowB, int innerColB) {
  for (unsigned offset = 0; offset + rowStrideA <= BM; offset += rowStrideA) {
    const float4 tmp = reinterpret_cast<const float4*>(&A[(innerRowA + offset) * K + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA + offset] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA + offset] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA + offset] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA + offset] = tmp.w;
  }
  for (unsigned offset = 0; offset + rowStrideB <= BK; offset += rowStrideB)
    reinterpret_cast<float4*>(&Bs[(innerRowB + offset) * BN + innerColB * 4])[0] =
        reinterpret_cast<const float4*>(&B[(innerRowB + offset) * N + innerColB * 4])[0];
}

template <const int BM, const int BN, const int BK, const int WM, const int WN, const int WMITER,
          const int WNITER, const int WSUBM, const int WSUBN, const int TM, const int TN>
__device__ void processFromSmem(float* regM, float* regN, float* threadResults, const float* As,
                                const float* Bs, const unsigned warpRow, const unsigned warpCol,
                                const unsigned threadRowInWarp, const unsigned threadColInWarp) {
  for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
    for (unsigned m = 0; m < WMITER; ++m)
      for (unsigned i = 0; i < TM; ++i)
        regM[m * TM + i] = As[(dotIdx * BM) + warpRow * WM + m * WSUBM + threadRowInWarp * TM + i];
    for (unsigned n = 0; n < WNITER; ++n)
      for (unsigned i = 0; i < TN; ++i)
        regN[n * TN + i] = Bs[(dotIdx * BN) + warpCol * WN + n * WSUBN + threadColInWarp * TN + i];
    for (unsigned m = 0; m < WMITER * TM; ++m)
      for (unsigned n = 0; n < WNITER * TN; ++n) threadResults[m * (WNITER * TN) + n] += regM[m] * regN[n];
  }
}
}  // namespace wt

template <const int BM, const int BN, const int BK, const int WM, const int WN, const int WNITER,
          const int TM, const int TN, const int NUM_THREADS>
__global__ void __launch_bounds__(NUM_THREADS)
    sgemmWarptiling(int M, int N, int K, const float* A, const float* B, float* C) {
  const unsigned warpIdx = threadIdx.x / WARPSIZE;
  const unsigned warpCol = warpIdx % (BN / WN), warpRow = warpIdx / (BN / WN);
  constexpr unsigned WMITER = (WM * WN) / (WARPSIZE * TM * TN * WNITER);
  constexpr unsigned WSUBM = WM / WMITER, WSUBN = WN / WNITER;
  const unsigned threadIdxInWarp = threadIdx.x % WARPSIZE;
  const unsigned threadColInWarp = threadIdxInWarp % (WSUBN / TN),
                 threadRowInWarp = threadIdxInWarp / (WSUBN / TN);

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + warpRow * WM) * N + blockIdx.x * BN + warpCol * WN;
  constexpr unsigned rowStrideA = (NUM_THREADS * 4) / BK, rowStrideB = NUM_THREADS / (BN / 4);
  float threadResults[WMITER * TM * WNITER * TN] = {0.0}, regM[WMITER * TM] = {0.0},
                                             regN[WNITER * TN] = {0.0};
  for (unsigned bkIdx = 0; bkIdx < K; bkIdx += BK) {
    wt::loadFromGmem<BM, BN, BK, rowStrideA, rowStrideB>(N, K, A, B, As, Bs, threadIdx.x / (BK / 4),
                                                         threadIdx.x % (BK / 4), threadIdx.x / (BN / 4),
                                                         threadIdx.x % (BN / 4));
    __syncthreads();
    wt::processFromSmem<BM, BN, BK, WM, WN, WMITER, WNITER, WSUBM, WSUBN, TM, TN>(
        regM, regN, threadResults, As, Bs, warpRow, warpCol, threadRowInWarp, threadColInWarp);
    A += BK;
    B += BK * N;
    __syncthreads();
  }
  for (unsigned m = 0; m < WMITER; ++m)
    for (unsigned n = 0; n < WNITER; ++n) {
      float* C_interim = C + (m * WSUBM) * N + n * WSUBN;
      for (unsigned i = 0; i < TM; i += 1)
        for (unsigned j = 0; j < TN; j += 4) {
          const float* r = &threadResults[(m * TM + i) * (WNITER * TN) + n * TN + j];
          reinterpret_cast<float4*>(
              &C_interim[(threadRowInWarp * TM + i) * N + threadColInWarp * TN + j])[0] =
              make_float4(r[0], r[1], r[2], r[3]);
        }
    }
}

int main() {
  constexpr int M = 128, N = 128, K = 64, BM = 64, BN = 64, BK = 16, WM = 32, WN = 32, WNITER = 1, TM = 4,
                TN = 4;
  constexpr int THREADS = (BM / WM) * (BN / WN) * WARPSIZE;
  std::vector<float> A(M * K), B(K * N), C(M * N);
  for (int i = 0; i < M * K; ++i) A[i] = (float)(i * 31 % 17 - 8);
  for (int i = 0; i < K * N; ++i) B[i] = (float)(i * 13 % 11 - 5) * 0.125f;
  float *dA, *dB, *dC;
  cudaMalloc(&dA, A.size() * sizeof(float));
  cudaMalloc(&dB, B.size() * sizeof(float));
  cudaMalloc(&dC, C.size() * sizeof(float));
  cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice);
  sgemmWarptiling<BM, BN, BK, WM, WN, WNITER, TM, TN, THREADS>
      <<<dim3(N / BN, M / BM), THREADS>>>(M, N, K, dA, dB, dC);
  cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += (double)A[i * K + k] * B[k * N + j];
      worst = std::fmax(worst, std::fabs(sum - C[i * N + j]));
    }
  cudaFree(dA), cudaFree(dB), cudaFree(dC);
  printf("largest error %g, %s\n", worst, cudaGetErrorString(cudaGetLastError()));
  return worst < 1e-4 ? 0 : 1;
}
