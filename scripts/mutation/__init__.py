"""All mutants of the machines in one build, each behind a switch.

`cargo mutants` knows the changes and can try them one at a time, with a build for each: for two thousand of them that is
days. Here its list is taken, each change is put behind a condition in a copy of the tree, the tests are built once, and the
environment variable `POMBO_MUTANT` chooses the change that a run of them sees.
"""
