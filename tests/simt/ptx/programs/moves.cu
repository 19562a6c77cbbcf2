// Comparisons, selections, moves, packing, special registers, branches and labels.
#include "show.cuh"

// It never comes to rest on lists of macros without semicolons.
// clang-format off

#define COMPARE_R(op, a, b)                                      \
  {                                                              \
    unsigned d, e;                                               \
    asm volatile("{ .reg .pred p, q;\n " op                      \
                 " p|q, %2, %3;\n"                               \
                 "selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }" \
                 : "=r"(d), "=r"(e)                              \
                 : "r"(a), "r"(b));                              \
    printf("%-32s %u %u\n", op, d, e);                           \
  }
#define COMPARE_F(op, a, b)                                                      \
  {                                                                              \
    unsigned d;                                                                  \
    asm volatile("{ .reg .pred p;\n " op " p, %1, %2;\n selp.u32 %0, 1, 0, p; }" \
                 : "=r"(d)                                                       \
                 : "f"(a), "f"(b));                                              \
    printf("%-32s %u\n", op, d);                                                 \
  }

__global__ void compare(unsigned a, unsigned b, float x, float y, float nan, float tiny) {
  COMPARE_R("setp.eq.u32", a, b)
  COMPARE_R("setp.ne.s32", a, b)
  COMPARE_R("setp.lt.s32", a, b)
  COMPARE_R("setp.lt.u32", a, b)
  COMPARE_R("setp.ge.u32", a, b)
  COMPARE_R("setp.lo.u32", a, b)
  COMPARE_R("setp.hs.u32", a, b)
  COMPARE_R("setp.eq.b32", a, a)
  COMPARE_F("setp.lt.f32", x, y)
  COMPARE_F("setp.lt.f32", nan, y)
  COMPARE_F("setp.ltu.f32", nan, y)
  COMPARE_F("setp.ne.f32", nan, y)
  COMPARE_F("setp.neu.f32", nan, y)
  COMPARE_F("setp.num.f32", nan, y)
  COMPARE_F("setp.nan.f32", nan, y)
  COMPARE_F("setp.gt.ftz.f32", tiny, 0.0f)
      COMPARE_F("setp.gt.f32", tiny, 0.0f) unsigned d;
  asm volatile(
      "{ .reg .pred p, q, c;\n setp.lt.u32 c, %1, %2;\n setp.lt.and.s32 p|q, %1, %2, !c;\n"
      "setp.gt.or.f32 q, %3, %4, p;\n setp.eq.xor.u32 p, %1, %1, q;\n and.pred p, p, c; not.pred c, p; "
      "or.pred c, c, q;\n"
      "mov.pred q, c; xor.pred c, c, q; selp.u32 %0, 10, 20, c;\n @q add.u32 %0, %0, 1;\n @!q add.u32 %0, "
      "%0, 2; }"
      : "=r"(d)
      : "r"(a), "r"(b), "f"(x), "f"(y));
  printf("%-32s %u\n", "predicates", d);
  R2("set.lt.u32.s32", a, b)
  R2("set.eq.u32.u32", a, b) asm volatile("set.gt.u32.f32 %0, %1, %2;" : "=r"(d) : "f"(x), "f"(y));
  printf(U32, "set.gt.u32.f32", d);
}

__global__ void move(unsigned a, unsigned b, unsigned long long la, float x) {
  R1("mov.b32", a) L1("mov.u64", la) F1("mov.f32", x) H1("mov.u16", 77) unsigned d, e;
  unsigned long long ld;
  unsigned short h, i, j, k;
  asm volatile("mov.b64 %0, {%1, %2};" : "=l"(ld) : "r"(a), "r"(b));
  printf(U64, "mov.b64 {}", ld);
  asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(d), "=r"(e) : "l"(la));
  printf("%-32s %08x %08x\n", "mov.b64 of {}", d, e);
  asm volatile("mov.b64 {_, %0}, %1;" : "=r"(e) : "l"(la));
  printf(U32, "mov.b64 of {_}", e);
  asm volatile("mov.b32 {%0, %1}, %2;" : "=h"(h), "=h"(i) : "r"(a));
  printf("%-32s %04x %04x\n", "mov.b32 of {}", h, i);
  asm volatile("mov.b32 %0, {%1, %2};" : "=r"(d) : "h"(i), "h"(h));
  printf(U32, "mov.b32 {}", d);
  asm volatile("mov.b64 {%0, %1, %2, %3}, %4;" : "=h"(h), "=h"(i), "=h"(j), "=h"(k) : "l"(la));
  printf("%-32s %04x %04x %04x %04x\n", "mov.b64 of {}", h, i, j, k);
  asm volatile("mov.b64 %0, {%1, %2, %3, %4};" : "=l"(ld) : "h"(k), "h"(j), "h"(i), "h"(h));
  printf(U64, "mov.b64 {}", ld);
  asm volatile("mov.u32 %0, WARP_SZ;" : "=r"(d));
  printf("%-32s %u\n", "WARP_SZ", d);
  asm volatile(
      "{ .reg .b32 t<3>; mov.b32 t0, %1; mov.b32 t1, %2; { .reg .b32 t0; mov.b32 t0, 0x10; add.u32 t1, t1, "
      "t0; }"
      " add.u32 t2, t0, t1; mov.b32 %0, t2; } // a comment\n /* and one more */"
      : "=r"(d)
      : "r"(5), "r"(7));
  printf("%-32s %u\n", ".reg in scopes", d);
}

