// hostile: Includes the worked solution by each path that could lead there.
// lesson: 01
// word: A lesson's file does not include <../solutions/01_vector_add/vector_add.cu>
// verdict: not_compiled
// says: solutions
// trick: compile
// naive: no

#include <../solutions/01_vector_add/vector_add.cu>
#include "../../solutions/01_vector_add/vector_add.cu"
