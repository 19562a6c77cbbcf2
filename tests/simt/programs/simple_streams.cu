// Copies and kernels in several streams, on pinned memory, with and without registration by the program.

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
template <typename T>
void check(T result, char const* const func, const char* const file, int const line) {
  if (result) {
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, static_cast<unsigned int>(result),
            cudaGetErrorName(result), func);
    exit(EXIT_FAILURE);
  }
}

__global__ void init_array(int* g_data, int* factor, int num_iterations) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < num_iterations; i++) g_data[idx] += *factor;  // not hoisted: the time of a real kernel
}

static bool correct_data(const int* a, int n, int c) {
  for (int i = 0; i < n; i++)
    if (a[i] != c) return false;
  return true;
}

int main(int argc, char** argv) {
  const int nstreams = 4, n = 4 * 1024, niterations = 5, nreps = 3, c = 5;
  const size_t nbytes = n * sizeof(int);
  dim3 threads(512, 1), blocks(n / nstreams / threads.x, 1);

  for (int variant = 0; variant < 2; ++variant) {
    int *h_a = 0, *d_a = 0, *d_c = 0;
    void* pageable = 0;
    if (variant == 0) {
      checkCudaErrors(cudaHostAlloc((void**)&h_a, nbytes, cudaHostAllocDefault));
    } else {
      if (posix_memalign(&pageable, sysconf(_SC_PAGESIZE), nbytes) != 0) return EXIT_FAILURE;
      h_a = (int*)pageable;
      checkCudaErrors(cudaHostRegister(h_a, nbytes, cudaHostRegisterMapped));
    }
    checkCudaErrors(cudaMalloc((void**)&d_a, nbytes));
    checkCudaErrors(cudaMemset(d_a, 0x0, nbytes));
    checkCudaErrors(cudaMalloc((void**)&d_c, sizeof(int)));
    checkCudaErrors(cudaMemcpy(d_c, &c, sizeof(int), cudaMemcpyHostToDevice));

    cudaStream_t* streams = (cudaStream_t*)malloc(nstreams * sizeof(cudaStream_t));
    for (int i = 0; i < nstreams; i++) checkCudaErrors(cudaStreamCreate(&(streams[i])));
    cudaEvent_t start_event, stop_event;
    const int eventflags = cudaEventBlockingSync;
    checkCudaErrors(cudaEventCreateWithFlags(&start_event, eventflags));
    checkCudaErrors(cudaEventCreateWithFlags(&stop_event, eventflags));

    float elapsed_time;
    checkCudaErrors(cudaEventRecord(start_event, 0));
    for (int k = 0; k < nreps; k++) {
      for (int i = 0; i < nstreams; i++)
        init_array<<<blocks, threads, 0, streams[i]>>>(d_a + i * n / nstreams, d_c, niterations);
      for (int i = 0; i < nstreams; i++)
        checkCudaErrors(cudaMemcpyAsync(h_a + i * n / nstreams, d_a + i * n / nstreams, nbytes / nstreams,
                                        cudaMemcpyDeviceToHost, streams[i]));
    }
    checkCudaErrors(cudaEventRecord(stop_event, 0));
    checkCudaErrors(cudaEventSynchronize(stop_event));
    checkCudaErrors(cudaEventElapsedTime(&elapsed_time, start_event, stop_event));
    printf("%d streams: %.2f ms\n", nstreams, elapsed_time / nreps);
    if (!correct_data(h_a, n, c * nreps * niterations)) {
      printf("FAILED\n");
      return EXIT_FAILURE;
    }

    for (int i = 0; i < nstreams; i++) checkCudaErrors(cudaStreamDestroy(streams[i]));
    free(streams);
    checkCudaErrors(cudaEventDestroy(start_event));
    checkCudaErrors(cudaEventDestroy(stop_event));
    if (variant == 0) {
      checkCudaErrors(cudaFreeHost(h_a));
    } else {
      checkCudaErrors(cudaHostUnregister(h_a));
      free(pageable);
    }
    checkCudaErrors(cudaFree(d_a));
    checkCudaErrors(cudaFree(d_c));
  }
  return EXIT_SUCCESS;
}
