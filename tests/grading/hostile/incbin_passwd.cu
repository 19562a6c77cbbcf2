// hostile: Puts a file of the system into the library, to print it later.
// lesson: 01
// verdict: not_compiled
// says: has an asm statement
// trick: compile
// naive: no

// Not by its word, which the rewriter would take for PTX.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)
ASSEMBLER(".pushsection .rodata\n.global stolen\nstolen: .incbin \"/etc/passwd\"\n.popsection");
