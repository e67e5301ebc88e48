"""All mutants of the machines in one build, each behind a switch.

`cargo mutants` lists the changes and can try them one at a time, with a build for each: two thousand of them take days.
This script takes the list and puts each change behind a condition in a copy of the tree. It builds the tests once; the
environment variable `POMBO_MUTANT` chooses the change that a run of the tests sees.
"""
