// Transposes of one matrix, chosen through a pointer to a kernel.

#include <cstdio>
#include <vector>

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void copy(float* odata, const float* idata, int width, int height) {
  int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) odata[(y + j) * width + x] = idata[(y + j) * width + x];
}

__global__ void transposeNaive(float* odata, const float* idata, int width, int height) {
  int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) odata[x * height + (y + j)] = idata[(y + j) * width + x];
}

template <int PAD>
__global__ void transposeTiled(float* odata, const float* idata, int width, int height) {
  __shared__ float tile[TILE_DIM][TILE_DIM + PAD];
  int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char** argv) {
  const int width = 128, height = 64;
  std::vector<float> h_in(width * height), h_out(width * height);
  for (int i = 0; i < width * height; ++i) h_in[i] = (float)i;
  float *d_in, *d_out;
  cudaMalloc(&d_in, sizeof(float) * width * height);
  cudaMalloc(&d_out, sizeof(float) * width * height);
  cudaMemcpy(d_in, h_in.data(), sizeof(float) * width * height, cudaMemcpyHostToDevice);

  dim3 grid(width / TILE_DIM, height / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS);
  void (*kernel)(float*, const float*, int, int) = nullptr;
  const char* kernelName = "";
  int failures = 0;
  for (int k = 0; k < 4; ++k) {
    switch (k) {
      case 0:
        kernel = &copy;
        kernelName = "copy";
        break;
      case 1:
        kernel = &transposeNaive;
        kernelName = "naive";
        break;
      case 2:
        kernel = &transposeTiled<0>;
        kernelName = "tiled";
        break;
      case 3:
        kernel = &transposeTiled<1>;
        kernelName = "tiled, padded";
        break;
    }
    cudaMemset(d_out, 0, sizeof(float) * width * height);
    kernel<<<grid, threads>>>(d_out, d_in, width, height);
    cudaMemcpy(h_out.data(), d_out, sizeof(float) * width * height, cudaMemcpyDeviceToHost);
    bool ok = true;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        ok &= h_out[k == 0 ? y * width + x : x * height + y] == h_in[y * width + x];
    printf("%-14s %s\n", kernelName, ok ? "ok" : "WRONG");
    failures += !ok;
  }
  cudaFree(d_in);
  cudaFree(d_out);
  return failures;
}
