"""Why the simulator and the profiler count differently, where they do: found in machine code and by line."""

# A sentence for each cause.
CAUSES = {}

# (lesson, kernel, counter): the name of a cause. What differs and is not here stands on the page as unexplained.
EXPLAINED = {}
