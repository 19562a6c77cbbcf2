// hostile: Includes a file of the system, so that the compiler's messages show its lines.
// lesson: 01
// word: A lesson's file does not include "/etc/passwd"
// verdict: not_compiled
// says: passwd
// trick: compile
// never: root:

#include "/etc/passwd"
