// hostile: Includes itself twice at each level, 2^200 times in all.
// lesson: 01
// word: A lesson's file does not include "01_vector_add.cu"
// verdict: not_compiled
// says: ompil
// trick: compile
// naive: no
// slow: the compiler runs into its time limit

#include "01_vector_add.cu"
