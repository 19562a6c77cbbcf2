// volatile, __noinline__, several ways to spell a declaration of shared memory, and shifts everywhere.
#include <cuda_runtime.h>

typedef unsigned int uint;
typedef unsigned char uchar;

#define LOG2_BINS 8
#define BINS (1 << LOG2_BINS)

static __device__ __noinline__ uint bin_of(uint word, uint byte) { return (word >> (byte << 3)) & (BINS - 1); }

__global__ void histogram256(uint *bins, const uint *data, uint count)
{
	extern volatile __shared__ uint s_warp[];
	static __shared__ uint s_total;
	__shared__ uint s_bins[BINS];
	volatile __shared__ float s_scale[1];

	if (threadIdx.x == 0) { s_total = 0; s_scale[0] = 1.0f; }
	for (uint i = threadIdx.x; i < BINS; i += blockDim.x) s_bins[i] = s_warp[i] = 0;
	__syncthreads();
	for (uint pos = blockIdx.x*blockDim.x + threadIdx.x; pos < count; pos += gridDim.x*blockDim.x)
		for (uint byte = 0; byte < 4; ++byte)
			atomicAdd(s_bins + bin_of(data[pos], byte), 1u);
	__syncthreads();
	for (uint i = threadIdx.x; i < BINS; i += blockDim.x)
		atomicAdd(bins + i, s_bins[i]);
	atomicAdd(&s_total, 1u);
}

extern "C" void histogram(uint *bins, void *data, uint bytes)
{
	const uint words = bytes >> 2;
	const uint threads = 1u << 7;
	cudaMemset(bins, 0, BINS << 2);
	histogram256<<<words >> 10 ? words >> 10 : 1, threads, BINS << 2>>>(bins, (uint *)data, words);
}
