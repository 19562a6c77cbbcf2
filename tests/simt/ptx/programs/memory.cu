// Loads, stores, atomics, fences and addresses.
#include "show.cuh"

// It never comes to rest on lists of macros without semicolons.
// clang-format off

struct alignas(16) Words {
  unsigned x, y, z, w;
};

__global__ void loads(const unsigned char* bytes, unsigned* out) {
  unsigned d, e, f, g;
  unsigned long long l, m;
  float x, y;
  unsigned short h;
#define LOAD(op)                                                   \
  asm volatile(op " %0, [%1];" : "=r"(d) : "l"(bytes) : "memory"); \
  printf(U32, op, d);
  LOAD("ld.global.u32")
  LOAD("ld.u32")
  LOAD("ld.global.b32")
  LOAD("ld.global.u8")
  LOAD("ld.global.s8")
  LOAD("ld.global.s16")
  LOAD("ld.global.ca.u32")
  LOAD("ld.global.cg.u32")
  LOAD("ld.global.cs.u32")
  LOAD("ld.global.cv.u32")
  LOAD("ld.volatile.global.u32")
  LOAD("ld.weak.global.u32")
  LOAD("ld.global.nc.u32")
  LOAD("ld.global.nc.L1::no_allocate.L2::128B.u32")
  LOAD("ld.global.L1::evict_last.u32")
  LOAD("ld.relaxed.gpu.global.u32")
  LOAD("ld.acquire.gpu.global.u32")
  LOAD("ld.acquire.sys.u32")
  LOAD("ldu.global.u32")
  asm volatile("ld.global.u32 %0, [%1+4];"
               : "=r"(d)
               : "l"(bytes));
  printf(U32, "ld.global.u32 [+4]", d);
  asm volatile("ld.global.u32 %0, [%1 + -4];" : "=r"(d) : "l"(bytes + 8));
  printf(U32, "ld.global.u32 [-4]", d);
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(h) : "l"(bytes + 2));
  printf(U32, "ld.global.u16", h);
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(l) : "l"(bytes));
  printf(U64, "ld.global.u64", l);
  asm volatile("ld.global.s32 %0, [%1];" : "=l"(l) : "l"(bytes + 12));
  printf(U64, "ld.global.s32 into 64 bits", l);
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(d), "=r"(e) : "l"(bytes));
  printf("%-32s %08x %08x\n", "ld.global.v2.u32", d, e);
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d), "=r"(e), "=r"(f), "=r"(g)
               : "l"(bytes));
  printf("%-32s %08x %08x %08x %08x\n", "ld.global.nc.v4.u32", d, e, f, g);
  asm volatile("ld.global.v2.b64 {%0, %1}, [%2];" : "=l"(l), "=l"(m) : "l"(bytes));
  printf("%-32s %016llx %016llx\n", "ld.global.v2.b64", l, m);
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(bytes));
  printf("%-32s %08x %08x\n", "ld.global.v2.f32", __float_as_uint(x), __float_as_uint(y));
  asm volatile("ld.global.v4.u8 {%0, %1, %2, %3}, [%4];" : "=r"(d), "=r"(e), "=r"(f), "=r"(g) : "l"(bytes));
  printf("%-32s %02x %02x %02x %02x\n", "ld.global.v4.u8", d, e, f, g);
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(d) : "l"(bytes), "l"(policy));
  printf(U32, "ld.global.L2::cache_hint.u32", d);
  asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0]; prefetchu.L1 [%0];" ::"l"(bytes));

  asm volatile("st.global.u32 [%0], %1;" ::"l"(out), "r"(1) : "memory");
  asm volatile("st.global.v2.u32 [%0+8], {%1, %2};" ::"l"(out), "r"(2), "r"(3) : "memory");
  asm volatile("st.global.v4.f32 [%0+16], {%1, %2, %3, %4};" ::"l"(out), "f"(4.0f), "f"(5.0f), "f"(6.0f),
               "f"(7.0f)
               : "memory");
  asm volatile("st.global.u8 [%0+4], %1;" ::"l"(out), "r"(0x1ff) : "memory");
  asm volatile("st.global.u16 [%0+6], %1;" ::"l"(out), "h"((unsigned short)0x1234) : "memory");
  asm volatile("st.u64 [%0+32], %1;" ::"l"(out), "l"(0x123456789abcdefull) : "memory");
  asm volatile("st.volatile.global.u32 [%0+40], %1;" ::"l"(out), "r"(8) : "memory");
  asm volatile("st.global.wt.u32 [%0+44], %1; st.global.cs.u32 [%0+48], %1;" ::"l"(out), "r"(9) : "memory");
  asm volatile("st.relaxed.gpu.global.u32 [%0+52], %1; st.release.gpu.global.u32 [%0+56], %1;" ::"l"(out),
               "r"(10)
               : "memory");
  asm volatile("st.global.L1::no_allocate.L2::cache_hint.u32 [%0+60], %1, %2;" ::"l"(out), "r"(11),
               "l"(policy)
               : "memory");
  for (int i = 1; i < 16; ++i) printf(U32, "stored", out[i]);
  asm volatile("fence.acq_rel.gpu; fence.sc.cta; membar.gl; membar.cta; membar.sys; fence.acq_rel.sys;" ::
                   : "memory");
}