__global__ void rarely_used(unsigned long long low, unsigned long long high) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  unsigned __int128 both;
  asm volatile("mov.b128 %0, {%1, %2};" : "=q"(both) : "l"(low), "l"(high));
  asm volatile("mov.b128 {%0, %1}, %2;" : "=l"(high), "=l"(low) : "q"(both));
  printf("%-32s %016llx %016llx\n", "mov.b128", low, high);
  asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory");
#endif
  asm volatile("{ .reg .pred p; setp.ne.u64 p, %0, %0; @p trap; @p brkpt; }" ::"l"(low));
}

__device__ unsigned sum_below(unsigned n) {
  unsigned sum;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      ".reg .u32 i;\n"
      "mov.u32 %0, 0;\n"
      "mov.u32 i, 0;\n"
      "AGAIN:\n"
      "setp.ge.u32 done, i, %1;\n"
      "@done bra END;\n"
      "add.u32 %0, %0, i;\n"
      "add.u32 i, i, 1;\n"
      "bra.uni AGAIN;\n"
      "END:\n"
      "}"
      : "=&r"(sum)
      : "r"(n));
  return sum;
}

__global__ void registers(unsigned* out) {
  unsigned t, n, c, m, lane, warp, eq, lt, le, gt, ge, bytes;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  asm volatile("mov.u32 %0, %%ntid.x;" : "=r"(n));
  asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(c));
  asm volatile("mov.u32 %0, %%nctaid.y;" : "=r"(m));
  asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  if (t == 37 && c == 1) {
    const unsigned values[] = {t, n, c, m, lane, warp, eq, lt, le, gt, ge, bytes};
    for (int i = 0; i < 12; ++i) out[i] = values[i];
    unsigned before, after;
    unsigned long long first, last;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(before)::"memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first)::"memory");
    out[12] = sum_below(100);
    asm volatile("nanosleep.u32 20;");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(last)::"memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(after)::"memory");
    out[13] = after != before && last >= first;
  }
}

template <int kBits>
__device__ unsigned shifted(unsigned x) {
  asm volatile("shl.b32 %0, %0, %1;" : "+r"(x) : "n"(kBits));
  return x;
}
struct Unsigned {
  static constexpr char name[] = "u32";
};
struct Signed {
  static constexpr char name[] = "s32";
};
template <class T>
__device__ unsigned larger(unsigned a, unsigned b) {
  unsigned d;
  asm volatile("max.%3 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b), "C"(T::name));
  return d;
}
__global__ void constants() {
  printf("%-32s %08x %08x\n", "\"n\"", shifted<4>(3), shifted<8>(3));
  printf("%-32s %08x %08x\n", "\"C\"", larger<Unsigned>(1, ~0u), larger<Signed>(1, ~0u));
}

int main() {
  compare<<<1, 1>>>(5, 0xfffffff0u, 1.5f, 1.0f, __builtin_nanf(""), 1e-40f);
  move<<<1, 1>>>(0x89abcdefu, 0x01234567u, 0xfedcba9876543210ull, 1.5f);
  constants<<<1, 1>>>();
  rarely_used<<<1, 1>>>(1, 2);
  unsigned *out, host[14];
  cudaMalloc(&out, sizeof host);
  registers<<<dim3(1, 2), 64, 512>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (const unsigned value : host) printf("%x ", value);
  printf("\n");
  cudaFree(out);
  return cudaDeviceSynchronize();
}
