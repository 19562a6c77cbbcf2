// Threads count into shared bins, and blocks into global ones, with atomics.

kernel void count_kernel(global const float* x, global float* y, int n) {
  local int bins[8];
  const int thread = get_local_id(0);
  if (thread < 8) bins[thread] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[(int)x[64 * get_group_id(0) + thread]], 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (thread < 8) atomic_add((global int*)y + thread, bins[thread]);
}
