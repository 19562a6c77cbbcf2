// hostile: Asks how old a file of the system is.
// lesson: 01
// verdict: not_compiled
// says: passwd
// trick: compile

#pragma GCC dependency "/etc/passwd"
#error seen
