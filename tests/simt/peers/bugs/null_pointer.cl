// The input was never allocated.

kernel void double_kernel(global const float* x, global float* y, int n) {
  y[get_local_id(0)] = 2 * x[get_local_id(0)];  // bug: x is null
}
