// Kernels reached through pointers, tables, members and calls.
#include <cuda_runtime.h>

using Kernel = void (*)(float*, int);

template <int kScale>
__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= kScale;
}
__global__ void negate(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = -x[i]; }

struct Plan {
  Kernel kernels[2];
  Kernel last;
  void run(float* x, int n) { this->last<<<1, 32>>>(x, n); last<<<1, 32>>>(x, n); }
};

static Kernel pick(int which) { return which ? scale<2> : negate; }
template <class T> static Kernel pick_for() { return sizeof(T) > 4 ? scale<4> : negate; }

void run_all(float* x, int n) {
  const Kernel table[] = {scale<1>, scale<2>, negate};
  Plan plan{{negate, scale<3>}, negate}, *p = &plan;
  Kernel fn = scale<8>;
  auto* other = &negate;

  fn<<<1, 32>>>(x, n);
  (*fn)<<<1, 32>>>(x, n);
  (*other) <<<1, 32>>> (x, n);
  for (int i = 0; i < 3; ++i) table[i]<<<1, 32>>>(x, n);
  for (Kernel each : table) each<<<1, 32>>>(x, n);
  if (n > 1) (scale<(3 > 2) ? 5 : 6>)<<<1, 32>>>(x, n); else (*fn)<<<2, 32>>>(x, n);
  plan.kernels[n > 1]<<<1, 32>>>(x, n);
  p->last<<<1, 32>>>(x, n), p->kernels[0]<<<1, 32>>>(x, n);
  pick(n)<<<1, 32>>>(x, n);
  pick_for<double>()<<<1, 32>>>(x, n);
  reinterpret_cast<Kernel>(reinterpret_cast<void (*)()>(fn))<<<1, 32>>>(x, n);
  ::negate<<<1, 32>>>(x, n);
  plan.run(x, n);
}
