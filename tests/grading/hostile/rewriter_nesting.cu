// hostile: Opens more parentheses in a launch than anybody closes, for the rewriter.
// lesson: 01
// verdict: not_compiled
// says: never closed
// trick: compile
// grow: 500000

// clang-format off
__global__ void kernel() {}
void f() { kernel<<<1, 1>>>(
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
