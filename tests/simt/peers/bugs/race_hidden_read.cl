// A racing read that an optimiser moves into a branch that this run does not take.

kernel void maybe_mirror_kernel(global const float* x, global float* y, int n) {
  local float tile[64];
  const int thread = get_local_id(0);
  tile[thread] = x[thread];                 // bug: no barrier between this write
  const float opposite = tile[63 - thread];  // bug: and this read
  if (n < 0) y[thread] = opposite;
}
