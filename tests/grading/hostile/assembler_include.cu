// hostile: Lets the assembler include a file, whose lines then stand in its messages.
// lesson: 01
// verdict: not_compiled
// says: asm statement
// trick: compile
// never: root:

// The simulator refuses assembler by that word.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)
ASSEMBLER(".include \"/etc/passwd\"");
