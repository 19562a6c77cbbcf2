// Products of matrices by mma.sync, against sums in double of the elements as the PTX ISA lays them out.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../runtime/support.hpp"
#include "simt_float16.h"
#include "simt_float8.h"
#include "simt_matrix.h"

namespace {

/// Registers of one instruction for all lanes, 64 bytes each: enough for any operand.
struct Fragments {
  alignas(8) unsigned char of_lane[32][64];
};

__global__ void product_kernel(SimtMma instruction, const Fragments* a, const Fragments* b,
                               const Fragments* c, Fragments* d) {
  const unsigned lane = threadIdx.x;
  simt_mma(instruction, d->of_lane[lane], a->of_lane[lane], b->of_lane[lane], c->of_lane[lane]);
}

/// A number format: bytes and value of a pattern.
struct Format {
  SimtNumber number;
  int bytes;
  double (*value)(std::uint64_t bits);
  std::uint64_t (*bits)(double value);  ///< of values that it holds exactly
};

template <class To, class From>
To cast(From from) {
  To to{};
  std::memcpy(&to, &from, sizeof to < sizeof from ? sizeof to : sizeof from);
  return to;
}

template <class Shim>
constexpr Format kFormat16(SimtNumber number) {
  return {number, 2,
          [](std::uint64_t bits) { return double{Shim::to_float(static_cast<unsigned short>(bits))}; },
          [](double value) { return std::uint64_t{Shim::from_float(static_cast<float>(value))}; }};
}
template <class Shim>
constexpr Format kFormat8(SimtNumber number) {
  return {number, 1,
          [](std::uint64_t bits) { return double{Shim::to_float(static_cast<unsigned char>(bits))}; },
          [](double value) { return std::uint64_t{simt::shim::to_float8<Shim>(value, false)}; }};
}
constexpr Format kFloat32 = {simt_f32, 4, [](std::uint64_t bits) { return double{cast<float>(bits)}; },
                             [](double value) { return cast<std::uint64_t>(static_cast<float>(value)); }};

Format format_of(SimtNumber number) {
  switch (number) {
    case simt_f16:
      return kFormat16<simt::shim::Half>(number);
    case simt_bf16:
      return kFormat16<simt::shim::Bfloat16>(number);
    case simt_e4m3:
      return kFormat8<simt::shim::E4m3>(number);
    case simt_e5m2:
      return kFormat8<simt::shim::E5m2>(number);
    case simt_f64:
      return {number, 8, [](std::uint64_t bits) { return cast<double>(bits); },
              [](double value) { return cast<std::uint64_t>(value); }};
    case simt_s8:
      return {number, 1, [](std::uint64_t bits) { return double(static_cast<std::int8_t>(bits)); },
              [](double value) { return std::uint64_t(static_cast<std::uint8_t>(static_cast<int>(value))); }};
    case simt_u8:
      return {number, 1, [](std::uint64_t bits) { return double(static_cast<std::uint8_t>(bits)); },
              [](double value) { return std::uint64_t(static_cast<std::uint8_t>(static_cast<int>(value))); }};
    case simt_s32:
      return {
          number, 4, [](std::uint64_t bits) { return double(static_cast<std::int32_t>(bits)); },
          [](double value) { return std::uint64_t(static_cast<std::uint32_t>(static_cast<int>(value))); }};
    default: {
      Format format = kFloat32;
      format.number = number;
      return format;
    }
  }
}

struct Place {
  int row, col;
};

// Where element i of a lane's fragment is in its matrix, as the tables of the PTX ISA have it: `packed`
// elements share a register.
Place place_in_a(int lane, int i, int packed, int m) {
  const int group = lane / 4, in_group = lane % 4, reg = i / packed, tall = m / 8;
  return {group + 8 * (reg % tall), in_group * packed + i % packed + 4 * packed * (reg / tall)};
}
Place place_in_b(int lane, int i, int packed) {
  return {lane % 4 * packed + i % packed + 4 * packed * (i / packed), lane / 4};
}
Place place_in_c(int lane, int i) { return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

/// One product: the matrices in double, their fragments, and what came back.
class Product {
 public:
  Product(SimtMma instruction, unsigned seed) : mma_(instruction), state_(seed) {
    a_.resize(std::size_t(mma_.m * mma_.k)), b_.resize(std::size_t(mma_.k * mma_.n));
    c_.resize(std::size_t(mma_.m * mma_.n)), d_.resize(c_.size());
    fill(a_, mma_.a), fill(b_, mma_.b), fill(c_, mma_.c);
  }

  void run() {
    const Format a = format_of(mma_.a), b = format_of(mma_.b), c = format_of(mma_.c), d = format_of(mma_.d);
    Fragments in[3];
    std::memset(in, 0, sizeof in);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < mma_.m * mma_.k / 32; ++i)
        put(in[0], lane, i, a, a_, place_in_a(lane, i, packed(a), mma_.m), mma_.k);
      for (int i = 0; i < mma_.k * mma_.n / 32; ++i)
        put(in[1], lane, i, b, b_, place_in_b(lane, i, packed(b)), mma_.n);
      for (int i = 0; i < mma_.m * mma_.n / 32; ++i) put(in[2], lane, i, c, c_, place_in_c(lane, i), mma_.n);
    }
    Fragments* device = nullptr;
    REQUIRE(cudaMalloc(&device, 4 * sizeof(Fragments)) == cudaSuccess);
    REQUIRE(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice) == cudaSuccess);
    product_kernel<<<1, 32>>>(mma_, device, device + 1, device + 2, device + 3);
    Fragments out;
    REQUIRE(cudaMemcpy(&out, device + 3, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaFree(device) == cudaSuccess);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < mma_.m * mma_.n / 32; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, out.of_lane[lane] + i * d.bytes, std::size_t(d.bytes));
        const Place place = place_in_c(lane, i);
        d_[std::size_t(place.row * mma_.n + place.col)] = d.value(bits);
      }
  }

  double expected(int row, int col) const {
    double sum = c_[std::size_t(row * mma_.n + col)];
    for (int k = 0; k < mma_.k; ++k)
      sum += a_[std::size_t(row * mma_.k + k)] * b_[std::size_t(k * mma_.n + col)];
    return sum;
  }
  double found(int row, int col) const { return d_[std::size_t(row * mma_.n + col)]; }
  const SimtMma& mma() const { return mma_; }

 private:
  static int packed(const Format& format) { return format.bytes >= 4 ? 1 : 4 / format.bytes; }
  static void put(Fragments& to, int lane, int i, const Format& format, const std::vector<double>& from,
                  Place place, int cols) {
    const std::uint64_t bits = format.bits(from[std::size_t(place.row * cols + place.col)]);
    std::memcpy(to.of_lane[lane] + i * format.bytes, &bits, std::size_t(format.bytes));
  }

  // Small integers, so that every sum is exact in every format.
  void fill(std::vector<double>& values, SimtNumber number) {
    for (double& value : values) {
      state_ = state_ * 1664525u + 1013904223u;
      const int draw = static_cast<int>(state_ >> 24) % 7;
      value = number == simt_u8 ? draw : draw - 3;
    }
  }

  SimtMma mma_;
  unsigned state_;
  std::vector<double> a_, b_, c_, d_;
};