__global__ void atomics(unsigned* u, unsigned long long* l, float* f, double* d, unsigned* halves) {
  unsigned r;
#define ATOM(op, b)                                                        \
  asm volatile(op " %0, [%1], %2;" : "=r"(r) : "l"(u), "r"(b) : "memory"); \
  printf("%-32s %08x %08x\n", op, r, *u);
  ATOM("atom.global.add.u32", 5)
  ATOM("atom.add.s32", -7)
  ATOM("atom.global.min.s32", -100)
  ATOM("atom.global.min.u32", 9)
  ATOM("atom.global.max.u32", 12)
  ATOM("atom.global.max.s32", -3)
  ATOM("atom.global.inc.u32", 12)
  ATOM("atom.global.dec.u32", 3)
  ATOM("atom.global.and.b32", 2)
  ATOM("atom.global.or.b32", 0xf0)
  ATOM("atom.global.xor.b32", 0xff)
  ATOM("atom.global.exch.b32", 17)
  ATOM("atom.relaxed.gpu.global.add.u32", 1)
  ATOM("atom.acq_rel.gpu.global.add.u32", 1)
  ATOM("atom.acquire.cta.global.add.u32", 1)
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(r)
               : "l"(u), "r"(20), "r"(33)
               : "memory");
  printf("%-32s %08x %08x\n", "atom.global.cas.b32", r, *u);
  unsigned long long old;
  asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(l), "l"(1ull << 40) : "memory");
  asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(old)
               : "l"(l), "l"(1ull << 40), "l"(99ull)
               : "memory");
  printf("%-32s %016llx %016llx\n", "atom.global.cas.b64", old, *l);
  float x;
  asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(x) : "l"(f), "f"(1.5f) : "memory");
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(f), "f"(1.5f) : "memory");
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(d), "d"(0.25) : "memory");
  printf("%-32s %g %g %g\n", "add.f32, add.f64", x, *f, *d);
  asm volatile("red.global.add.u32 [%0], %1; red.global.or.b32 [%0], 1; red.global.max.s32 [%0], 3;" ::"l"(u),
               "r"(6)
               : "memory");
  printf(U32, "red", *u);
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(halves), "r"(0x3c004000u) : "memory");
  asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;"
               : "=r"(r)
               : "l"(halves + 1), "r"(0x3f804000u)
               : "memory");
  printf("%-32s %08x %08x %08x\n", "add.noftz", halves[0], halves[1], r);
}

