// What the lanes of a warp do together, and the barriers of a block.
#include <cstdio>

constexpr int kRows = 24;

__global__ void lanes(unsigned* out) {
  const unsigned lane = threadIdx.x;
  const unsigned value = lane * lane % 7 + 100;
  unsigned r[kRows] = {};
  asm volatile("shfl.sync.idx.b32 %0, %1, 5, 0x1f, 0xffffffff;" : "=r"(r[0]) : "r"(lane));
  asm volatile("shfl.sync.up.b32 %0, %1, 3, 0, 0xffffffff;" : "=r"(r[1]) : "r"(lane));
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x181f, -1;" : "=r"(r[2]) : "r"(lane), "r"(3));
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(r[3]) : "r"(lane));
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 20, 31, -1; selp.u32 %1, 1, 0, p; }"
               : "=r"(r[4]), "=r"(r[5])
               : "r"(lane));
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, 8, 0x1000, -1; selp.u32 %0, 1, 0, p; }"
               : "=r"(r[6])
               : "r"(lane));
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 9; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
               : "=r"(r[7])
               : "r"(lane));
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 9; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
               : "=r"(r[8])
               : "r"(lane));
  asm volatile(
      "{ .reg .pred p, q; setp.lt.u32 p, %1, 99; vote.sync.uni.pred q, !p, -1; selp.u32 %0, 1, 0, q; }"
      : "=r"(r[9])
      : "r"(lane));
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 9; vote.sync.ballot.b32 %0, p, -1; }"
               : "=r"(r[10])
               : "r"(lane));
  asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(r[11]) : "r"(value));
  asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, -1; selp.u32 %1, 1, 0, p; }"
               : "=r"(r[12]), "=r"(r[13])
               : "r"(5));
  asm volatile("match.all.sync.b64 %0, %1, -1;" : "=r"(r[14]) : "l"((unsigned long long)lane));
  asm volatile("redux.sync.add.s32 %0, %1, -1;" : "=r"(r[15]) : "r"(value));
  asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(r[16]) : "r"(lane - 9));
  asm volatile("redux.sync.max.u32 %0, %1, -1;" : "=r"(r[17]) : "r"(lane));
  asm volatile("redux.sync.xor.b32 %0, %1, -1;" : "=r"(r[18]) : "r"(1u << lane));
  asm volatile("redux.sync.and.b32 %0, %1, -1;" : "=r"(r[19]) : "r"(lane | 64));
  if (lane < 20) {
    asm volatile("activemask.b32 %0;" : "=r"(r[20]));
    asm volatile("redux.sync.or.b32 %0, %1, 0xfffff;" : "=r"(r[21]) : "r"(lane));
    asm volatile("bar.warp.sync 0xfffff;" ::: "memory");
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(r[22]), "=r"(r[23]));
#endif
  for (int row = 0; row < kRows; ++row) out[row * 32 + lane] = r[row];
}

/// Two warps make, two take: named barriers say when the buffer is full and when it is free.
__global__ void hand_over(unsigned* out) {
  __shared__ unsigned buffer[64];
  const unsigned thread = threadIdx.x;
  for (unsigned round = 0; round < 3; ++round) {
    if (thread < 64) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      buffer[thread] = 100 * round + thread;
      asm volatile("bar.arrive %0, %1;" ::"r"(1), "n"(128) : "memory");
    } else {
      asm volatile("barrier.cta.arrive.aligned 2, 128;" ::: "memory");
      asm volatile("barrier.sync 1, 128;" ::: "memory");
      out[round * 64 + thread - 64] = buffer[127 - thread];
    }
  }
  unsigned count, all, any;
  asm volatile("barrier.sync.aligned 0;" ::: "memory");
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 50; bar.red.popc.u32 %0, 0, p; }"
               : "=r"(count)
               : "r"(thread));
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 50; bar.red.and.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
               : "=r"(all)
               : "r"(thread));
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 50; bar.red.or.pred q, 0, !p; selp.u32 %0, 1, 0, q; }"
               : "=r"(any)
               : "r"(thread));
  asm volatile("bar.sync 3;" ::: "memory");
  if (thread == 77) out[192] = count, out[193] = all, out[194] = any;
}

/// Two pairs of warps vote at barriers of their own; then every third lane leaves, and the others go on.
__global__ void parted(unsigned* out) {
  const unsigned thread = threadIdx.x, pair = thread / 64;
  unsigned count, any, all;
  for (unsigned round = 0; round < 2; ++round) {
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, %2; bar.red.popc.u32 %0, %3, 64, p; }"
                 : "=r"(count)
                 : "r"(thread % 64), "r"(10 + 20 * pair + round), "r"(1 + pair));
    asm volatile(
        "{ .reg .pred p, q; setp.eq.u32 p, %1, 127; barrier.red.or.pred q, %2, 64, p; selp.u32 %0, 1, 0, q; }"
        : "=r"(any)
        : "r"(thread), "r"(1 + pair));
    asm volatile(
        "{ .reg .pred p, q; setp.ge.u32 p, %1, 64; barrier.cta.red.and.aligned.pred q, %2, 64, p; selp.u32 "
        "%0, 1, 0, q; }"
        : "=r"(all)
        : "r"(thread), "r"(1 + pair));
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, %2; barrier.red.popc.aligned.u32 %0, %3, 64, p; }"
                 : "+r"(count)
                 : "r"(thread % 64), "r"(count), "r"(1 + pair));
    out[round * 128 + thread] = count * 4 + any * 2 + all;
  }
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0; @p exit; }" ::"r"(thread % 3));
  __syncthreads();
  out[thread] += 1000;
  if (thread % 3 == 1) asm volatile("exit;");
  out[thread] += 1000;
}

int main() {
  unsigned *out, host[kRows * 32];
  cudaMalloc(&out, sizeof host);
  lanes<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  const char* names[kRows] = {"shfl.sync.idx",    "shfl.sync.up",
                              "shfl.sync.down",   "shfl.sync.bfly",
                              "shfl.sync.down",   "|p",
                              "|p of up",         "vote.sync.all",
                              "vote.sync.any",    "vote.sync.uni",
                              "vote.sync.ballot", "match.any.sync.b32",
                              "match.all.sync",   "|p",
                              "match.all.b64",    "redux.sync.add",
                              "redux.sync.min",   "redux.sync.max",
                              "redux.sync.xor",   "redux.sync.and",
                              "activemask",       "redux.sync.or",
                              "elect.sync",       "|p"};
  for (int row = 0; row < kRows; ++row) {
    printf("%-20s", names[row]);
    for (int lane = 0; lane < 32; lane += 3) printf(" %x", host[row * 32 + lane]);
    printf("\n");
  }
  hand_over<<<1, 128>>>(out);
  cudaMemcpy(host, out, 195 * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 192; i += 17) printf("%u ", host[i]);
  printf("count %u all %u any %u\n", host[192], host[193], host[194]);
  parted<<<1, 128>>>(out);
  cudaMemcpy(host, out, 256 * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; i += 13) printf("%u ", host[i]);
  printf("parted\n");
  cudaFree(out);
  return cudaDeviceSynchronize();
}
