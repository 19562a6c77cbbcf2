// Links with misbehave.cpp: a static object whose constructor does one bad thing, chosen at compile time.
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace {

struct Early {
  Early() {
#if defined(COURSE_EARLY_CRASH)
    volatile int* volatile nowhere =
        nullptr;  // volatile: or the compiler drops what it knows to be undefined
    *nowhere = 1;
#elif defined(COURSE_EARLY_EXIT)
    _exit(0);
#else
    for (;;) pause();
#endif
  }
};

const Early early;

}  // namespace
