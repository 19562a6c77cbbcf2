// hostile: Makes the compiler's output begin as the sandbox's own, so that the machine gets the blame.
// lesson: 01
// verdict: not_compiled
// says: nonsense
// trick: compile

// The simulator refuses assembler by that word.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)
#line 1 "bwrap: no room"
#warning bwrap
ASSEMBLER("nonsense");
