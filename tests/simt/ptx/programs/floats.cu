// Arithmetic on float and double: rounding, flushing, clamping, and what the special-function unit
// approximates.
#include "show.cuh"

// It never comes to rest on lists of macros without semicolons.
// clang-format off

__global__ void exact(float a, float b, float tiny, float nan) {
  F2("add.f32", a, b)
  F2("add.rn.f32", a, b)
  F2("add.rz.f32", a, b)
  F2("add.rm.f32", a, b)
  F2("add.rp.f32", a, b)
  F2("add.ftz.f32", tiny, tiny)
  F2("add.f32", tiny, tiny)
  F2("add.sat.f32", a, b)
  F2("add.sat.f32", nan, b)
  F2("sub.f32", a, b)
  F2("sub.rp.ftz.f32", a, b)
  F2("mul.f32", a, b)
  F2("mul.rz.f32", a, b)
  F2("mul.rp.f32", a, b)
  F2("mul.ftz.f32", tiny, 1.0f)
  F3("fma.rn.f32", a, b, 1.0f)
  F3("fma.rz.f32", a, b, 1.0f)
  F3("fma.rm.f32", a, b, 1.0f)
  F3("fma.rp.f32", a, b, 1.0f)
  F3("fma.rn.ftz.f32", tiny, 1.0f, tiny)
  F3("fma.rn.sat.f32", a, b, 1.0f)
  F3("mad.rn.f32", a, b, 1.0f)
  F2("div.rn.f32", a, b)
  F2("div.rz.f32", a, b)
  F2("div.rp.f32", a, b)
  F1("rcp.rn.f32", a)
  F1("rcp.rm.f32", a)
  F1("sqrt.rn.f32", a)
  F1("sqrt.rp.f32", a)
  F1("abs.f32", -a)
  F1("neg.f32", a)
  F1("abs.ftz.f32", -tiny)
  F1("neg.ftz.f32", tiny)
  F2("min.f32", a, b)
  F2("max.f32", a, b)
  F2("min.f32", nan, b)
  F2("max.f32", a, nan)
  F2("max.NaN.f32", a, nan)
  F2("min.f32", 0.0f, -0.0f)
  F2("max.f32", -0.0f, 0.0f)
  F2("max.ftz.f32", tiny, 0.0f)
  F2("copysign.f32", -0.0f, a)
}

__global__ void doubles(double a, double b) {
  D2("add.f64", a, b)
  D2("add.rz.f64", a, b)
  D2("sub.rp.f64", a, b)
  D2("mul.rn.f64", a, b)
  D2("mul.rm.f64", a, b)
  D3("fma.rn.f64", a, b, 1.0)
  D3("fma.rp.f64", a, b, 1.0)
  D2("div.rn.f64", a, b)
  D2("div.rz.f64", a, b)
  D1("rcp.rn.f64", a)
  D1("sqrt.rn.f64", a)
  D1("sqrt.rm.f64", a)
  D1("abs.f64", -a)
  D1("neg.f64", a) D2("min.f64", a, b) D2("max.f64", a, b) D2("copysign.f64", -1.0, a) double d;
  asm volatile("rsqrt.approx.f64 %0, %1;" : "=d"(d) : "d"(a));
  printf("%-32s %.5g\n", "rsqrt.approx.f64", d);
}

__global__ void approximate(float a, float tiny) {
  A1("ex2.approx.f32", a)
  A1("ex2.approx.ftz.f32", -a)
  A1("ex2.approx.ftz.f32", -200.0f)
  A1("lg2.approx.f32", a)
  A1("lg2.approx.ftz.f32", tiny)
  A1("lg2.approx.f32", tiny)
  A1("rcp.approx.f32", a)
  A1("rcp.approx.ftz.f32", tiny)
  A1("rsqrt.approx.f32", a)
  A1("rsqrt.approx.ftz.f32", a)
  A1("sqrt.approx.f32", a)
  A1("sqrt.approx.ftz.f32", tiny)
  A1("sin.approx.f32", a)
  A1("cos.approx.f32", a) A1("sin.approx.ftz.f32", tiny) A1("tanh.approx.f32", 20.0f) float d;
  asm volatile("div.approx.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(3.0f));
  printf("%-32s %.5g\n", "div.approx.f32", d);
  asm volatile("div.full.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(3.0f));
  printf("%-32s %.5g\n", "div.full.ftz.f32", d);
  asm volatile("add.f32 %0, %1, 0f3F800000;" : "=f"(d) : "f"(a));
  printf("%-32s %.5g\n", "add.f32 of a constant's bits", d);
  asm volatile("mul.f32 %0, %1, 2.5;" : "=f"(d) : "f"(a));
  printf("%-32s %.5g\n", "mul.f32 of a constant", d);
}

int main() {
  exact<<<1, 1>>>(1.1f, 0.3f, 1e-40f, __builtin_nanf(""));
  doubles<<<1, 1>>>(1.1, 0.3);
  approximate<<<1, 1>>>(1.5f, 1e-40f);
  return cudaDeviceSynchronize();
}
