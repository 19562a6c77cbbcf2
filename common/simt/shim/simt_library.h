#pragma once
// Comes first in the headers of CUDA's libraries.

#ifndef SIMT_PROGRAM
#error \
    "The libraries of CUDA (cuBLAS, cuRAND, CUB, Thrust) are for programs of their own: a lesson's kernel does without them."
#endif
