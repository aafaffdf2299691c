"""`make bench`: measures the solver against other programs, against the limits of the machine, and on whole scenes."""
