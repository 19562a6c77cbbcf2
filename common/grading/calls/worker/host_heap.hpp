#pragma once
/// @file
/// Memory that the student's host code allocates, in whichever way: malloc(), new, a container, an exception.
/// It lies in a region of its own, which kernels cannot touch, as they cannot on a GPU. So the host finds
/// nothing there that a kernel has left, in run mode either, where nobody sees a kernel's stores.
///
/// malloc(), operator new and their kin are this program's own. They go by who calls them: the student's
/// library, or the C++ library while the student's code runs. All others get their memory from the C library.

namespace course::grading {

/// @brief Sets the region up. Before the student's library is loaded, and before the worker is confined.
void start_host_heap();

}  // namespace course::grading
