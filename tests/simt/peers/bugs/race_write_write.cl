// Two warps fold their values into the same 32 elements.

kernel void fold_kernel(global const float* x, global float* y, int n) {
  local float tile[32];
  const int thread = get_local_id(0);
  tile[thread % 32] = x[thread];  // bug: threads 32 apart write one element
  barrier(CLK_LOCAL_MEM_FENCE);
  if (thread < 32) y[thread] = tile[thread];
}
