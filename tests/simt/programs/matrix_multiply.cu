// Tiled matrix product with the tile size as a template parameter, timed with events.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t status_ = (call);                                                               \
    if (status_ != cudaSuccess) {                                                               \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(status_)); \
      exit(EXIT_FAILURE);                                                                       \
    }                                                                                           \
  } while (0)

template <int BLOCK_SIZE>
__global__ void MatrixMulCUDA(float* C, float* A, float* B, int wA, int wB) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int aBegin = wA * BLOCK_SIZE * by, aEnd = aBegin + wA - 1, aStep = BLOCK_SIZE;
  int bBegin = BLOCK_SIZE * bx, bStep = BLOCK_SIZE * wB;
  float Csub = 0;
  for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BLOCK_SIZE; ++k) Csub += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[wB * BLOCK_SIZE * by + BLOCK_SIZE * bx + wB * ty + tx] = Csub;
}

template <int BLOCK_SIZE>
bool run(int hA, int wA, int wB) {
  const size_t bytesA = sizeof(float) * hA * wA, bytesB = sizeof(float) * wA * wB,
               bytesC = sizeof(float) * hA * wB;
  float *h_A, *h_B, *h_C;
  CHECK(cudaMallocHost(&h_A, bytesA));
  CHECK(cudaMallocHost(&h_B, bytesB));
  CHECK(cudaMallocHost(&h_C, bytesC));
  for (int i = 0; i < hA * wA; ++i) h_A[i] = (float)(i % 7) - 3.0f;
  for (int i = 0; i < wA * wB; ++i) h_B[i] = (float)(i % 5) * 0.5f;

  float *d_A, *d_B, *d_C;
  CHECK(cudaMalloc(reinterpret_cast<void**>(&d_A), bytesA));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&d_B), bytesB));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&d_C), bytesC));
  cudaStream_t stream;
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMemcpyAsync(d_A, h_A, bytesA, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(d_B, h_B, bytesB, cudaMemcpyHostToDevice, stream));

  dim3 threads(BLOCK_SIZE, BLOCK_SIZE);
  dim3 grid(wB / threads.x, hA / threads.y);
  const int repeats = 3;
  CHECK(cudaEventRecord(start, stream));
  for (int j = 0; j < repeats; ++j)
    MatrixMulCUDA<BLOCK_SIZE><<<grid, threads, 0, stream>>>(d_C, d_A, d_B, wA, wB);
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaEventSynchronize(stop));
  float msecTotal = 0.0f;
  CHECK(cudaEventElapsedTime(&msecTotal, start, stop));
  printf("%d x %d tiles: %.3f ms each\n", BLOCK_SIZE, BLOCK_SIZE, msecTotal / repeats);

  CHECK(cudaMemcpyAsync(h_C, d_C, bytesC, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  bool correct = msecTotal > 0.0f;
  for (int row = 0; row < hA; ++row)
    for (int col = 0; col < wB; ++col) {
      double sum = 0;
      for (int k = 0; k < wA; ++k) sum += (double)h_A[row * wA + k] * h_B[k * wB + col];
      if (fabs(sum - h_C[row * wB + col]) > 1e-6) correct = false;
    }
  CHECK(cudaFree(d_A));
  CHECK(cudaFree(d_B));
  CHECK(cudaFree(d_C));
  CHECK(cudaFreeHost(h_A));
  CHECK(cudaFreeHost(h_B));
  CHECK(cudaFreeHost(h_C));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaStreamDestroy(stream));
  return correct;
}

int main() {
  const bool correct = run<16>(64, 96, 128) && run<32>(64, 96, 128);
  printf("Result = %s\n", correct ? "PASS" : "FAIL");
  return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
