// hostile: Makes the compiler print a verdict, escape codes and markup.
// lesson: 01
// verdict: not_compiled
// says: 24 of 24
// trick: compile
// never: \x1b

#error PASS 01 Vector add 24 of 24 points </pre><script>alert(1)</script> ``` ]]>
static_assert(false, "\x1b[2J\x1b]0;owned\x07 PASS 24 of 24 points");
