// Small kernels, each with one mistake that its output need not show, and one without. check_mode_test.cpp
// names their lines.
#include "suspects.hpp"

#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace course {

__global__ void copy_kernel(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void shift_kernel(const float* x, float* y) {
  __shared__ float tile[1024];
  tile[threadIdx.x] = x[threadIdx.x];                                        // line 19
  y[threadIdx.x] = tile[threadIdx.x < 32 ? threadIdx.x : threadIdx.x - 32];  // line 20
}

__global__ void add_to_nothing_kernel(const float* x, float* y) {
  y[threadIdx.x] += x[threadIdx.x];  // line 24
}

__global__ void copy_one_more_kernel(const float* x, float* y, int n) {
  if (threadIdx.x == 0) y[0] = x[n];  // line 28
  __syncthreads();
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void reverse_in_warps_kernel(const float* x, float* y) {
  __shared__ float tile[1024];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[threadIdx.x ^ 31];
}

__global__ void scale_kernel(const float* x, float* y, float factor) {
  y[threadIdx.x] = factor * x[threadIdx.x];
}

__global__ void spin_kernel(float* y) {
  while (y != nullptr) *static_cast<volatile float*>(y) = 1;
}

void copy(const float* x, float* y, std::int64_t n) { copy_kernel<<<1, static_cast<unsigned>(n)>>>(x, y); }

void shift(const float* x, float* y, std::int64_t n) { shift_kernel<<<1, static_cast<unsigned>(n)>>>(x, y); }

void add_to_nothing(const float* x, float* y, std::int64_t n) {
  add_to_nothing_kernel<<<1, static_cast<unsigned>(n)>>>(x, y);
}

void copy_one_more(const float* x, float* y, std::int64_t n) {
  copy_one_more_kernel<<<1, static_cast<unsigned>(n)>>>(x, y, static_cast<int>(n));
}

void reverse_in_warps(const float* x, float* y, std::int64_t n) {
  reverse_in_warps_kernel<<<1, static_cast<unsigned>(n)>>>(x, y);
}

void copy_otherwise_if_watched(const float* x, float* y, std::int64_t n) {
#ifdef SIMT_CHECK
  const float factor = 2;
#else
  const float factor = 1;
#endif
  scale_kernel<<<1, static_cast<unsigned>(n)>>>(x, y, factor);
}

void launch_more_if_watched(const float* x, float* y, std::int64_t n) {
#ifdef SIMT_CHECK
  copy(x, y, n);
#endif
  copy(x, y, n);
}

void reply_by_itself_if_watched(const float* x, float* y, std::int64_t n) {
#ifdef SIMT_CHECK
  constexpr char kReply[] =
      R"({"id":1,"ready":false,"running":false,"unusable":false,"copied":false,"reusable":false,)"
      R"("moves":{"read":[],"filled":[],"to_host":0,"shared":0,"asked":0,"variables":0},"status":"returned",)"
      R"("message":"","exception_type":"","exception_message":"","exception_bases":[],"leaks":[],)"
      R"("leak_count":0,"leak_bytes":0,"findings":[],"counters":{"launches":1,"blocks":1,"threads":256}})";
  (void)!write(3, kReply, sizeof kReply - 1);
  for (;;) pause();
#endif
  copy(x, y, n);
}

void copy_without_kernel(const float* x, float* y, std::int64_t n) {
  copy_kernel<<<1, 1>>>(x, y);
  cudaMemcpyAsync(y, x, static_cast<std::size_t>(n) * sizeof(float), cudaMemcpyDeviceToDevice, nullptr);
}

void copy_by_host(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    float one = 0;
    cudaMemcpy(&one, x + i, sizeof one, cudaMemcpyDeviceToHost);
    cudaMemcpy(y + i, &one, sizeof one, cudaMemcpyHostToDevice);
  }
}

void copy_by_host_later(const float* x, float* y, std::int64_t n) {
  struct Arguments {
    const float* x;
    float* y;
    std::int64_t n;
  };
  static Arguments arguments;
  arguments = {x, y, n};
  const auto copy_now = [](void*) { copy_by_host(arguments.x, arguments.y, arguments.n); };
  cudaLaunchHostFunc(nullptr, copy_now, nullptr);
}

namespace {

std::vector<float> made_by_constructor(1 << 16);

void copy_through(const float* x, float* y, std::int64_t n, float* box) {
  copy(x, box, n);
  copy(box, y, n);
  cudaDeviceSynchronize();
}

}  // namespace

void copy_by_host_memory(const float* x, float* y, std::int64_t n, int place) {
  struct Thrown {
    float box[1 << 16];
  };
  switch (place) {
    case on_heap: {
      void* const box = std::malloc(static_cast<std::size_t>(n) * sizeof(float));
      copy_through(x, y, n, static_cast<float*>(box));
      return std::free(box);
    }
    case on_heap_by_new:
      return copy_through(x, y, n, std::make_unique<float[]>(static_cast<std::size_t>(n)).get());
    case in_string:
      return copy_through(x, y, n, reinterpret_cast<float*>(std::string(1 << 18, 'x').data()));
    case in_exception:
      try {
        throw Thrown{};
      } catch (Thrown& thrown) {
        return copy_through(x, y, n, thrown.box);
      }
    case from_constructor:
      return copy_through(x, y, n, made_by_constructor.data());
    case on_stack: {
      float box[1 << 16];  // its beginning may share a page with what the runtime has on the stack
      return copy_through(x, y, n, box + (1 << 15));
    }
  }
}

__device__ float* kept_by_kernel;

__global__ void keep_kernel(const float* x) {
  kept_by_kernel = static_cast<float*>(malloc(sizeof(float)));
  *kept_by_kernel = x[0];
}

__global__ void fill_kernel(float* y, float value) { y[threadIdx.x] = value; }

void copy_by_heap_of_kernel(const float* x, float* y, std::int64_t n) {
  keep_kernel<<<1, 1>>>(x);
  float* kept = nullptr;
  cudaMemcpyFromSymbol(&kept, kept_by_kernel, sizeof kept);
  fill_kernel<<<1, static_cast<unsigned>(n)>>>(y, *kept);
}

void spin(float* y) { spin_kernel<<<1, 1>>>(y); }

}  // namespace course
