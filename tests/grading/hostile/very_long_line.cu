// hostile: Has a line of 900 KB.
// lesson: 01
// verdict: not_compiled
// says: does not define
// trick: compile
// grow: 900000

// clang-format off
int f(int); int f(int, int); int f(int, int, int);
