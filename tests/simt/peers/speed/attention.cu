// O = softmax(Q K^T / sqrt(d)) V, one thread a query row, online softmax, and how long the kernel takes.
//
//   attention [REPETITIONS [FILE]]     FILE takes O, as 128 * 32 floats

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

constexpr int kRows = 128, kDim = 32, kBlockThreads = 32;

__global__ void attention_kernel(const float* Q, const float* K, const float* V, float* O) {
  const int row = blockIdx.x * kBlockThreads + threadIdx.x;
  float q[kDim], o[kDim];
  for (int d = 0; d < kDim; ++d) {
    q[d] = Q[row * kDim + d];
    o[d] = 0.0f;
  }
  float largest = -INFINITY, sum = 0.0f;
  for (int key = 0; key < kRows; ++key) {
    float score = 0.0f;
    for (int d = 0; d < kDim; ++d) score += q[d] * K[key * kDim + d];
    score *= 0.17677669f;  // 1 / sqrt(32)
    const float new_largest = fmaxf(largest, score);
    const float shrink = expf(largest - new_largest), weight = expf(score - new_largest);
    sum = sum * shrink + weight;
    for (int d = 0; d < kDim; ++d) o[d] = o[d] * shrink + weight * V[key * kDim + d];
    largest = new_largest;
  }
  for (int d = 0; d < kDim; ++d) O[row * kDim + d] = o[d] / sum;
}

/// Numbers in [-0.5, 0.5), the same in every language.
std::vector<float> numbers(int count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = float((i + seed) * 2654435761u >> 8) / 16777216.0f - 0.5f;
  return values;
}

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 1;
  const int count = kRows * kDim;
  const std::vector<float> q = numbers(count, 0), k = numbers(count, 1000003), v = numbers(count, 2000006);
  float *Q, *K, *V, *O;
  cudaMalloc(&Q, count * sizeof(float));
  cudaMalloc(&K, count * sizeof(float));
  cudaMalloc(&V, count * sizeof(float));
  cudaMalloc(&O, count * sizeof(float));
  cudaMemcpy(Q, q.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(K, k.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(V, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);

  double best = INFINITY, best_cpu = 0;
  cudaError_t error = cudaSuccess;
  for (int run = 0; run < repetitions && error == cudaSuccess; ++run) {
    const std::clock_t cpu_start = std::clock();
    const auto start = std::chrono::steady_clock::now();
    attention_kernel<<<kRows / kBlockThreads, kBlockThreads>>>(Q, K, V, O);
    error = cudaDeviceSynchronize();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (time.count() >= best) continue;
    best = time.count();
    best_cpu = double(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  }
  std::printf("kernel: %.6f s, %.6f s of CPU time, best of %d\n", best, best_cpu, repetitions);

  std::vector<float> o(count);
  cudaMemcpy(o.data(), O, count * sizeof(float), cudaMemcpyDeviceToHost);
  if (std::FILE* file = argc > 2 ? std::fopen(argv[2], "wb") : nullptr) {
    std::fwrite(o.data(), sizeof(float), count, file);
    std::fclose(file);
  }
  cudaFree(Q);
  cudaFree(K);
  cudaFree(V);
  cudaFree(O);
  return error == cudaSuccess ? 0 : 1;
}
