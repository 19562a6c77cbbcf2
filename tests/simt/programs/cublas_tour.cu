// cuBLAS: vectors, products in all layouts and formats, batches, factors on either side, statuses. Each
// result is compared with plain loops on the host.

#include <cublasXt.h>
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}
#define CHECK_CUBLAS(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call)

template <class T>
T* on_device(const std::vector<T>& values) {
  T* pointer = nullptr;
  cudaMalloc((void**)&pointer, values.size() * sizeof(T));
  cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return pointer;
}
template <class T>
std::vector<T> from_device(const T* pointer, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

unsigned state = 12345;
float next() { return (float)((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - 0.5f; }
template <class T>
std::vector<T> numbers(size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = T(std::is_same_v<T, signed char> ? next() * 100 : next());
  return values;
}

template <class T>
double at(const std::vector<T>& a, bool transposed, int ld, int row, int col, size_t from = 0) {
  return (double)(float)a[from + (transposed ? (size_t)row * ld + col : (size_t)col * ld + row)];
}

/// C = alpha op(A) op(B) + beta C for all four pairs of layouts; int8 has one of them, in words of four.
template <class In, class Out, class Factor>
void check_gemm(cublasHandle_t handle, cudaDataType in, cudaDataType out, cublasComputeType_t compute,
                double tolerance, const char* what) {
  const bool words = std::is_same_v<In, signed char>;
  const int m = 37, n = 21, k = words ? 48 : 50, lda = words ? 60 : 61, ldb = words ? 56 : 57, ldc = 40;
  for (int layout = 0; layout < 4; ++layout) {
    const bool ta = layout & 1, tb = layout & 2;
    const std::vector<In> a = numbers<In>(lda * (ta ? m : k)), b = numbers<In>(ldb * (tb ? k : n));
    const std::vector<Out> c = numbers<Out>(ldc * n);
    In *da = on_device(a), *db = on_device(b);
    Out* dc = on_device(c);
    const Factor alpha = Factor(2), beta = Factor(3);
    const cublasStatus_t status =
        cublasGemmEx(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_C : CUBLAS_OP_N, m, n, k, &alpha,
                     da, in, lda, db, in, ldb, &beta, dc, out, ldc, compute, CUBLAS_GEMM_DEFAULT);
    const bool has_it = !words || layout == 1;
    expect(status == (has_it ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED), what);
    const std::vector<Out> got = from_device(dc, c.size());
    bool good = true;
    for (int col = 0; col < n; ++col)
      for (int row = 0; row < ldc; ++row) {
        const double old = at(c, false, ldc, row, col);
        double wanted = old;  // the rows past m are not touched
        if (row < m && has_it) {
          wanted = 3 * old;
          for (int p = 0; p < k; ++p) wanted += 2 * at(a, ta, lda, row, p) * at(b, tb, ldb, p, col);
        }
        good &= std::fabs(at(got, false, ldc, row, col) - wanted) <= tolerance * (1 + std::fabs(wanted));
      }
    expect(good, what);
    cudaFree(da), cudaFree(db), cudaFree(dc);
  }
}

void check_vectors(cublasHandle_t handle) {
  const int n = 100;
  const std::vector<float> x = numbers<float>(n), y = numbers<float>(2 * n);
  float *dx = on_device(x), *dy = on_device(y);
  const float alpha = 1.5f;
  CHECK_CUBLAS(cublasSaxpy(handle, n, &alpha, dx, 1, dy, 2));
  std::vector<float> got = from_device(dy, 2 * n);
  bool good = true;
  for (int i = 0; i < n; ++i) good &= std::fabs(got[2 * i] - ((double)alpha * x[i] + y[2 * i])) < 1e-6;
  for (int i = 0; i < n; ++i) good &= got[2 * i + 1] == y[2 * i + 1];
  expect(good, "saxpy");

  float dot = 0, norm = 0, sum = 0;
  int largest = 0, smallest = 0;
  CHECK_CUBLAS(cublasSdot(handle, n, dx, 1, dx, -1, &dot));
  CHECK_CUBLAS(cublasSnrm2(handle, n, dx, 1, &norm));
  CHECK_CUBLAS(cublasSasum(handle, n, dx, 1, &sum));
  CHECK_CUBLAS(cublasIsamax(handle, n, dx, 1, &largest));
  CHECK_CUBLAS(cublasIsamin(handle, n, dx, 1, &smallest));
  double wanted_dot = 0, squares = 0, magnitudes = 0;
  int wanted_largest = 0, wanted_smallest = 0;
  for (int i = 0; i < n; ++i) {
    wanted_dot += (double)x[i] * x[n - 1 - i];
    squares += (double)x[i] * x[i];
    magnitudes += std::fabs(x[i]);
    if (std::fabs(x[i]) > std::fabs(x[wanted_largest])) wanted_largest = i;
    if (std::fabs(x[i]) < std::fabs(x[wanted_smallest])) wanted_smallest = i;
  }
  expect(std::fabs(dot - wanted_dot) < 1e-4, "sdot backwards");
  expect(std::fabs(norm - std::sqrt(squares)) < 1e-5, "snrm2");
  expect(std::fabs(sum - magnitudes) < 1e-4, "sasum");
  expect(largest == wanted_largest + 1 && smallest == wanted_smallest + 1, "isamax counts from 1");

  // Results and factors on the device.
  float* on_gpu = nullptr;
  cudaMalloc((void**)&on_gpu, 2 * sizeof(float));
  CHECK_CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK_CUBLAS(cublasSnrm2(handle, n, dx, 1, on_gpu));
  CHECK_CUBLAS(cublasSscal(handle, n, on_gpu, dx, 1));
  CHECK_CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  got = from_device(dx, n);
  good = true;
  for (int i = 0; i < n; ++i) good &= got[i] == x[i] * norm;
  expect(good, "sscal by a norm on the device");

  CHECK_CUBLAS(cublasScopy(handle, n, dx, 1, dy, 2));
  CHECK_CUBLAS(cublasSswap(handle, n, dx, 1, dy + 1, 2));
  expect(from_device(dy, 2 * n)[0] == got[0] && from_device(dx, n)[7] == y[15], "scopy and sswap");
  cudaFree(dx), cudaFree(dy), cudaFree(on_gpu);
}

void check_matrix_vector(cublasHandle_t handle) {
  const int m = 13, n = 7, lda = 15;
  const std::vector<double> a = numbers<double>(lda * n), x = numbers<double>(m), y = numbers<double>(m);
  double *da = on_device(a), *dx = on_device(x), *dy = on_device(y);
  const double alpha = 2, beta = -1;
  CHECK_CUBLAS(cublasDgemv(handle, CUBLAS_OP_T, m, n, &alpha, da, lda, dx, 1, &beta, dy, 1));
  std::vector<double> got = from_device(dy, m);
  bool good = true;
  for (int col = 0; col < n; ++col) {
    double wanted = -y[col];
    for (int row = 0; row < m; ++row) wanted += 2 * a[col * lda + row] * x[row];
    good &= std::fabs(got[col] - wanted) < 1e-12;
  }
  expect(good && got[n] == y[n], "dgemv of the transpose");
  CHECK_CUBLAS(cublasDger(handle, m, n, &alpha, dx, 1, dy, 1, da, lda));
  const std::vector<double> outer = from_device(da, a.size());
  expect(std::fabs(outer[2 * lda + 3] - (a[2 * lda + 3] + 2 * x[3] * got[2])) < 1e-12, "dger");
  double* dt = nullptr;
  cudaMalloc((void**)&dt, m * n * sizeof(double));
  const double one = 1, zero = 0;
  CHECK_CUBLAS(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &one, da, lda, &zero, dt, n, dt, n));
  expect(from_device(dt, m * n)[3 * n + 2] == outer[2 * lda + 3], "dgeam transposes");
  cudaFree(da), cudaFree(dx), cudaFree(dy), cudaFree(dt);
}

void check_batches(cublasHandle_t handle) {
  const int m = 5, n = 6, k = 7, batches = 4;
  const std::vector<float> a = numbers<float>(m * k * batches), b = numbers<float>(k * n);
  float *da = on_device(a), *db = on_device(b), *dc = nullptr;
  cudaMalloc((void**)&dc, m * n * batches * sizeof(float));  // beta is 0: it need not be set
  const float one = 1, zero = 0;
  const auto matches = [&](int batch) {
    const std::vector<float> got = from_device(dc, m * n * batches);
    bool good = true;
    for (int col = 0; col < n; ++col)
      for (int row = 0; row < m; ++row) {
        double wanted = 0;
        for (int p = 0; p < k; ++p)
          wanted += at(a, false, m, row, p, batch * m * k) * at(b, false, k, p, col);
        good &= std::fabs(got[batch * m * n + col * m + row] - wanted) < 1e-5;
      }
    return good;
  };
  CHECK_CUBLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, da, m, m * k, db, k,
                                         0, &zero, dc, m, m * n, batches));
  for (int i = 0; i < batches; ++i) expect(matches(i), "strided batches that share B");

  std::vector<float*> as, bs, cs;
  for (int i = 0; i < batches; ++i)
    as.push_back(da + i * m * k), bs.push_back(db), cs.push_back(dc + (batches - 1 - i) * m * n);
  float **das = on_device(as), **dbs = on_device(bs), **dcs = on_device(cs);
  CHECK_CUBLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, das, m, dbs, k, &zero, dcs,
                                  m, batches));
  const std::vector<float> got = from_device(dc, m * n * batches);
  double wanted = 0;
  for (int p = 0; p < k; ++p) wanted += at(a, false, m, 1, p) * at(b, false, k, p, 2);
  expect(std::fabs(got[(batches - 1) * m * n + 2 * m + 1] - wanted) < 1e-5, "batches by pointers");
  for (void* p : {(void*)da, (void*)db, (void*)dc, (void*)das, (void*)dbs, (void*)dcs}) cudaFree(p);
}

