// Bytes are written one by one and read in pairs, without a barrier.

kernel void pair_bytes_kernel(global const float* x, global float* y, int n) {
  local ushort pairs[32];
  const int thread = get_local_id(0);
  ((local uchar*)pairs)[thread] = x[thread];  // bug: no barrier between this byte
  y[thread] = pairs[(63 - thread) / 2];       // bug: and this pair
}
