// A launch with too many threads in a block, whose error nobody looks at.

kernel void double_kernel(global const float* x, global float* y, int n) {
  y[get_local_id(0)] = 2 * x[get_local_id(0)];
}