__global__ void fill(float* x, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

/// A product comes in its turn among kernels and copies of its stream.
void check_stream(cublasHandle_t handle) {
  const int n = 64;
  cudaStream_t stream, before;
  cudaStreamCreate(&stream);
  CHECK_CUBLAS(cublasSetStream(handle, stream));
  CHECK_CUBLAS(cublasGetStream(handle, &before));
  float* a = nullptr;
  cudaMalloc((void**)&a, 2 * n * n * sizeof(float));
  float* c = a + n * n;
  fill<<<n * n / 256, 256, 0, stream>>>(a, n * n, 0.5f);
  const float alpha = 1, beta = 0;
  CHECK_CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, n, a, n, &beta, c, n));
  fill<<<n * n / 256, 256, 0, stream>>>(a, n * n, -1.0f);
  cudaStreamSynchronize(stream);
  expect(before == stream && from_device(c, n * n)[n] == n * 0.25f, "a product in its stream");
  CHECK_CUBLAS(cublasSetStream(handle, 0));
  cudaStreamDestroy(stream);
  cudaFree(a);
}

void check_statuses(cublasHandle_t handle) {
  const float one = 1;
  float* x = nullptr;
  expect(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x, 3, x, 4, &one, x, 4) ==
             CUBLAS_STATUS_INVALID_VALUE,
         "lda below m");
  expect(cublasSaxpy(nullptr, 4, &one, x, 1, x, 1) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  expect(
      cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x, CUDA_R_32F, 4, x, CUDA_R_16F, 4, &one,
                   x, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED,
      "factors of two formats");
  expect(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 4, 4, &one, x, 1, x, 4, &one, x, 1) ==
             CUBLAS_STATUS_SUCCESS,
         "an empty product");
  expect(!std::strcmp(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED") &&
             std::strlen(cublasGetStatusString(CUBLAS_STATUS_ALLOC_FAILED)) > 0,
         "names of statuses");
}

