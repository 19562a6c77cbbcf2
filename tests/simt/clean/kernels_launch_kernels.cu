// Looks wrong: kernels read what others write, and no barrier lies between. It is right: a launch by a kernel
// runs after what its thread has done, in one stream after the launch before, and as the last after all
// others.

#include "../programs/nested_launches.cuh"
