// A separable filter: coefficients in constant memory, rows with a halo in shared memory.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1

__constant__ float c_Kernel[KERNEL_LENGTH];
__constant__ struct { float scale, bias; } c_output;

__global__ void convolutionRows(float* d_Dst, const float* d_Src, int imageW, int imageH, int pitch) {
  __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];
  const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
  const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;
  d_Src += baseY * pitch + baseX;
  d_Dst += baseY * pitch + baseX;
#pragma unroll
  for (int i = 0; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++) {
    const int x = baseX + i * ROWS_BLOCKDIM_X;
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
        x >= 0 && x < imageW ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
      sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
    d_Dst[i * ROWS_BLOCKDIM_X] = sum * c_output.scale + c_output.bias;
  }
}

int main() {
  const int w = 256, h = 16;
  std::vector<float> kernel(KERNEL_LENGTH), in(w * h), out(w * h);
  for (int i = 0; i < KERNEL_LENGTH; ++i) kernel[i] = 1.0f / (1 + i);
  for (int i = 0; i < w * h; ++i) in[i] = sinf((float)i);
  const float output[2] = {2.0f, 0.25f};
  cudaMemcpyToSymbol(c_Kernel, kernel.data(), KERNEL_LENGTH * sizeof(float));
  cudaMemcpyToSymbol(c_output, output, sizeof(float), 0);
  cudaMemcpyToSymbol(c_output, output + 1, sizeof(float), sizeof(float));
  size_t symbolBytes = 0;
  cudaGetSymbolSize(&symbolBytes, c_Kernel);

  float *d_in, *d_out;
  cudaMalloc(&d_in, w * h * sizeof(float));
  cudaMalloc(&d_out, w * h * sizeof(float));
  cudaMemcpy(d_in, in.data(), w * h * sizeof(float), cudaMemcpyHostToDevice);
  dim3 blocks(w / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), h / ROWS_BLOCKDIM_Y);
  convolutionRows<<<blocks, dim3(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y)>>>(d_out, d_in, w, h, w);
  cudaMemcpy(out.data(), d_out, w * h * sizeof(float), cudaMemcpyDeviceToHost);

  float readBack[KERNEL_LENGTH];
  cudaMemcpyFromSymbol(readBack, c_Kernel, sizeof(readBack));
  bool ok = symbolBytes == sizeof(readBack) && readBack[3] == kernel[3];
  double worst = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      double sum = 0;
      for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; ++j)
        if (x + j >= 0 && x + j < w) sum += (double)kernel[KERNEL_RADIUS - j] * in[y * w + x + j];
      worst = fmax(worst, fabs(sum * 2.0 + 0.25 - out[y * w + x]));
    }
  cudaFree(d_in);
  cudaFree(d_out);
  printf("largest error %g\n", worst);
  return ok && worst < 1e-5 ? 0 : 1;
}
