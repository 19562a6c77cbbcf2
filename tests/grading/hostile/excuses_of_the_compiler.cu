// hostile: Makes the compiler say that the disk is full, so that the machine gets the blame.
// lesson: 01
// verdict: not_compiled
// says: ompil
// trick: compile

#error No space left on device
#error Killed signal terminated program cc1plus
