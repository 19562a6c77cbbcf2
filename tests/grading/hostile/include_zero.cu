// hostile: Includes a device that never ends.
// lesson: 01
// word: A lesson's file does not include "/dev/zero"
// verdict: not_compiled
// says: zero
// trick: compile
// naive: no

#include "/dev/zero"
