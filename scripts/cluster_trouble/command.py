"""The command line of scripts/cluster-trouble."""

import argparse
import json
import signal
import sys

from . import activities, figures, machine, table, troubles
from .processes import Failed

ABOUT = """\
Real faults for a cluster: three nodes, PostgreSQL with a synchronous standby, three NATS servers and the simulated provider.
Each has a network namespace of its own where that is possible (as root). During each trouble, the cluster accepts messages,
sends, uses up quotas, imports and moves channels. For each of these activities, one line says what the receiver saw. The
events of each message, in the stream and at a receiver of webhooks, are compared with the states that its row had.

The exit code is 1 when a message was lost or repeated, its events are not its states in their order, a quota was exceeded
or work stopped, and 2 when the machine lacks a program or a right. Web sessions are not among the activities: their provider's simulator works only within one process."""


def read():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="scripts/cluster-trouble", description=ABOUT, formatter_class=form)
    parser.add_argument("--program", metavar="FILE", help="the program (by default the newest build in target)")
    parser.add_argument("--other-program", metavar="FILE", help="another version, for the rolling upgrade")
    parser.add_argument("--list", action="store_true", help="list the cells")
    parser.add_argument("--cell", action="append", metavar="NAME", help="only this TROUBLE, or TROUBLE/ACTIVITY; can be repeated")
    parser.add_argument("--short", action="store_true", help="only the two troubles on the loopback that scripts/test runs")
    parser.add_argument("--minutes", type=float, help="for how long nodes join and leave")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--keep", action="store_true", help="keep the logs")
    parser.add_argument("--figures", choices=sorted(figures.ALL), help="measure this instead of walking the table")
    parser.add_argument("--runs", type=int, metavar="N", help="how many times to measure")
    return parser.parse_args()


def end(*_):
    raise KeyboardInterrupt


def main():
    options = read()
    signal.signal(signal.SIGTERM, end)
    if options.list:
        for kind in troubles.ALL:
            print(f"{kind.name:<19} {kind.says}")
        print(f"\nactivities during each: {', '.join(kind.name for kind in activities.ALL)}")
        return 0
    if options.minutes:
        troubles.Comings.seconds = options.minutes * 60
    try:
        options.program = machine.find_program(options.program)
        options.other_program = options.other_program and machine.find_program(options.other_program)
        wants_faketime = not options.short and not options.figures
        machine.install(machine.needed_packages(wants_faketime))
        if options.figures:
            result = figures.ALL[options.figures](options)
            print(json.dumps(result) if options.json else figures.words(result), flush=True)
            return 0
        walk = table.Table(options)
        is_good = walk.walk()
        if options.json:
            print(json.dumps({"good": is_good, "cells": walk.lines}), flush=True)
        return 0 if is_good else 1
    except machine.Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ended early", file=sys.stderr)
        return 130
