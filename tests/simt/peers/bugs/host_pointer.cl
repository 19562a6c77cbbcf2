// The kernel is given the address of a vector in host memory.

// A buffer's handle cannot be mistaken for an address here, so that the address comes as a number.
kernel void double_kernel(ulong x, global float* y, int n) {
  y[get_local_id(0)] = 2 * ((global const float*)x)[get_local_id(0)];  // bug: x is host memory
}
