// nvcuda::wmma in every shape, type and layout that CUDA documents, against sums in double.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>
#include <vector>

#include "../runtime/support.hpp"

using namespace nvcuda;

namespace {

template <int M, int N, int K, class T, class Storage, class Sum, class LayoutA, class LayoutB>
__global__ void product_kernel(const Storage* a, const Storage* b, const Sum* c, Sum* d, unsigned a_pitch,
                               unsigned b_pitch, unsigned c_pitch, wmma::layout_t layout) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> a_fragment;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> b_fragment;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sums;
  wmma::load_matrix_sync(a_fragment, a, a_pitch);
  wmma::load_matrix_sync(b_fragment, b, b_pitch);
  wmma::load_matrix_sync(sums, c, c_pitch, layout);
  wmma::mma_sync(sums, a_fragment, b_fragment, sums);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] + sums.x[i];
  wmma::store_matrix_sync(d, sums, c_pitch, layout);
}

/// A matrix with padding behind each line: element (row, col) is a small integer.
template <class T>
struct Matrix {
  int rows, cols;
  bool by_columns;
  std::vector<T> elements;

  Matrix(int rows_, int cols_, bool by_columns_, int seed)
      : rows(rows_), cols(cols_), by_columns(by_columns_) {
    elements.assign(static_cast<std::size_t>(pitch()) * static_cast<std::size_t>(by_columns ? cols : rows),
                    T(0.0f));
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < cols; ++col)
        elements[place(row, col)] = T(static_cast<float>((seed * row + 3 * col + row * col) % 5));
  }
  int pitch() const { return (by_columns ? rows : cols) + 16; }
  std::size_t place(int row, int col) const {
    return static_cast<std::size_t>(by_columns ? col * pitch() + row : row * pitch() + col);
  }
  double at(int row, int col) const {
    return static_cast<double>(static_cast<float>(elements[place(row, col)]));
  }
  T* to_device() const {
    T* pointer = device_array<T>(elements.size());
    REQUIRE(cudaMemcpy(pointer, elements.data(), elements.size() * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    return pointer;
  }
};

template <int M, int N, int K, class T, class Storage, class Sum, class LayoutA, class LayoutB>
void require_product(bool sums_by_columns) {
  const Matrix<Storage> a(M, K, std::is_same_v<LayoutA, wmma::col_major>, 7);
  const Matrix<Storage> b(K, N, std::is_same_v<LayoutB, wmma::col_major>, 2);
  const Matrix<Sum> c(M, N, sums_by_columns, 4);
  Matrix<Sum> d = c;
  Sum* const result = d.to_device();
  product_kernel<M, N, K, T, Storage, Sum, LayoutA, LayoutB>
      <<<1, 32>>>(a.to_device(), b.to_device(), c.to_device(), result, static_cast<unsigned>(a.pitch()),
                  static_cast<unsigned>(b.pitch()), static_cast<unsigned>(c.pitch()),
                  sums_by_columns ? wmma::mem_col_major : wmma::mem_row_major);
  d.elements = to_host(result, d.elements.size());
  for (int row = 0; row < M; ++row)
    for (int col = 0; col < N; ++col) {
      double sum = c.at(row, col);
      for (int k = 0; k < K; ++k) sum += a.at(row, k) * b.at(k, col);
      INFO("row " << row << ", column " << col << " of " << M << " x " << N << " x " << K);
      REQUIRE(d.at(row, col) == 2 * sum);
    }
}

template <int M, int N, int K, class T, class Storage, class Sum>
void require_all_layouts() {
  require_product<M, N, K, T, Storage, Sum, wmma::row_major, wmma::row_major>(false);
  require_product<M, N, K, T, Storage, Sum, wmma::row_major, wmma::col_major>(true);
  require_product<M, N, K, T, Storage, Sum, wmma::col_major, wmma::row_major>(true);
  require_product<M, N, K, T, Storage, Sum, wmma::col_major, wmma::col_major>(false);
}

template <class T, class Sum>
void require_three_shapes() {
  require_all_layouts<16, 16, 16, T, T, Sum>();
  require_all_layouts<32, 8, 16, T, T, Sum>();
  require_all_layouts<8, 32, 16, T, T, Sum>();
}

}  // namespace

TEST_CASE_METHOD(FreshDevice, "wmma multiplies half and bfloat16 in its three shapes", "[simt][matrix]") {
  require_three_shapes<__half, float>();
  require_three_shapes<__half, __half>();
  require_three_shapes<__nv_bfloat16, float>();
}

TEST_CASE_METHOD(FreshDevice, "wmma multiplies bytes, tf32 and double", "[simt][matrix]") {
  require_three_shapes<signed char, int>();
  require_three_shapes<unsigned char, int>();
  require_all_layouts<16, 16, 8, wmma::precision::tf32, float, float>();
  require_all_layouts<8, 8, 4, double, double, double>();
}

TEST_CASE_METHOD(FreshDevice, "wmma fragments have as many elements as CUDA's", "[simt][matrix]") {
  STATIC_REQUIRE(int(wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>::num_elements) ==
                 16);
  STATIC_REQUIRE(int(wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::row_major>::num_elements) == 16);
  STATIC_REQUIRE(
      int(wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major>::num_elements) == 4);
  STATIC_REQUIRE(
      int(wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>::num_elements) ==
      4);
  STATIC_REQUIRE(int(wmma::fragment<wmma::accumulator, 16, 16, 16, float>::num_elements) == 8);
}

TEST_CASE("__float_to_tf32 keeps ten bits, rounds halves away from zero, and keeps infinities",
          "[simt][matrix]") {
  CHECK(wmma::__float_to_tf32(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f);
  CHECK(wmma::__float_to_tf32(-1.0f - 0x1p-11f) == -1.0f - 0x1p-10f);
  CHECK(wmma::__float_to_tf32(1.0f + 0x1p-12f) == 1.0f);
  CHECK(wmma::__float_to_tf32(__int_as_float(0x7f800000)) == __int_as_float(0x7f800000));
}
