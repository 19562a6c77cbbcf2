// A tile is refilled while slow threads still read it: the second barrier of the loop is missing.

kernel void add_rounds_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  float sum = 0.0f;
  for (int first = 0; first < n; first += 64) {
    tile[thread] = x[first + thread];  // bug: overwrites what the last round
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += tile[63 - thread];  // bug: still reads here
  }
  y[thread] = sum;
}
