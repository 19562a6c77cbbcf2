// Launches through functions instead of <<<...>>>, host functions in streams, mapped memory, limits, symbols.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

struct Scale {
  float factor;
  short offset;
};

__device__ float gain = 1.0f;

__global__ void scale(float* x, const Scale s, int n) {
  extern __shared__ float staging[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  staging[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) x[i] = staging[threadIdx.x] * s.factor * gain + s.offset;
}

template <typename T>
__global__ void accumulate(T* total, T value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *total += value;
}

__global__ void double_gain() { gain *= 2; }

static void CUDART_CB note(void* data) { ++*static_cast<int*>(data); }
static void CUDART_CB on_done(cudaStream_t, cudaError_t status, void* data) {
  *static_cast<int*>(data) += status == cudaSuccess ? 10 : 1000;
}

int main() {
  int wrong = 0;
#define EXPECT(condition) \
  ((condition) ? (void)0 : (void)(++wrong, printf("line %d: %s\n", __LINE__, #condition)))
  EXPECT(cudaSetDeviceFlags(cudaDeviceScheduleAuto) == cudaSuccess);
  const int n = 200;
  float *mapped, *x;
  EXPECT(cudaHostAlloc((void**)&mapped, n * sizeof(float), cudaHostAllocMapped) == cudaSuccess);
  EXPECT(cudaHostGetDevicePointer(&x, mapped, 0) == cudaSuccess);
  for (int i = 0; i < n; ++i) mapped[i] = (float)i;

  Scale by = {2.0f, 3};
  int count = n;
  void* args[] = {&x, &by, &count};
  EXPECT(cudaLaunchKernel(scale, dim3(4), dim3(64), args, 64 * sizeof(float), 0) == cudaSuccess);
  by.factor = 100.0f;  // too late for the launch above
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < n; ++i) EXPECT(mapped[i] == 2.0f * i + 3);

  cudaStream_t stream;
  EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  unsigned flags = 99;
  EXPECT(cudaStreamGetFlags(stream, &flags) == cudaSuccess && flags == cudaStreamNonBlocking);
  const float half = 0.5f;
  EXPECT(cudaMemcpyToSymbolAsync(gain, &half, sizeof half, 0, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  cudaLaunchConfig_t config = {};
  config.gridDim = 2;
  config.blockDim = dim3(128, 1, 1);
  config.dynamicSmemBytes = 128 * sizeof(float);
  config.stream = stream;
  EXPECT(cudaLaunchKernelEx(&config, scale, x, Scale{1.0f, 0}, n) == cudaSuccess);
  int calls = 0;
  EXPECT(cudaLaunchHostFunc(stream, note, &calls) == cudaSuccess);
  EXPECT(cudaStreamAddCallback(stream, on_done, &calls, 0) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(calls == 11);
  for (int i = 0; i < n; ++i) EXPECT(mapped[i] == (2.0f * i + 3) / 2);

  double *total, value = 2.5;
  EXPECT(cudaMallocManaged(&total, sizeof *total) == cudaSuccess);
  *total = 1.0;
  void* typed[] = {&total, &value};
  for (int i = 0; i < 3; ++i)
    EXPECT(cudaLaunchKernel(&accumulate<double>, dim3(2), dim3(32), typed, 0, nullptr) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && *total == 8.5);
  EXPECT(cudaLaunchKernel(&accumulate<double>, dim3(1), dim3(2048), typed, 0, nullptr) != cudaSuccess);
  EXPECT(cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess);

  size_t stack = 0, size = 0;
  EXPECT(cudaDeviceGetLimit(&stack, cudaLimitStackSize) == cudaSuccess && stack > 0);
  EXPECT(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20) == cudaSuccess);
  EXPECT(cudaFuncSetCacheConfig(scale, cudaFuncCachePreferShared) == cudaSuccess);
  EXPECT(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1) == cudaSuccess);
  EXPECT(cudaGetSymbolSize(&size, gain) == cudaSuccess && size == sizeof(float));
  float *address = nullptr, read = 0;
  EXPECT(cudaGetSymbolAddress((void**)&address, gain) == cudaSuccess && address != nullptr);
  EXPECT(cudaMemcpyFromSymbol(&read, gain, sizeof read) == cudaSuccess && read == 0.5f);
  const float quarter = 0.25f;
  double_gain<<<1, 1, 0, stream>>>();
  EXPECT(cudaMemcpyFromSymbolAsync(&read, gain, sizeof read, 0, cudaMemcpyDeviceToHost, stream) ==
         cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && read == 1.0f);
  EXPECT(cudaMemcpyToSymbolAsync(gain, &quarter, sizeof quarter) == cudaSuccess);
  EXPECT(cudaMemcpyFromSymbolAsync(&read, gain, sizeof read) == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && read == 0.25f);
  int lowest = -1, highest = 1;
  EXPECT(cudaDeviceGetStreamPriorityRange(&lowest, &highest) == cudaSuccess && highest <= lowest);

  cudaStreamDestroy(stream);
  cudaFreeHost(mapped);
  cudaFree(total);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
