// The last thread writes behind the end of a shared array.

kernel void shift_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  tile[thread + 1] = x[thread];  // bug: thread 63 writes tile[64]
  barrier(CLK_LOCAL_MEM_FENCE);
  y[thread] = thread > 0 ? tile[thread] : 0.0f;
}
