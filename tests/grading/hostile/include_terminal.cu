// hostile: Includes the terminal, so that the compiler waits for somebody to type.
// lesson: 01
// verdict: not_compiled
// says: tty
// trick: compile
// naive: no

#include "/dev/tty"
