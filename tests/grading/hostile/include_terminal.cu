// hostile: Includes the terminal, so that the compiler waits for somebody to type.
// lesson: 01
// word: A lesson's file does not include "/dev/tty"
// verdict: not_compiled
// says: tty
// trick: compile
// naive: no

#include "/dev/tty"
