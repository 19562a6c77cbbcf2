// Four floats are loaded at once, from an address that is no multiple of 16.

kernel void add_quads_kernel(global const float* x, global float* y, int n) {
  const float4 quad = *(global const float4*)(x + 4 * get_local_id(0) + 1);  // bug: one float off
  y[get_local_id(0)] = quad.x + quad.y + quad.z + quad.w;
}
