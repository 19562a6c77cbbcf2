// The two halves of a block meet at two different barriers.

kernel void two_barriers_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  if (thread < 32) {
    tile[thread] = x[thread];
    barrier(CLK_LOCAL_MEM_FENCE);  // bug: half of the block waits here
  } else {
    tile[thread] = -x[thread];
    barrier(CLK_LOCAL_MEM_FENCE);  // bug: the other half here
  }
  y[thread] = tile[63 - thread];
}
