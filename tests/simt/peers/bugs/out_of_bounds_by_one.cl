// The guard of the last block lets one thread too many pass.

kernel void double_kernel(global const float* x, global float* y, int n) {
  const int i = get_global_id(0);
  if (i <= n) y[i] = 2 * x[i];  // bug: i == n is outside
}
