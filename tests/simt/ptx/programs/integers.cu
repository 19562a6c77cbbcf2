// Integer arithmetic and bits.
#include "show.cuh"

// It never comes to rest on lists of macros without semicolons.
// clang-format off

__global__ void arithmetic(unsigned a, unsigned b, unsigned long long la, unsigned long long lb,
                           unsigned short ha, unsigned short hb) {
  R2("add.s32", a, b)
  R2("add.sat.s32", 0x7fffffffu, b)
  R2("add.u32", a, b)
  L2("add.u64", la, lb)
  L2("add.s64", la, lb)
  H2("add.u16", ha, hb)
  H2("add.s16", ha, hb)
  R2("sub.s32", a, b)
  R2("sub.sat.s32", 0x80000000u, b)
  R2("sub.u32", a, b)
  L2("sub.u64", la, lb)
  H2("sub.s16", ha, hb)
  R2("mul.lo.u32", a, b)
  R2("mul.hi.u32", a, b)
  R2("mul.hi.s32", a, b)
  L2("mul.lo.u64", la, lb)
  L2("mul.hi.u64", la, lb)
  L2("mul.hi.s64", la, lb)
  H2("mul.lo.u16", ha, hb)
                        H2("mul.hi.s16", ha, hb){unsigned long long d;
asm volatile("mul.wide.u32 %0, %1, %2;" : "=l"(d) : "r"(a), "r"(b));
printf(U64, "mul.wide.u32", d);
asm volatile("mul.wide.s32 %0, %1, %2;" : "=l"(d) : "r"(a), "r"(b));
printf(U64, "mul.wide.s32", d);
asm volatile("mad.wide.s32 %0, %1, %2, %3;" : "=l"(d) : "r"(a), "r"(b), "l"(la));
printf(U64, "mad.wide.s32", d);
unsigned e;
asm volatile("mul.wide.u16 %0, %1, %2;" : "=r"(e) : "h"(ha), "h"(hb));
printf(U32, "mul.wide.u16", e);
asm volatile("mul.wide.s16 %0, %1, %2;" : "=r"(e) : "h"(ha), "h"(hb));
printf(U32, "mul.wide.s16", e);
asm volatile("mad.wide.u16 %0, %1, %2, %3;" : "=r"(e) : "h"(ha), "h"(hb), "r"(a));
printf(U32, "mad.wide.u16", e);
}
R3("mad.lo.s32", a, b, 7u)
R3("mad.hi.u32", a, b, 7u)
L3("mad.lo.u64", la, lb, 7ull)
R2("div.u32", a, b)
R2("div.s32", a, b)
L2("div.s64", la, lb)
H2("div.s16", ha, hb)
R2("rem.u32", a, b)
R2("rem.s32", a, b)
L2("rem.u64", la, lb)
R1("abs.s32", a)
L1("abs.s64", la)
R1("neg.s32", a)
L1("neg.s64", la) R2("min.s32", a, b) R2("min.u32", a, b) R2("max.s32", a, b) R2("max.u32", a, b)
  L2("min.s64", la, lb)
  L2("max.u64", la, lb)
  H2("max.s16", ha, hb)
  R3("dp4a.s32.s32", a, b, 1000u)
  R3("dp4a.u32.s32", a, b, 1000u)
  R3("dp4a.u32.u32", a, b, 1000u)
  R3("vabsdiff4.u32.u32.u32.add", a, b, 1000u)
  R3("vabsdiff4.s32.s32.s32.add", a, b, 1000u)
  R3("vabsdiff4.u32.u32.s32.add", a, b, 1000u)
}

