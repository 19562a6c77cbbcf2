// Half a warp returns, and the rest of the block waits at a barrier.

kernel void mirror_48_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  if (thread >= 48) return;  // bug: half of the second warp
  tile[thread] = x[thread];
  barrier(CLK_LOCAL_MEM_FENCE);  // bug: which never comes here
  y[thread] = tile[47 - thread];
}
