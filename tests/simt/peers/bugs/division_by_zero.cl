// An integer is divided by an input that may be zero.

kernel void divide_kernel(global const float* x, global float* y, int n) {
  y[get_local_id(0)] = n / (int)x[get_local_id(0)];  // bug: x[0] is 0
}
