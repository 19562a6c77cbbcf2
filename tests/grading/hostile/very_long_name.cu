// hostile: Has a function whose name has a million letters.
// lesson: 01
// verdict: not_compiled
// says: undeclared
// trick: compile

#define PASTE(a, b) a##b
#define TWICE(a) PASTE(a, a)
#define LONG0 abcdefghijklmnopqrstuvwxyzabcdef
#define GROW1(a) PASTE(a, a)
#define GROW2(a) GROW1(PASTE(a, a))
#define GROW3(a) GROW2(PASTE(a, a))
#define GROW4(a) GROW3(PASTE(a, a))
#define GROW5(a) GROW4(PASTE(a, a))
#define GROW6(a) GROW5(PASTE(a, a))
#define GROW7(a) GROW6(PASTE(a, a))
#define GROW8(a) GROW7(PASTE(a, a))
#define GROW9(a) GROW8(PASTE(a, a))
#define GROW10(a) GROW9(PASTE(a, a))
#define GROW11(a) GROW10(PASTE(a, a))
#define GROW12(a) GROW11(PASTE(a, a))
#define GROW13(a) GROW12(PASTE(a, a))
#define GROW14(a) GROW13(PASTE(a, a))
int GROW14(abcdefghijklmnopqrstuvwxyzabcdef)() { return 0; }
int uses = undeclared;
