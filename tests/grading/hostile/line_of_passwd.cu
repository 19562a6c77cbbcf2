// hostile: Says that an error is in a file of the system, so that whoever explains it shows that line.
// lesson: 01
// verdict: not_compiled
// says: #line gives a file the lines of another one
// trick: compile
// never: root:

#line 1 "/etc/passwd"
#error forged place
#line 1 "/etc/hostname"
int x = "forged";
