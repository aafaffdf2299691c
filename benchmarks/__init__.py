"""`make bench`: how fast the solver is, beside other programs, beside what the machine can do, and on whole scenes."""
