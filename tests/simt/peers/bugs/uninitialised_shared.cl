// Half of a shared array is filled, all of it is read.

kernel void half_fill_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  if (thread < 32) tile[thread] = x[thread];
  barrier(CLK_LOCAL_MEM_FENCE);
  const float value = tile[thread];  // bug: nobody wrote the second half
  y[thread] = value < 0 ? -value : value;
}
