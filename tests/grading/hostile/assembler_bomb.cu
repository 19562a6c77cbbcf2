// hostile: Makes the assembler repeat a line a thousand million times.
// lesson: 01
// verdict: not_compiled
// says: ompil
// trick: compile
// naive: no

// The simulator refuses assembler by that word.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)
ASSEMBLER(".rept 1000000000\n.byte 1\n.endr");
