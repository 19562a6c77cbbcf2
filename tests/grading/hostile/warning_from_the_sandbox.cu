// hostile: Makes the compiler's output begin as the sandbox's own, so that the machine gets the blame.
// lesson: 01
// verdict: not_compiled
// says: #line gives a file the lines of another one
// trick: compile

// Not by its word, which the rewriter would take for PTX.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)
#line 1 "bwrap: no room"
#warning bwrap
ASSEMBLER("nonsense");
