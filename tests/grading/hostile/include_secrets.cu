// hostile: Includes what processes and kernels tell about themselves.
// lesson: 01
// word: A lesson's file does not include "/proc/self/cmdline"
// verdict: not_compiled
// says: cmdline
// trick: compile

#include "/proc/self/cmdline"
#include "/proc/self/environ"
#include "/proc/version"
