#include <cuda_runtime.h>
#include <math_constants.h>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/special_floats.hpp"

using course::test::kInfinity, course::test::kNaN;

TEST_CASE("fmaxf and fminf ignore a NaN on either side", "[simt][shim]") {
  volatile float nan = kNaN;  // keeps the compiler from folding the call
  CHECK(fmaxf(nan, 1.0f) == 1.0f);
  CHECK(fmaxf(1.0f, nan) == 1.0f);
  CHECK(fminf(nan, -kInfinity) == -kInfinity);
  CHECK(std::isnan(fmaxf(nan, nan)));
  CHECK(fmaxf(-kInfinity, 2.0f) == 2.0f);
  CHECK(fminf(3.0f, 2.0f) == 2.0f);
  CHECK(fmax(std::nan(""), 1.0) == 1.0);
  CHECK(fmin(1.0, std::nan("")) == 1.0);
  CHECK(max(nan, 1.0f) == 1.0f);
  CHECK(min(2.0, 1.0f) == 1.0);
  CHECK(__saturatef(nan) == 0.0f);
  CHECK(__saturatef(1.5f) == 1.0f);
  CHECK(__saturatef(-1.5f) == 0.0f);
}

TEST_CASE("the address of fmaxf is a function like any other", "[simt][shim]") {
  float (*volatile larger)(float, float) = &fmaxf;
  CHECK(larger(1.0f, 2.0f) == 2.0f);
}

TEST_CASE("fast functions stay close to the accurate ones and keep the special values", "[simt][shim]") {
  for (float x = -20; x < 20; x += 0.37f) {
    CHECK(__expf(x) == Catch::Approx(std::exp(double{x})).epsilon(2e-6));
    CHECK(__exp10f(x) == Catch::Approx(std::pow(10.0, double{x})).epsilon(1e-5));
    CHECK(rsqrtf(x * x + 1) == Catch::Approx(1 / std::sqrt(double{x} * x + 1)).epsilon(2e-7));
  }
  CHECK(__expf(-kInfinity) == 0.0f);
  CHECK(exp2f(-kInfinity) == 0.0f);
  CHECK(__expf(kInfinity) == kInfinity);
  CHECK(std::isnan(__expf(kNaN)));
  CHECK(__logf(0.0f) == -kInfinity);
  CHECK(rsqrtf(0.0f) == kInfinity);
  CHECK(rsqrtf(kInfinity) == 0.0f);
  CHECK(__fdividef(1.0f, 4.0f) == 0.25f);
  float sine = 0, cosine = 0;
  __sincosf(1.0f, &sine, &cosine);
  CHECK(sine == Catch::Approx(std::sin(1.0)));
  CHECK(cosine == Catch::Approx(std::cos(1.0)));
}

TEST_CASE("functions that C lacks", "[simt][shim]") {
  CHECK(sinpif(0.5f) == 1.0f);
  CHECK(cospif(1e6f + 1.0f) == -1.0f);
  CHECK(rcbrtf(8.0f) == 0.5f);
  CHECK(rhypotf(3.0f, 4.0f) == Catch::Approx(0.2f));
  CHECK(norm3df(2.0f, 3.0f, 6.0f) == Catch::Approx(7.0f));
  CHECK(norm4df(1.0f, 1.0f, 1.0f, 1.0f) == Catch::Approx(2.0f));
  CHECK(normcdff(0.0f) == 0.5f);
  CHECK(rsqrt(4.0) == 0.5);
}

TEST_CASE("__fmul_rn and __fadd_rn are never fused; fmaf is", "[simt][shim]") {
  volatile float a = 1.0f + 0x1p-12f;  // a * a needs one bit more than a float has
  CHECK(__fadd_rn(__fmul_rn(a, a), -1.0f) == 0x1p-11f);
  CHECK(__fmaf_rn(a, a, -1.0f) == 0x1p-11f + 0x1p-24f);
  CHECK(fmaf(a, a, -1.0f) == 0x1p-11f + 0x1p-24f);
  CHECK(__fsqrt_rn(2.0f) == std::sqrt(2.0f));
  CHECK(__frcp_rn(3.0f) == 1.0f / 3.0f);
  CHECK(__dadd_rn(0.1, 0.2) == 0.1 + 0.2);
}

TEST_CASE("classification works for float and double, and constants have their bits", "[simt][shim]") {
  CHECK(isnan(kNaN));
  CHECK(isinf(CUDART_INF_F));
  CHECK(isfinite(1.0));
  CHECK_FALSE(isfinite(CUDART_NAN));
  CHECK(CUDART_PI_F == 3.14159274f);
  CHECK(CUDART_MAX_NORMAL_F == std::numeric_limits<float>::max());
  CHECK(CUDART_MIN_DENORM_F == std::numeric_limits<float>::denorm_min());
  CHECK(CUDART_INF == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(CUDART_NAN));
  CHECK(INFINITY == CUDART_INF_F);
}
