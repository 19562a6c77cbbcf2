// Looks wrong: a value is stored with a plain write into a table that all blocks fill at the same time.
// It is right: atomicCAS() gives each slot to one thread, only that thread writes the value, and the next
// launch reads it.

#include <cuda_runtime.h>

constexpr int kSlots = 256, kN = 150, kEmpty = -1;

__global__ void insert_kernel(const int* keys, int* slot_keys, int* slot_values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kN) return;
  int slot = keys[i] * 37 % kSlots;
  while (atomicCAS(&slot_keys[slot], kEmpty, keys[i]) != kEmpty)
    slot = (slot + 1) % kSlots;  // keys are distinct
  slot_values[slot] = i;
}

__global__ void look_up_kernel(const int* keys, const int* slot_keys, const int* slot_values, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kN) return;
  int slot = keys[i] * 37 % kSlots;
  while (slot_keys[slot] != keys[i]) slot = (slot + 1) % kSlots;
  found[i] = slot_values[slot];
}

int main() {
  int keys[kN], found[kN] = {}, *d_keys, *d_slot_keys, *d_slot_values, *d_found;
  for (int i = 0; i < kN; ++i) keys[i] = 5 * i * i + i;
  cudaMalloc(&d_keys, sizeof keys);
  cudaMalloc(&d_slot_keys, kSlots * sizeof(int));
  cudaMalloc(&d_slot_values, kSlots * sizeof(int));  // empty slots have no value
  cudaMalloc(&d_found, sizeof found);
  cudaMemcpy(d_keys, keys, sizeof keys, cudaMemcpyHostToDevice);
  cudaMemset(d_slot_keys, 0xff, kSlots * sizeof(int));
  insert_kernel<<<3, 64>>>(d_keys, d_slot_keys, d_slot_values);
  look_up_kernel<<<3, 64>>>(d_keys, d_slot_keys, d_slot_values, d_found);
  cudaMemcpy(found, d_found, sizeof found, cudaMemcpyDeviceToHost);
  cudaFree(d_keys);
  cudaFree(d_slot_keys);
  cudaFree(d_slot_values);
  cudaFree(d_found);
  for (int i = 0; i < kN; ++i)
    if (found[i] != i) return 1;
  return 0;
}