__global__ void bits(unsigned a, unsigned b, unsigned long long la, unsigned long long lb,
                     unsigned short ha) {
  R1("popc.b32", a)
  R1("clz.b32", b)
  R1("bfind.u32", b)
  R1("bfind.s32", a)
  R1("bfind.shiftamt.u32", b)
  R1("bfind.u32", 0u) {
    unsigned d;
    asm volatile("popc.b64 %0, %1;" : "=r"(d) : "l"(la));
    printf(U32, "popc.b64", d);
    asm volatile("clz.b64 %0, %1;" : "=r"(d) : "l"(lb));
    printf(U32, "clz.b64", d);
    asm volatile("bfind.s64 %0, %1;" : "=r"(d) : "l"(la));
    printf(U32, "bfind.s64", d);
  }
  R1("brev.b32", a)
  L1("brev.b64", la)
  R3("bfe.u32", a, 4u, 12u)
  R3("bfe.s32", a, 4u, 12u)
  R3("bfe.s32", a, 28u, 12u)
  R3("bfe.u32", a, 40u, 8u)
  R3("bfe.u32", a, 4u, 0u)
  R4("bfi.b32", a, b, 8u, 12u)
  R4("bfi.b32", a, b, 28u, 12u) {
    unsigned long long d;
    asm volatile("bfe.s64 %0, %1, %2, %3;" : "=l"(d) : "l"(la), "r"(36), "r"(20));
    printf(U64, "bfe.s64", d);
    asm volatile("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(d) : "l"(la), "l"(lb), "r"(36), "r"(20));
    printf(U64, "bfi.b64", d);
    asm volatile("shl.b64 %0, %1, %2;" : "=l"(d) : "l"(la), "r"(20));
    printf(U64, "shl.b64", d);
    asm volatile("shr.s64 %0, %1, %2;" : "=l"(d) : "l"(la), "r"(100));
    printf(U64, "shr.s64", d);
  }
  R2("and.b32", a, b)
  R2("or.b32", a, b)
  R2("xor.b32", a, b)
  R1("not.b32", a)
  L2("and.b64", la, lb)
  L1("not.b64", la) {
    unsigned d;
    asm volatile("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(d) : "r"(0xff00ff00u), "r"(a), "r"(b));
    printf(U32, "lop3.b32 (select)", d);
    asm volatile("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(0xff00ff00u), "r"(a), "r"(b), "n"(0x96));
    printf(U32, "lop3.b32 (xor)", d);
    unsigned short h;
    asm volatile("and.b16 %0, %1, 0xff;" : "=h"(h) : "h"(ha));
    printf(U32, "and.b16", h);
    asm volatile("not.b16 %0, %1;" : "=h"(h) : "h"(ha));
    printf(U32, "not.b16", h);
  }
  R2("shl.b32", a, 5u)
  R2("shl.b32", a, 32u)
  R2("shr.u32", a, 5u)
  R2("shr.s32", a, 5u)
  R2("shr.s32", a, 77u)
  R2("shr.b32", a, 40u)
  R3("shf.l.wrap.b32", a, b, 36u)
  R3("shf.l.clamp.b32", a, b, 36u)
  R3("shf.r.wrap.b32", a, b, 36u)
  R3("shf.r.clamp.b32", a, b, 12u)
  R3("prmt.b32", a, b, 0x7450u)
  R3("prmt.b32", a, b, 0xf8c1u)
  R3("prmt.b32.f4e", a, b, 1u)
  R3("prmt.b32.b4e", a, b, 1u)
  R3("prmt.b32.rc8", a, b, 2u)
  R3("prmt.b32.ecl", a, b, 1u)
  R3("prmt.b32.ecr", a, b, 2u)
  R3("prmt.b32.rc16", a, b, 1u)
}

int main() {
  arithmetic<<<1, 1>>>(0x89abcdefu, 0x00012345u, 0xfedcba9876543210ull, 0x0000000123456789ull, 0xfedc,
                       0x0123);
  bits<<<1, 1>>>(0x89abcdefu, 0x00012345u, 0xfedcba9876543210ull, 0x0000000123456789ull, 0xfedc);
  return cudaDeviceSynchronize();
}
