"""The command line of scripts/cluster-trouble."""

import argparse
import json
import signal
import sys

from . import activities, figures, machine, table, troubles
from .processes import Failed

ABOUT = """\
Real trouble for a cluster: three nodes, PostgreSQL with a synchronous standby, three NATS servers and the simulated provider,
each in a network namespace of its own where that is possible (as root). For each trouble, while the cluster accepts
messages, sends, uses up quotas, imports and moves channels, one line says what the receiver saw.

The exit code is 1 when a message was lost or repeated, a quota was exceeded or a cell stood still, and 2 when the machine lacks
something. Web sessions are not among the activities: there is no simulator of their provider outside of one process."""


def read():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="scripts/cluster-trouble", description=ABOUT, formatter_class=form)
    parser.add_argument("--program", metavar="FILE", help="the program (the newest build in target)")
    parser.add_argument("--other-program", metavar="FILE", help="another version, for the rolling upgrade")
    parser.add_argument("--list", action="store_true", help="list the cells")
    parser.add_argument("--cell", action="append", metavar="NAME", help="only this TROUBLE, or TROUBLE/ACTIVITY; more than once")
    parser.add_argument("--short", action="store_true", help="two troubles on the loopback, as scripts/test has them")
    parser.add_argument("--minutes", type=float, help="how long nodes join and leave")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--keep", action="store_true", help="keep the logs")
    parser.add_argument("--figures", choices=sorted(figures.ALL), help="measure instead")
    parser.add_argument("--runs", type=int, metavar="N", help="of the measure")
    return parser.parse_args()


def end(*_):
    raise KeyboardInterrupt


def main():
    options = read()
    signal.signal(signal.SIGTERM, end)
    if options.list:
        for kind in troubles.ALL:
            print(f"{kind.name:<19} {kind.says}")
        print(f"\neach while: {', '.join(kind.name for kind in activities.ALL)}")
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
