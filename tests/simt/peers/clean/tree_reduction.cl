// A sum over a block by halves, with a barrier after each.

kernel void add_block_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  tile[thread] = x[64 * get_group_id(0) + thread];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 32; step > 0; step /= 2) {
    if (thread < step) tile[thread] += tile[thread + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (thread == 0) y[get_group_id(0)] = tile[0];
}
