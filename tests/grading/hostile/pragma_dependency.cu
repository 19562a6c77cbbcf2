// hostile: Asks how old a file of the system is.
// lesson: 01
// word: A lesson's file has no #pragma GCC
// verdict: not_compiled
// says: passwd
// trick: compile

#pragma GCC dependency "/etc/passwd"
#error seen
