// The reverse complement of a DNA string is read from shared memory before the other warps have stored their
// letters. The rule holds for single bytes as for words: __syncthreads() between one thread's write and
// another's read.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

#include <cstring>

__device__ char complement(char base) {
  switch (base) {
    case 'A':
      return 'T';
    case 'T':
      return 'A';
    case 'C':
      return 'G';
    default:
      return 'C';
  }
}

__global__ void reverse_complement(const char* dna, char* out) {
  __shared__ char letters[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  letters[t] = complement(dna[i]);                                 // A
  out[(gridDim.x - 1 - blockIdx.x) * 128 + t] = letters[127 - t];  // B
}

int main() {
  char text[256], *dna, *out;
  std::memset(text, 'G', sizeof text);
  cudaMalloc(&dna, sizeof text);
  cudaMalloc(&out, sizeof text);
  cudaMemcpy(dna, text, sizeof text, cudaMemcpyHostToDevice);
  reverse_complement<<<2, 128>>>(dna, out);
  cudaMemcpy(text, out, sizeof text, cudaMemcpyDeviceToHost);
  cudaFree(dna);
  cudaFree(out);
  return 0;
}
