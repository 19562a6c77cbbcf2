// Threads count into shared bins without an atomic.

kernel void count_kernel(global const float* x, global float* y, int n) {
  local int bins[8];
  const int thread = get_local_id(0);
  if (thread < 8) bins[thread] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  bins[(int)x[thread]] += 1;  // bug: two threads may count into one bin at once
  barrier(CLK_LOCAL_MEM_FENCE);
  if (thread < 8) y[thread] = bins[thread];
}
