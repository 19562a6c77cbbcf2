#pragma once
/// @file
/// Memory that the student's code allocates, in whichever way: malloc(), new, a container, an exception. As
/// on a GPU, what host code gets is closed to kernels, and what kernels get is closed to the host. So neither
/// finds there what the other has left, in run mode either, where nobody sees a kernel's stores.
///
/// malloc(), operator new and their kin are this program's own. They go by who calls them: the student's
/// library, or the C++ library while the student's host code runs. All others get their memory from the C
/// library.

namespace course::grading {

/// @brief Sets two regions up. Before the student's library is loaded, and before the worker is confined.
void start_student_heaps();

}  // namespace course::grading
