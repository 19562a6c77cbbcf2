/* A launch spread over lines, blanks before every parenthesis.  */

#include <cuda_runtime.h>

template <typename T>
__global__ static void
stencil_kernel (T const *__restrict__ in,
                T *__restrict__ out,
                int n)
{
  __shared__ T cache [128
                      + 2];
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  cache [threadIdx.x + 1] = (i < n) ? in [i] : T ();
  __syncthreads ();
  if (i < n)
    out [i] = cache [threadIdx.x] + cache [threadIdx.x + 1]
              + cache [threadIdx.x + 2];
}

void
stencil (double const *in, double *out, int n)
{
  dim3 const block (128);
  stencil_kernel
    < double >         // the type
    <<<
      dim3 ((n + block.x - 1)
            / block.x),  /* blocks */
      block
    >>>
    (
      in,
      out,  // where to
      n
    )
    ;
}
