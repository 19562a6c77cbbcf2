#include "grading/calls/entry.hpp"
#include "suspects.hpp"

COURSE_ENTRIES(COURSE_ENTRY(course::copy), COURSE_ENTRY(course::shift), COURSE_ENTRY(course::add_to_nothing),
               COURSE_ENTRY(course::copy_one_more), COURSE_ENTRY(course::reverse_in_warps),
               COURSE_ENTRY(course::copy_otherwise_if_watched), COURSE_ENTRY(course::launch_more_if_watched),
               COURSE_ENTRY(course::reply_by_itself_if_watched), COURSE_ENTRY(course::copy_without_kernel),
               COURSE_ENTRY(course::copy_by_host), COURSE_ENTRY(course::copy_by_host_later),
               COURSE_ENTRY(course::copy_by_host_memory), COURSE_ENTRY(course::copy_by_heap_of_kernel),
               COURSE_ENTRY(course::spin));
