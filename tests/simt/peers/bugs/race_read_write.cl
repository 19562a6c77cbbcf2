// A block is mirrored through shared memory without a barrier.

kernel void mirror_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  tile[thread] = x[thread];       // bug: no barrier between this write
  y[thread] = tile[63 - thread];  // bug: and this read
}