/// C is by rows: C^T = B^T A^T, and a matrix by rows is its transpose by columns.
void check_row_major_and_half(cublasHandle_t handle) {
  const int m = 9, n = 5, k = 8;
  const std::vector<__half> a = numbers<__half>(m * k), b = numbers<__half>(k * n);
  __half *da = on_device(a), *db = on_device(b), *dc = nullptr;
  CHECK_CUBLAS(cudaMalloc((void**)&dc, m * n * sizeof(__half)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                              : CUBLAS_STATUS_ALLOC_FAILED);
  const __half one = __float2half(1.0f), zero = __float2half(0.0f);
  CHECK_CUBLAS(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, db, n, da, k, &zero, dc, n));
  const std::vector<__half> c = from_device(dc, m * n);
  double wanted = 0;
  for (int p = 0; p < k; ++p) wanted += (double)(float)a[3 * k + p] * (double)(float)b[p * n + 2];
  expect(std::fabs((float)c[3 * n + 2] - wanted) < 2e-3, "hgemm by rows");
  cudaFree(da), cudaFree(db), cudaFree(dc);
}

/// Matrices of the host.
void check_xt() {
  cublasXtHandle_t handle;
  int device = 0;
  CHECK_CUBLAS(cublasXtCreate(&handle));
  CHECK_CUBLAS(cublasXtDeviceSelect(handle, 1, &device));
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 1, 2}, one = 1, two = 2;  // 2 x 3 by columns, 3 x 1
  float c[] = {10, 20};
  CHECK_CUBLAS(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 3, &one, a, 2, b, 3, &two, c, 2));
  expect(c[0] == 20 + 1 + 3 + 10 && c[1] == 40 + 2 + 4 + 12, "a product of the host's matrices");
  CHECK_CUBLAS(cublasXtDestroy(handle));
}

