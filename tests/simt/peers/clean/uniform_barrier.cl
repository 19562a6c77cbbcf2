// A barrier inside a branch that a whole block takes, or leaves, together.

kernel void mirror_first_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0), i = 64 * get_group_id(0) + thread;
  if (get_group_id(0) == 0) {
    tile[thread] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[63 - thread];
  } else {
    y[i] = x[i];
  }
}
