// cp.async with its groups, sizes, zero fill and hints.
#include <cstdio>

__global__ void copies(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[8][32];
  const unsigned lane = threadIdx.x;
  for (int row = 0; row < 8; ++row) tile[row][lane] = 0xdddddddd;
  __syncthreads();
  unsigned a[8];
  for (int row = 0; row < 8; ++row)
    a[row] = static_cast<unsigned>(__cvta_generic_to_shared(&tile[row][lane]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(a[0]), "l"(in + lane) : "memory");
  if (lane % 2 == 0)
    asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], 8;" ::"r"(a[1]), "l"(in + lane) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  if (lane % 4 == 0) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(a[2]), "l"(in + lane) : "memory");
    asm volatile("cp.async.cg.shared::cta.global.L2::128B [%0], [%1], 16, %2;" ::"r"(a[3]), "l"(in + lane),
                 "r"(lane % 16)
                 : "memory");
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(a[4]), "l"(in + lane), "n"(4),
               "r"(lane < 10 ? 4 : 0)
               : "memory");
  asm volatile(
      "{ .reg .pred p; setp.gt.u32 p, %2, 20; cp.async.ca.shared.global [%0], [%1], 4, p; }" ::"r"(a[5]),
      "l"(in + lane), "r"(lane)
      : "memory");
  asm volatile(
      "{ .reg .pred p; setp.gt.u32 p, %2, 20; @p cp.async.ca.shared.global [%0], [%1], 4; }" ::"r"(a[6]),
      "l"(in + lane), "r"(lane)
      : "memory");
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  if (lane % 4 == 0)
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(a[7]), "l"(in + lane),
                 "l"(policy)
                 : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int row = 0; row < 8; ++row) out[row * 32 + lane] = tile[row][lane];
}

int main() {
  unsigned host[256];
  for (int i = 0; i < 32; ++i) host[i] = 0x100 + i;
  unsigned *in, *out;
  cudaMalloc(&in, 128);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, 128, cudaMemcpyHostToDevice);
  copies<<<1, 32>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int row = 0; row < 8; ++row) {
    for (int lane = 0; lane < 32; ++lane) printf("%x ", host[row * 32 + lane]);
    printf("\n");
  }
  cudaFree(in);
  cudaFree(out);
  return cudaDeviceSynchronize();
}