/// P A = L U for matrices with and without a singular one among them; without pivots as well.
void check_decomposition(cublasHandle_t handle) {
  constexpr int n = 3, batches = 2, lda = 4;
  const double a[batches][n * lda] = {{1, 4, 7, 0, 2, 5, 8, 0, 3, 6, 10, 0},
                                      {1, 2, 4, 0, 2, 4, 8, 0, 1, 0, 1, 0}};
  double* da = on_device(std::vector<double>(a[0], a[0] + batches * n * lda));
  double** pointers = on_device(std::vector<double*>{da, da + n * lda});
  int* pivots = on_device(std::vector<int>(batches * n, -1));
  int* info = on_device(std::vector<int>(batches, -1));
  CHECK_CUBLAS(cublasDgetrfBatched(handle, n, pointers, lda, pivots, info, batches));
  const std::vector<double> lu = from_device(da, n * lda);
  const std::vector<int> rows = from_device(pivots, batches * n), zero = from_device(info, batches);
  expect(zero[0] == 0 && zero[1] == 2, "which pivot is 0");
  expect(rows[0] == 3 && rows[1] == 3 && rows[2] == 3, "pivots");
  // L U is A with the rows in the order 7 8 10, 1 2 3, 4 5 6.
  expect(lu[0] == 7 && std::fabs(lu[1] - 1.0 / 7) < 1e-15 && std::fabs(lu[2] - 4.0 / 7) < 1e-15, "L");
  expect(std::fabs(lu[lda + 1] - (2 - 8.0 / 7)) < 1e-15, "U");

  cudaMemcpy(da, a[0], n * lda * sizeof(double), cudaMemcpyHostToDevice);
  CHECK_CUBLAS(cublasDgetrfBatched(handle, n, pointers, lda, nullptr, info, 1));
  const std::vector<double> plain = from_device(da, n * lda);
  expect(plain[0] == 1 && plain[1] == 4 && plain[lda + 1] == -3, "without pivots");
  expect(cublasDgetrfBatched(handle, n, pointers, n - 1, nullptr, info, 1) == CUBLAS_STATUS_INVALID_VALUE,
         "a leading dimension that is too small");
  cudaFree(da), cudaFree(pointers), cudaFree(pivots), cudaFree(info);
}

int main() {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return EXIT_FAILURE;
  check_gemm<float, float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5, "float");
  check_gemm<double, double, double>(handle, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1e-6, "double");
  check_gemm<__half, float, float>(handle, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5,
                                   "half, sums in float");
  check_gemm<__half, __half, __half>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 4e-2, "half");
  check_gemm<__nv_bfloat16, __nv_bfloat16, float>(handle, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1e-2,
                                                  "bfloat16");
  check_gemm<signed char, int, int>(handle, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0, "int8");
  check_vectors(handle);
  check_matrix_vector(handle);
  check_batches(handle);
  check_stream(handle);
  check_row_major_and_half(handle);
  check_decomposition(handle);
  check_xt();
  check_statuses(handle);
  expect(cudaGetLastError() == cudaSuccess, "no error is left");
  cublasDestroy(handle);
  std::printf(failures == 0 ? "Test PASSED\n" : "Test FAILED\n");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
