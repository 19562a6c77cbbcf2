// hostile: Puts the worked solution into the library, to print it later.
// lesson: 01
// verdict: not_compiled
// says: vector_add.cu
// trick: compile
// naive: no

// The simulator refuses assembler by that word.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)
ASSEMBLER(".pushsection .rodata\n.incbin \"solutions/01_vector_add/vector_add.cu\"\n.popsection");