void require_exact(SimtMma instruction, unsigned seed) {
  Product product(instruction, seed);
  product.run();
  for (int row = 0; row < instruction.m; ++row)
    for (int col = 0; col < instruction.n; ++col) {
      INFO("row " << row << ", column " << col << ", k = " << int(instruction.k));
      REQUIRE(product.found(row, col) == product.expected(row, col));
    }
}

}  // namespace

TEST_CASE_METHOD(FreshDevice, "mma.sync multiplies what the PTX ISA says lies in each register",
                 "[simt][matrix]") {
  const auto [instruction, name] = GENERATE(table<SimtMma, const char*>({
      {{16, 8, 16, simt_f32, simt_f16, simt_f16, simt_f32, 0}, "m16n8k16 f16"},
      {{16, 8, 16, simt_f16, simt_f16, simt_f16, simt_f16, 0}, "m16n8k16 f16, sums in f16"},
      {{16, 8, 16, simt_f32, simt_bf16, simt_bf16, simt_f32, 0}, "m16n8k16 bf16"},
      {{16, 8, 8, simt_f32, simt_f16, simt_f16, simt_f32, 0}, "m16n8k8 f16"},
      {{16, 8, 8, simt_f16, simt_f16, simt_f16, simt_f16, 0}, "m16n8k8 f16, sums in f16"},
      {{16, 8, 8, simt_f32, simt_bf16, simt_bf16, simt_f32, 0}, "m16n8k8 bf16"},
      {{16, 8, 8, simt_f32, simt_tf32, simt_tf32, simt_f32, 0}, "m16n8k8 tf32"},
      {{16, 8, 4, simt_f32, simt_tf32, simt_tf32, simt_f32, 0}, "m16n8k4 tf32"},
      {{16, 8, 32, simt_f32, simt_e4m3, simt_e4m3, simt_f32, 0}, "m16n8k32 e4m3"},
      {{16, 8, 32, simt_f32, simt_e5m2, simt_e4m3, simt_f32, 0}, "m16n8k32 e5m2 e4m3"},
      {{16, 8, 32, simt_f16, simt_e5m2, simt_e5m2, simt_f16, 0}, "m16n8k32 e5m2, sums in f16"},
      {{16, 8, 16, simt_f32, simt_e4m3, simt_e4m3, simt_f32, 0}, "m16n8k16 e4m3"},
      {{16, 8, 32, simt_s32, simt_s8, simt_s8, simt_s32, 0}, "m16n8k32 s8"},
      {{16, 8, 32, simt_s32, simt_u8, simt_s8, simt_s32, 0}, "m16n8k32 u8 s8"},
      {{16, 8, 16, simt_s32, simt_s8, simt_s8, simt_s32, 0}, "m16n8k16 s8"},
      {{8, 8, 16, simt_s32, simt_s8, simt_s8, simt_s32, 1}, "m8n8k16 s8"},
      {{8, 8, 4, simt_f64, simt_f64, simt_f64, simt_f64, 0}, "m8n8k4 f64"},
      {{16, 8, 4, simt_f64, simt_f64, simt_f64, simt_f64, 0}, "m16n8k4 f64"},
      {{16, 8, 8, simt_f64, simt_f64, simt_f64, simt_f64, 0}, "m16n8k8 f64"},
      {{16, 8, 16, simt_f64, simt_f64, simt_f64, simt_f64, 0}, "m16n8k16 f64"},
  }));
  INFO(name);
  for (unsigned seed = 1; seed <= 3; ++seed) require_exact(instruction, seed);
}
