// Copies within the device bring on what a kernel, the host and an earlier copy have written: whole, by rows,
// and of a struct with padding.
#include <cuda_runtime.h>

struct Record {
  char kind;
  double value;
};

__global__ void make(float* x, Record* records, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  x[i] = 2.0f * i;
  records[i].kind = 'a';
  records[i].value = i;
}

__global__ void use(const float* x, const float* rows, const Record* records, float* sums, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const Record record = records[i];
  sums[i] = x[i] + x[n + i] + rows[i] + static_cast<float>(record.value);
}

int main() {
  const int n = 32, width = 8, pitch = 12;
  float values[n] = {}, *made, *x, *rows, *sums;
  Record *records, *copies;
  cudaMalloc(&made, pitch * n / width * sizeof(float));
  cudaMalloc(&x, 2 * n * sizeof(float));
  cudaMalloc(&rows, n * sizeof(float));
  cudaMalloc(&sums, n * sizeof(float));
  cudaMalloc(&records, n * sizeof(Record));
  cudaMalloc(&copies, n * sizeof(Record));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  make<<<1, n>>>(made, records, n);
  cudaMemcpy(x + n, made, n * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemcpy(made, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemcpy2D(made, pitch * sizeof(float), x, width * sizeof(float), width * sizeof(float), n / width,
               cudaMemcpyDeviceToDevice);
  cudaMemcpy2D(rows, width * sizeof(float), made, pitch * sizeof(float), width * sizeof(float), n / width,
               cudaMemcpyDeviceToDevice);
  cudaMemcpyAsync(copies, records, n * sizeof(Record), cudaMemcpyDeviceToDevice);
  use<<<1, n>>>(x, rows, copies, sums, n);
  cudaDeviceSynchronize();
  for (void* memory : {static_cast<void*>(made), static_cast<void*>(x), static_cast<void*>(rows),
                       static_cast<void*>(sums), static_cast<void*>(records), static_cast<void*>(copies)})
    cudaFree(memory);
  return 0;
}
