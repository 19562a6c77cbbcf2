"""What scripts/compare_counters.py and scripts/measure_bounds.py are made of: the worked solutions under ncu.

ncu       runs a program under ncu and reads its report; a file of results that is whole after every one
counters  test cases, their launches by ncu and by the simulator, and what differs
causes    why they differ
bounds    measurements of the benchmarks, and the numbers that tell what bounds a kernel
quoted    such a number, by the name under which notes quote it
"""
