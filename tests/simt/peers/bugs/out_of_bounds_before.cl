// Differences of neighbours, without a guard for the first element.

kernel void difference_kernel(global const float* x, global float* y, int n) {
  const int i = get_global_id(0);
  y[i] = x[i] - x[i - 1];  // bug: thread 0 reads in front of x
}
