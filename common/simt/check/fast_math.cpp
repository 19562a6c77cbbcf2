// The fast intrinsics of kernels in check mode (simt_math.h): functions of their own, so that BlockWork tells
// their calls from those of the precise ones.

#include <cmath>

extern "C" {

float simt_fast_logf(float x) noexcept { return std::log(x); }
float simt_fast_log2f(float x) noexcept { return std::log2(x); }
float simt_fast_log10f(float x) noexcept { return std::log10(x); }
float simt_fast_powf(float x, float y) noexcept { return std::pow(x, y); }
float simt_fast_sinf(float x) noexcept { return std::sin(x); }
float simt_fast_cosf(float x) noexcept { return std::cos(x); }
float simt_fast_tanf(float x) noexcept { return std::tan(x); }
float simt_fast_tanhf(float x) noexcept { return std::tanh(x); }
float simt_fast_rsqrtf(float x) noexcept { return 1.0f / std::sqrt(x); }

}  // extern "C"
