// hostile: Nests 2^16 parentheses, so that a compiler that calls itself for each runs out of stack.
// lesson: 01
// verdict: not_compiled
// slow: the compiler works for half a minute
// says: ompil
// trick: compile
// naive: no

#define OPEN0 (
#define CLOSE0 )
#define OPEN1 OPEN0 OPEN0
#define CLOSE1 CLOSE0 CLOSE0
#define OPEN2 OPEN1 OPEN1
#define CLOSE2 CLOSE1 CLOSE1
#define OPEN3 OPEN2 OPEN2
#define CLOSE3 CLOSE2 CLOSE2
#define OPEN4 OPEN3 OPEN3
#define CLOSE4 CLOSE3 CLOSE3
#define OPEN5 OPEN4 OPEN4
#define CLOSE5 CLOSE4 CLOSE4
#define OPEN6 OPEN5 OPEN5
#define CLOSE6 CLOSE5 CLOSE5
#define OPEN7 OPEN6 OPEN6
#define CLOSE7 CLOSE6 CLOSE6
#define OPEN8 OPEN7 OPEN7
#define CLOSE8 CLOSE7 CLOSE7
#define OPEN9 OPEN8 OPEN8
#define CLOSE9 CLOSE8 CLOSE8
#define OPEN10 OPEN9 OPEN9
#define CLOSE10 CLOSE9 CLOSE9
#define OPEN11 OPEN10 OPEN10
#define CLOSE11 CLOSE10 CLOSE10
#define OPEN12 OPEN11 OPEN11
#define CLOSE12 CLOSE11 CLOSE11
#define OPEN13 OPEN12 OPEN12
#define CLOSE13 CLOSE12 CLOSE12
#define OPEN14 OPEN13 OPEN13
#define CLOSE14 CLOSE13 CLOSE13
#define OPEN15 OPEN14 OPEN14
#define CLOSE15 CLOSE14 CLOSE14
#define OPEN16 OPEN15 OPEN15
#define CLOSE16 CLOSE15 CLOSE15
int deep = OPEN16 1 CLOSE16;
