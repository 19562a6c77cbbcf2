// hostile: Says that an error is in a device that never ends, so that whoever explains it reads on.
// lesson: 01
// verdict: not_compiled
// says: #line gives a file the lines of another one
// trick: compile
// naive: no

#line 1 "/dev/zero"
#error forged place
