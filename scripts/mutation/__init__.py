"""Measures how much the tests of a lesson notice: scripts/mutation_run.py runs the parts in this folder.

    mutants    the changes of a kernel, one place each
    judging    compiles them and has the lesson's tests judge them
    report     shares, survivors, and the reasons why some of these are equivalent
"""
