// Kernels that launch kernels: a quicksort that launches itself for each part, launches into the same stream
// of a block, which keep their order, one that comes after all others, and memory that a kernel allocates for
// the next. Needs -rdc=true of nvcc.

#include "nested_launches.cuh"
