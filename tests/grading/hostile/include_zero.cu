// hostile: Includes a device that never ends.
// lesson: 01
// verdict: not_compiled
// says: zero
// trick: compile
// naive: no

#include "/dev/zero"
