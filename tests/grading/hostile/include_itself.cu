// hostile: Includes itself without end.
// lesson: 01
// verdict: not_compiled
// says: nested
// trick: compile

#include "01_vector_add.cu"
