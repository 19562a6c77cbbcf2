// Every matrix instruction of a warp, by inline PTX: what each lane gets from numbers that all formats hold
// exactly. The sums printed are the same on any GPU that has the instruction; 0 as the exit status says that
// they are right. sm_90 or later for stmatrix.

#include <cuda_fp16.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                      \
  do {                                                                   \
    const cudaError_t error = (call);                                    \
    if (error != cudaSuccess) {                                          \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (false)

using Word = unsigned;

// Elements of A and B: small integers that tell rows, columns and their parity apart.
__host__ __device__ int a_element(int row, int k) { return (row + 3 * k) % 5 - 2; }
__host__ __device__ int b_element(int k, int col) { return (2 * k + col) % 3 - 1; }
__host__ __device__ int c_element(int row, int col) { return row - 2 * col; }

__host__ int product(int row, int col, int k_count) {
  int sum = c_element(row, col);
  for (int k = 0; k < k_count; ++k) sum += a_element(row, k) * b_element(k, col);
  return sum;
}

/// A small integer in each format, as bits.
struct F16 {
  static __device__ Word bits(int i) { return __half_as_ushort(__int2half_rn(i)); }
};
struct Bf16 {
  static __device__ Word bits(int i) { return __float_as_uint(static_cast<float>(i)) >> 16; }
};
struct Tf32 {
  static __device__ Word bits(int i) { return __float_as_uint(static_cast<float>(i)); }
};
struct S8 {
  static __device__ Word bits(int i) { return static_cast<Word>(i) & 0xffu; }
};
/// -2 to 2 in e4m3 and in e5m2.
struct E4m3 {
  static __device__ Word bits(int i) {
    return (i < 0 ? 0x80u : 0u) | (i == 0 ? 0u : abs(i) == 1 ? 0x38u : 0x40u);
  }
};
struct E5m2 {
  static __device__ Word bits(int i) {
    return (i < 0 ? 0x80u : 0u) | (i == 0 ? 0u : abs(i) == 1 ? 0x3cu : 0x40u);
  }
};

/// Registers of A (16 x k) and B (k x 8) with kPacked elements each, as the PTX ISA lays them out.
template <class Format, int kPacked>
__device__ Word a_register(int i) {
  const int lane = threadIdx.x % 32, row = lane / 4 + 8 * (i % 2), k = kPacked * (lane % 4 + 4 * (i / 2));
  Word word = 0;
  for (int e = 0; e < kPacked; ++e) word |= Format::bits(a_element(row, k + e)) << 32 / kPacked * e;
  return word;
}
template <class Format, int kPacked>
__device__ Word b_register(int i) {
  const int lane = threadIdx.x % 32, k = kPacked * (lane % 4 + 4 * i), col = lane / 4;
  Word word = 0;
  for (int e = 0; e < kPacked; ++e) word |= Format::bits(b_element(k + e, col)) << 32 / kPacked * e;
  return word;
}
__device__ int c_row(int i) { return threadIdx.x % 32 / 4 + 8 * (i / 2); }
__device__ int c_col(int i) { return threadIdx.x % 4 * 2 + i % 2; }

#define MMA_4_2(NAME, SHAPE, FORMAT, PACKED)                                              \
  __global__ void NAME##_kernel(float* out) {                                             \
    Word a[4], b[2];                                                                      \
    float c[4];                                                                           \
    for (int i = 0; i < 4; ++i) a[i] = a_register<FORMAT, PACKED>(i);                     \
    for (int i = 0; i < 2; ++i) b[i] = b_register<FORMAT, PACKED>(i);                     \
    for (int i = 0; i < 4; ++i) c[i] = static_cast<float>(c_element(c_row(i), c_col(i))); \
    asm volatile("mma.sync.aligned." SHAPE                                                \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"     \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                         \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));     \
    for (int i = 0; i < 4; ++i) out[c_row(i) * 8 + c_col(i)] = c[i];                      \
  }
#define MMA_2_1(NAME, SHAPE, FORMAT, PACKED)                                                        \
  __global__ void NAME##_kernel(float* out) {                                                       \
    Word a[2], b = b_register<FORMAT, PACKED>(0);                                                   \
    float c[4];                                                                                     \
    for (int i = 0; i < 2; ++i) a[i] = a_register<FORMAT, PACKED>(i);                               \
    for (int i = 0; i < 4; ++i) c[i] = static_cast<float>(c_element(c_row(i), c_col(i)));           \
    asm volatile("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};\n" \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                   \
                 : "r"(a[0]), "r"(a[1]), "r"(b));                                                   \
    for (int i = 0; i < 4; ++i) out[c_row(i) * 8 + c_col(i)] = c[i];                                \
  }
MMA_4_2(f16_k16, "m16n8k16.row.col.f32.f16.f16.f32", F16, 2)
MMA_4_2(bf16_k16, "m16n8k16.row.col.f32.bf16.bf16.f32", Bf16, 2)
MMA_4_2(tf32_k8, "m16n8k8.row.col.f32.tf32.tf32.f32", Tf32, 1)
MMA_4_2(e4m3_k32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", E4m3, 4)
MMA_4_2(e5m2_k32, "m16n8k32.row.col.f32.e5m2.e5m2.f32", E5m2, 4)
MMA_2_1(f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", F16, 2)
MMA_2_1(bf16_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", Bf16, 2)
MMA_2_1(tf32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", Tf32, 1)

__global__ void f16_sums_kernel(float* out) {
  Word a[4], b[2], c[2];
  for (int i = 0; i < 4; ++i) a[i] = a_register<F16, 2>(i);
  for (int i = 0; i < 2; ++i) b[i] = b_register<F16, 2>(i);
  for (int i = 0; i < 2; ++i)
    c[i] = F16::bits(c_element(c_row(2 * i), c_col(0))) | F16::bits(c_element(c_row(2 * i), c_col(1))) << 16;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};\n"
      : "+r"(c[0]), "+r"(c[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i)
    out[c_row(i) * 8 + c_col(i)] =
        __half2float(__ushort_as_half(static_cast<unsigned short>(c[i / 2] >> 16 * (i % 2) & 0xffffu)));
}

__global__ void s8_k32_kernel(float* out) {
  Word a[4], b[2];
  int c[4];
  for (int i = 0; i < 4; ++i) a[i] = a_register<S8, 4>(i);
  for (int i = 0; i < 2; ++i) b[i] = b_register<S8, 4>(i);
  for (int i = 0; i < 4; ++i) c[i] = c_element(c_row(i), c_col(i));
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i) out[c_row(i) * 8 + c_col(i)] = static_cast<float>(c[i]);
}
__global__ void s8_k16_kernel(float* out) {
  Word a[2], b = b_register<S8, 4>(0);
  int c[4];
  for (int i = 0; i < 2; ++i) a[i] = a_register<S8, 4>(i);
  for (int i = 0; i < 4; ++i) c[i] = c_element(c_row(i), c_col(i));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, "
      "%2, %3};\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
  for (int i = 0; i < 4; ++i) out[c_row(i) * 8 + c_col(i)] = static_cast<float>(c[i]);
}

/// m8n8k4 of doubles, twice: its C has 8 rows.
__global__ void f64_k4_kernel(float* out) {
  const int lane = threadIdx.x % 32;
  for (int half = 0; half < 2; ++half) {
    const int row = lane / 4 + 8 * half;
    const double a = a_element(row, lane % 4), b = b_element(lane % 4, lane / 4);
    double c[2] = {double(c_element(row, c_col(0))), double(c_element(row, c_col(1)))};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
    for (int i = 0; i < 2; ++i) out[row * 8 + c_col(i)] = static_cast<float>(c[i]);
  }
}

constexpr int kPitch = 24;  // elements of a row, so that no two of eight rows share a bank

/// Elements of a 32 x 8 tile through ldmatrix, movmatrix and stmatrix: out[matrix][row][col].
__global__ void move_kernel(unsigned short* loaded, unsigned short* transposed, unsigned short* moved,
                            unsigned short* stored) {
  __shared__ alignas(16) unsigned short tile[32][kPitch], copy[32][kPitch];
  const int lane = threadIdx.x, line = lane / 4, first = 2 * (lane % 4);
  for (int col = 0; col < 8; ++col) tile[lane][col] = static_cast<unsigned short>(100 * lane + col);
  __syncwarp();
  const unsigned row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane][0]));
  Word r[4], t[2], m;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
               : "=r"(t[0]), "=r"(t[1])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\n" : "=r"(m) : "r"(row));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\n" : "=r"(m) : "r"(m));
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(&copy[lane][0]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(target), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  __syncwarp();
  for (int e = 0; e < 2; ++e) {
    for (int i = 0; i < 4; ++i)
      loaded[64 * i + 8 * line + first + e] = static_cast<unsigned short>(r[i] >> 16 * e & 0xffffu);
    for (int i = 0; i < 2; ++i)
      transposed[64 * i + 8 * line + first + e] = static_cast<unsigned short>(t[i] >> 16 * e & 0xffffu);
    moved[8 * line + first + e] = static_cast<unsigned short>(m >> 16 * e & 0xffffu);
  }
  for (int col = 0; col < 8; ++col) stored[8 * lane + col] = copy[lane][col];
}

int wrong_products(const char* name, void (*kernel)(float*), int k_count) {
  float* device = nullptr;
  float out[16 * 8];
  CHECK(cudaMalloc(&device, sizeof out));
  kernel<<<1, 32>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  int wrong = 0;
  long checksum = 0;
  for (int row = 0; row < 16; ++row)
    for (int col = 0; col < 8; ++col) {
      wrong += out[row * 8 + col] != static_cast<float>(product(row, col, k_count));
      checksum += (row * 8 + col + 1) * static_cast<long>(out[row * 8 + col]);
    }
  std::printf("%-9s checksum %ld, %d of 128 wrong\n", name, checksum, wrong);
  return wrong;
}

int wrong_moves() {
  constexpr int kCounts[] = {256, 128, 64, 256};
  unsigned short *device = nullptr, out[704];
  CHECK(cudaMalloc(&device, sizeof out));
  move_kernel<<<1, 32>>>(device, device + 256, device + 384, device + 448);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  int wrong = 0;
  const unsigned short* next = out;
  for (int part = 0; part < 4; ++part) {
    const bool turned = part == 1 || part == 2;
    for (int i = 0; i < kCounts[part]; ++i) {
      const int matrix = i / 64, row = i % 64 / 8, col = i % 8;
      wrong += next[i] != 100 * (8 * matrix + (turned ? col : row)) + (turned ? row : col);
    }
    next += kCounts[part];
  }
  std::printf("moves     %d of 704 wrong\n", wrong);
  return wrong;
}

int main() {
  int wrong = 0;
  wrong += wrong_products("f16 k16", f16_k16_kernel, 16);
  wrong += wrong_products("bf16 k16", bf16_k16_kernel, 16);
  wrong += wrong_products("f16 sums", f16_sums_kernel, 16);
  wrong += wrong_products("f16 k8", f16_k8_kernel, 8);
  wrong += wrong_products("bf16 k8", bf16_k8_kernel, 8);
  wrong += wrong_products("tf32 k8", tf32_k8_kernel, 8);
  wrong += wrong_products("tf32 k4", tf32_k4_kernel, 4);
  wrong += wrong_products("e4m3 k32", e4m3_k32_kernel, 32);
  wrong += wrong_products("e5m2 k32", e5m2_k32_kernel, 32);
  wrong += wrong_products("s8 k32", s8_k32_kernel, 32);
  wrong += wrong_products("s8 k16", s8_k16_kernel, 16);
  wrong += wrong_products("f64 k4", f64_k4_kernel, 4);
  wrong += wrong_moves();
  return wrong == 0 ? 0 : 1;
}
