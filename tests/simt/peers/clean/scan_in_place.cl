// A prefix sum in one array: each thread reads its own element again after the barrier.

kernel void scan_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  tile[thread] = x[thread];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < 64; step *= 2) {
    const float left = thread >= step ? tile[thread - step] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[thread] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  y[thread] = tile[thread];
}