/// Several numbers at once, each of them added in one step.
__global__ void vectors(float* f, unsigned* h) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(f), "f"(1.5f), "f"(2.0f) : "memory");
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %1, %2};" ::"l"(f), "f"(0.5f), "f"(4.0f)
               : "memory");
  float x, y, z, w;
  asm volatile("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %5, %6};"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(f), "f"(1.0f), "f"(-1.0f)
               : "memory");
  printf("%-32s %g %g %g %g was %g %g %g %g\n", "add.v4.f32", f[0], f[1], f[2], f[3], x, y, z, w);
  asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %1, %2};" ::"l"(h), "r"(0x3f804000u), "r"(0x3f003f80u)
               : "memory");
  asm volatile("red.global.max.noftz.v2.bf16x2 [%0], {%1, %1};" ::"l"(h), "r"(0x3f60bf80u) : "memory");
  asm volatile("red.global.min.noftz.v2.bf16x2 [%0], {%1, %1};" ::"l"(h + 2), "r"(0x3f60bf80u) : "memory");
  printf("%-32s %08x %08x %08x %08x\n", "noftz.v4.bf16x2", h[0], h[1], h[2], h[3]);
  asm volatile("red.global.add.noftz.v8.f16 [%0], {%1, %2, %1, %2, %1, %2, %1, %2};" ::"l"(h + 4), "h"((unsigned short)0x3c00),
               "h"((unsigned short)0xc000)
               : "memory");
  unsigned r, s;
  asm volatile("atom.global.add.noftz.v2.f16x2 {%0, %1}, [%2], {%3, %3};"
               : "=r"(r), "=r"(s)
               : "l"(h + 4), "r"(0x38003800u)
               : "memory");
  printf("%-32s %08x %08x %08x %08x was %08x %08x\n", "noftz.v8.f16", h[4], h[5], h[6], h[7], r, s);
#endif
}

__global__ void shared(unsigned* out) {
  __shared__ alignas(16) unsigned tile[8];
  extern __shared__ __align__(16) unsigned dynamic[];
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  for (int i = 0; i < 8; ++i) tile[i] = dynamic[i] = 0;
  unsigned long long wide;
  asm volatile("cvta.to.shared.u64 %0, %1;" : "=l"(wide) : "l"(tile));
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(1) : "memory");
  asm volatile("st.shared.v2.u32 [%0+8], {%1, %1};" ::"l"(wide), "r"(2) : "memory");
  asm volatile("st.shared::cta.u16 [%0+4], %1;" ::"r"(address), "h"((unsigned short)3) : "memory");
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "r"(6) : "memory");
  unsigned d, e;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(d) : "r"(address), "r"(6) : "memory");
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(e) : "r"(address) : "memory");
  printf("%-32s %u %u\n", "atom.shared.add.u32", d, e);
  asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2+8];" : "=r"(d), "=r"(e) : "r"(address) : "memory");
  printf("%-32s %u %u %u\n", "ld.volatile.shared.v2.u32", d, e, tile[1]);
  unsigned long long generic;
  asm volatile("cvta.shared.u64 %0, %1;" : "=l"(generic) : "l"(wide));
  printf("%-32s %d %d\n", "cvta.shared.u64", generic == (unsigned long long)tile,
         __cvta_shared_to_generic(address) == tile);
  asm volatile("st.u32 [%0], %1;" ::"l"(dynamic), "r"(40) : "memory");
  asm volatile("ld.shared.u32 %0, [%1];"
               : "=r"(d)
               : "r"((unsigned)__cvta_generic_to_shared(dynamic))
               : "memory");
  printf("%-32s %u\n", "dynamic shared memory", d);
  unsigned local = 3;
  asm volatile("cvta.to.global.u64 %0, %1;" : "=l"(wide) : "l"(out));
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(d) : "l"(tile));
  asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(e) : "l"(out));
  printf("%-32s %u %u %d\n", "isspacep", d, e, wide == (unsigned long long)out);
  asm volatile("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(d) : "l"(&local));
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(e) : "l"(out));
  printf("%-32s %u %u %u\n", "isspacep", d, e, local);
}

int main() {
  unsigned char bytes[16];
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(0x80 + 7 * i);
  unsigned char* in;
  unsigned* out;
  cudaMalloc(&in, 16);
  cudaMalloc(&out, 64);
  cudaMemset(out, 0, 64);
  cudaMemcpy(in, bytes, 16, cudaMemcpyHostToDevice);
  loads<<<1, 1>>>(in, out);
  unsigned* u;
  unsigned long long* l;
  cudaMalloc(&u, 64);
  cudaMalloc(&l, 8);
  cudaMemset(u, 0, 64);
  cudaMemset(l, 0, 8);
  atomics<<<1, 1>>>(u, l, reinterpret_cast<float*>(u + 2), reinterpret_cast<double*>(u + 4), u + 8);
  cudaMemset(u, 0, 64);
  vectors<<<1, 1>>>(reinterpret_cast<float*>(u), u + 4);
  shared<<<1, 1, 32>>>(out);
  cudaFree(in);
  cudaFree(out);
  cudaFree(u);
  cudaFree(l);
  return cudaDeviceSynchronize();
}
