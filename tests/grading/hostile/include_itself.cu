// hostile: Includes itself without end.
// lesson: 01
// word: A lesson's file does not include "01_vector_add.cu"
// verdict: not_compiled
// says: nested
// trick: compile

#include "01_vector_add.cu"
