#pragma once
// Comes between simt_prelude.h and the kernel of a lesson. Not a part of that header: g++ forgets what a
// precompiled header undefines of the command line.

// A kernel is not to know in which mode it runs, so that it cannot behave better where it is watched.
#undef SIMT_CHECK
#undef __SANITIZE_THREAD__
#undef _GLIBCXX_TSAN

// Nor is it to take a function out of check mode's sight. nvcc does not know these attributes.
#define no_sanitize(...)
#define __no_sanitize__(...)
#define no_sanitize_thread
#define __no_sanitize_thread__
#define no_sanitize_coverage
#define __no_sanitize_coverage__
