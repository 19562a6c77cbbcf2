// Strings that look like kernels: the source of a run-time compiler, messages, characters, numbers with separators.
#include <cuda_runtime.h>

#include <string>

static const char* const kSource = R"cuda(
extern "C" __global__ void axpy(float a, float* x, float* y) {
  extern __shared__ float s[];   // )" is not the end
  asm volatile("bar.sync 0;");
  y[threadIdx.x] += a * x[threadIdx.x];
}
void host() { axpy<<<1, 32>>>(2, x, y
)cuda";

static const std::string kMessages[] = {"use kernel<<<grid, block>>>()", "a \"quoted\" <<<", "C:\\", R"(\)", "'", u8R"x(">>>)x" != nullptr ? "<" : ">"};
constexpr char kSigns[] = {'"', '\'', '\\', '<', '>'};  // "<<<
constexpr long kMany = 1'000'000'000L, kHex = 0xdead'beef, kOther = 0b1010'1010;
constexpr double kSmall = 1'000.5e-1'0, kFloat = 0x1.8p+3;

__global__ void fill(char* out, char value, long n) { for (long i = 0; i < n; ++i) out[i] = value; }

/* A comment with a "quote, an apostrophe ' and a launch<<<1, 1>>>(); */
std::size_t run(char* out) {
  fill<<<1, 1>>>(out, '"', 1'0); /* " */ fill<<<1, 1>>>(out, '\'', sizeof(R"(>>>)")); // '
  fill<<<kMany > 1'0 ? 1 : 2, 1>>>(out, kSigns[0], sizeof("k<<<1, 1>>>(\")"));
  return std::string(kSource).size() + kMessages[0].size();
}
