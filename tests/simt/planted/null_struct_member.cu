// A linked list on the device is followed one node beyond its end. The test for the end of the list must
// come before the node is read.
//
// expect: null_pointer at A
#include <cuda_runtime.h>

#include <cstdio>

struct Node {
  int value;
  const Node* next;
};

__global__ void sum_list(const Node* head, int length, int* sum) {
  int total = 0;
  for (int i = 0; i <= length; ++i) {
    total += head->value;  // A
    head = head->next;
  }
  *sum = total;
}

int main() {
  Node* nodes;
  int* sum;
  cudaMalloc(&nodes, 3 * sizeof(Node));
  cudaMalloc(&sum, sizeof(int));
  const Node host[3] = {{1, nodes + 1}, {2, nodes + 2}, {3, nullptr}};
  cudaMemcpy(nodes, host, sizeof host, cudaMemcpyHostToDevice);
  sum_list<<<1, 1>>>(nodes, 3, sum);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(nodes);
  cudaFree(sum);
  return 0;
}
