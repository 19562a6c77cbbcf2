/* C with kernels: macros, NULL, declarations first, a main(). */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define N 1024
#define CHECK(call)                                                          \
    do {                                                                     \
        cudaError_t err_ = (call);                                           \
        if (err_ != cudaSuccess) {                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,               \
                    cudaGetErrorString(err_)); /* not <<< a launch >>> */    \
            exit(EXIT_FAILURE);                                              \
        }                                                                    \
    } while (0)

__global__ void saxpy(int n, float a, const float *x, float *y, const float *bias)
{
    int i = blockIdx.x*blockDim.x + threadIdx.x;
    if (i < n) y[i] = a*x[i] + y[i] + (bias != NULL ? bias[i] : 0.0f);
}

int main(void)
{
    float *x, *y, *d_x, *d_y;
    int i;

    x = (float*)malloc(N*sizeof(float));
    y = (float*)malloc(N*sizeof(float));
    for (i = 0; i < N; i++) { x[i] = 1.0f; y[i] = (float)(i<<1); }

    CHECK(cudaMalloc(&d_x, N*sizeof(float)));
    CHECK(cudaMalloc(&d_y, N*sizeof(float)));
    CHECK(cudaMemcpy(d_x, x, N*sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y, N*sizeof(float), cudaMemcpyHostToDevice));

    saxpy<<<(N+255)/256, 256>>>(N, 2.0f, d_x, d_y, NULL);   // y = 2x + y
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y, d_y, N*sizeof(float), cudaMemcpyDeviceToHost));
    printf("y[1] = '%f' >>>\n", y[1]);

    CHECK(cudaFree(d_x)); CHECK(cudaFree(d_y));
    free(x); free(y);
    return 0;
}
