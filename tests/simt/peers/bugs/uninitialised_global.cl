// The input was allocated, but never written.

kernel void absolute_kernel(global const float* x, global float* y, int n) {
  const float value = x[get_local_id(0)];  // bug: nobody wrote x
  y[get_local_id(0)] = value < 0 ? -value : value;
}
