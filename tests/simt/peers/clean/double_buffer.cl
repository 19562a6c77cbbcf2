// Two tiles take turns, so that one barrier a round is enough.

kernel void add_rounds_kernel(global const float* x, global float* y, int n) {
  local float tile[2][64];
  const int thread = get_local_id(0);
  float sum = 0.0f;
  for (int round = 0; round < n / 64; ++round) {
    tile[round % 2][thread] = x[64 * round + thread];
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += tile[round % 2][63 - thread];
  }
  y[thread] = sum;
}
