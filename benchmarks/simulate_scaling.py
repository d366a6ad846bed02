#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Steps of the granular model on up to 1,024 GPUs of a cluster, simulated message by message.

    python3 benchmarks/simulate_scaling.py [-o benchmarks/results/model/scaling.json]

Prints the tables of docs/performance/scaling.md. What goes in: the times of steps on one GPU
(benchmarks/results/h200/granular.json), what it costs to choose ghosts anew
(benchmarks/results/h100x2/exchange.json), the messages of a run on several ranks
(benchmarks/results/model/ranks_run.json, the summary of `quadrat run`), and published figures of InfiniBand clusters
(NETWORKS). Every rank has a clock. A step is, as in src/models/granular/ranks/grains_of_rank.cpp:
    forces on the grains that are ghosts elsewhere, which with that have moved; messages to the 26 blocks around, each
    through the sender's network card, the wire, and the receiver's card;
    meanwhile forces on the others, and a collective (the record of the step) in rounds of distance 1, 2, 4, ...;
    the next step begins when all three have ended.
    In some steps ghosts are chosen anew before the forces, two more collectives, messages, sorting, and sent: then
    nothing overlaps.
Ranks differ by a share of the work that is drawn once (imbalance of contacts) and anew in each step (noise)."""

import argparse
import itertools
import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent / "results"

# latency: of a message between GPUs of two nodes, s. An all-to-all of 8 bytes over 4 to 8 nodes with one GPU each takes
# 6.5 us (OSU benchmarks, github.com/openucx/ucx/issues/10552); it is counted as three rounds.
# gap: between messages of one GPU, s; bandwidth: bytes/s of one GPU. 1.6 million messages of a byte per second, and
# 24.8 GB/s, over NDR200 (OSU benchmarks, github.com/openucx/ucx/issues/9287).
# share: the part of the bandwidth that other traffic leaves at 1,024 GPUs: half on a busy InfiniBand Dragonfly+ (De
# Sensi et al., Exploring GPU-to-GPU communication, SC24, arXiv:2408.14090). Assumption: latencies of the busy network
# are those of the quiet one plus an exponentially distributed delay with the same mean.
NETWORKS = {
    "quiet": {"latency": 2.2e-6, "gap": 0.62e-6, "bandwidth": 24.8e9, "share": 1.0},
    "busy": {"latency": 2.2e-6, "gap": 0.62e-6, "bandwidth": 24.8e9, "share": 0.5},
}
# The time in which a host waits for its GPU, s: a launch and a synchronization, twice per step (largest move, forces).
SYNCHRONIZE = 10e-6
IMBALANCE, NOISE = 0.03, 0.005
# Grains per cell, and layers of cells from which ghosts are sent: docs/performance/scaling.md.
PER_CELL, LAYERS = 3.5, 1.5
# The share of steps that choose ghosts anew. None: as in the run, in which a dam breaks. For a slow bed it is assumed.
RATES = {"dam break": None, "slow bed": 0.05}


def step_times():
    """(grains, seconds) of a step by `counting` on one GPU, float, about 3.5 grains a cell."""
    rows = json.loads((HERE / "h200/granular.json").read_text())["rows"]
    found = {
        row["n"]: row["median_ms"] / 1e3
        for row in rows
        if row["op"] == "step" and row["method"] == "counting" and row["precision"] == "float"
        and row["order"] == "steady" and row["distribution"] == "uniform" and 3.3 <= row["occupancy"] <= 3.6
    }  # fmt: skip
    return sorted(found.items())


def measured_choosing():
    """Finding migrants and choosing ghosts, on one rank, in steps without that: of 4 million grains on an H100."""
    rows = json.loads((HERE / "h100x2/exchange.json").read_text())["rows"]
    times = {row["method"]: row["median_ms"] for row in rows if row["ranks"] == 1}
    return times["exchanging"] / times["ranks"] - 1


def step_time(n, table):
    """Interpolated in logarithms; below the smallest as long as that, above the largest in proportion."""
    if n <= table[0][0]:
        return table[0][1]
    for (n0, t0), (n1, t1) in zip(table, table[1:]):
        if n <= n1:
            part = math.log(n / n0) / math.log(n1 / n0)
            return t0 * (t1 / t0) ** part
    return table[-1][1] * n / table[-1][0]


def measured_messages():
    """From a run: the share of steps that choose ghosts anew, and bytes sent over those that the model expects."""
    run = json.loads((HERE / "model/ranks_run.json").read_text())
    ranks = run["ranks"]["by_rank"]
    steps = run["run"]["last_step"] - run["run"]["first_step"]
    exchanges = run["ranks"]["exchanges"] / steps
    # The bytes include migrating grains.
    sent = sum(rank["bytes_sent"] for rank in ranks) / steps
    expected = 32 * expected_ghosts(run["run"]["particles"] / len(ranks), len(ranks))
    return {"steps": steps, "exchanges": exchanges, "bytes_over_model": sent / expected}


def expected_ghosts(grains, ranks):
    """Of all ranks, in blocks of a full box at PER_CELL grains a cell: where they touch, LAYERS cells deep."""
    edge, sides = (grains / PER_CELL) ** (1 / 3), arranged(ranks)
    places = itertools.product(*map(range, sides))
    pieces = {1: LAYERS * edge**2, 2: LAYERS**2 * edge, 3: LAYERS**3}
    return PER_CELL * sum(pieces[kind] for place in places for _, kind in neighbors(place, sides))


def arranged(ranks):
    """Blocks along each axis, as even as factors allow."""
    options = [
        (x, y, ranks // (x * y))
        for x in range(1, ranks + 1) if ranks % x == 0
        for y in range(1, ranks // x + 1) if (ranks // x) % y == 0
    ]  # fmt: skip
    return min(options, key=lambda sides: (max(sides) / min(sides), sides))


def neighbors(place, sides):
    """(rank, kind) of the blocks around in an open box; kind: the number of axes along which it is another one."""
    for move in itertools.product((-1, 0, 1), repeat=3):
        to = [a + b for a, b in zip(place, move)]
        if any(move) and all(0 <= a < n for a, n in zip(to, sides)):
            yield to[0] + sides[0] * (to[1] + sides[1] * to[2]), sum(map(abs, move))


class Cluster:
    def __init__(self, ranks, grains, network, messages, choosing, table, seed=1):
        self.random = random.Random(seed)
        self.ranks, self.network, self.messages, self.choosing = ranks, network, messages, choosing
        self.sides = arranged(ranks)
        places = [
            (r % self.sides[0], r // self.sides[0] % self.sides[1], r // (self.sides[0] * self.sides[1]))
            for r in range(ranks)
        ]
        self.around = [list(neighbors(place, self.sides)) for place in places]
        self.work = [
            step_time(grains, table) * max(0.5, self.random.gauss(1, IMBALANCE if ranks > 1 else 0)) for _ in places
        ]
        edge = (grains / PER_CELL) ** (1 / 3)
        unit = 32 * PER_CELL * LAYERS * messages["bytes_over_model"]
        self.bytes = {1: unit * edge**2, 2: unit * LAYERS * edge, 3: unit * LAYERS**2}
        # For each rank, the share of its grains that are ghosts elsewhere.
        sent = [sum(self.bytes[kind] for _, kind in around) / 32 for around in self.around]
        self.border = [min(1.0, ghosts / grains) for ghosts in sent]
        self.clock = [0.0] * ranks
        self.waited = {"record": 0.0, "ghosts": 0.0, "exchange": 0.0}
        self.debt = 0.0

    def latency(self):
        extra = self.random.expovariate(1 / self.network["latency"]) if self.network["share"] < 1 else 0
        return self.network["latency"] + extra

    def collective(self):
        """Dissemination: ceil(log2 P) rounds, in each a message from each rank to one."""
        distance = 1
        while distance < self.ranks:
            sent = [t + self.network["gap"] for t in self.clock]
            self.clock = [
                max(sent[r], sent[r - distance] + self.latency()) for r in range(self.ranks)
            ]
            distance *= 2

    def exchange_messages(self, part=1.0):
        """Each card sends and takes one message at a time. `part`: of the bytes of a step."""
        speed = self.network["bandwidth"] * self.network["share"] / part
        arriving = [[] for _ in range(self.ranks)]
        for r, around in enumerate(self.around):
            at = self.clock[r]
            for to, kind in around:
                at += self.network["gap"] + self.bytes[kind] / speed
                arriving[to].append((at + self.latency(), self.bytes[kind] / speed))
            self.clock[r] = at
        for r, messages in enumerate(arriving):
            at = 0.0
            for arrived, duration in sorted(messages):
                # A message is received while it is sent, unless another one is being received.
                at = max(arrived, at + duration)
            self.clock[r] = max(self.clock[r], at)

    def choose_ghosts(self):
        self.collective()
        self.exchange_messages(1e-3)
        self.clock = [t + self.choosing * work for t, work in zip(self.clock, self.work)]
        self.collective()

    def after(self, action, begin):
        """The clocks after an action that begins at those."""
        self.clock = list(begin)
        action()
        return self.clock

    def wait(self, what, now, until):
        """The later ones of both; what now waits for."""
        later = [max(a, b) for a, b in zip(now, until)]
        self.waited[what] += (sum(later) - sum(now)) / self.ranks
        return later

    def forces(self):
        several = self.ranks > 1
        return [work * (1 + (abs(self.random.gauss(0, NOISE)) if several else 0)) for work in self.work]

    def step_with_exchange(self):
        """The host looks at the record before it enqueues anything."""
        begin = [t + 2 * SYNCHRONIZE for t in self.clock]
        agreed = self.wait("record", self.clock, self.after(self.collective, begin))
        chosen = self.wait("exchange", agreed, self.after(self.choose_ghosts, agreed))
        there = self.wait("ghosts", chosen, self.after(self.exchange_messages, chosen))
        self.clock = [t + force for t, force in zip(there, self.forces())]

    def step_without(self):
        begin = list(self.clock)
        forces = self.forces()
        ends = [t + force for t, force in zip(begin, forces)]
        if self.ranks == 1:
            self.clock = ends
            return
        border = [t + force * share for t, force, share in zip(begin, forces, self.border)]
        ends = self.wait("ghosts", ends, self.after(self.exchange_messages, border))
        record = self.after(self.collective, [t + 2 * SYNCHRONIZE for t in begin])
        self.clock = self.wait("record", ends, record)

    def step(self):
        self.debt += self.messages["exchanges"]
        if self.debt >= 1 and self.ranks > 1:
            self.debt -= 1
            self.step_with_exchange()
        else:
            self.step_without()

    def run(self, steps):
        for _ in range(steps):
            self.step()
        result = {"ranks": self.ranks, "ms": 1e3 * max(self.clock) / steps}
        result.update({name + "_ms": 1e3 * t / steps for name, t in self.waited.items()})
        return result


def simulate(steps):
    table, messages, choosing = step_times(), measured_messages(), measured_choosing()
    rows = []

    def add(scaling, motion, name, ranks, grains):
        rate = {} if RATES[motion] is None else {"exchanges": RATES[motion]}
        cluster = Cluster(ranks, grains, NETWORKS[name], {**messages, **rate}, choosing, table)
        rows.append({"scaling": scaling, "motion": motion, "network": name, "grains_a_rank": grains, **cluster.run(steps)})
        ideal = step_time(grains if scaling == "weak" else 1 << 30, table) / (1 if scaling == "weak" else ranks)
        rows[-1]["efficiency"] = 1e3 * ideal / rows[-1]["ms"]

    for motion, name, ranks in itertools.product(RATES, NETWORKS, (8, 64, 512, 1024)):
        for grains in (1 << 20, 1 << 22, 1 << 24):
            add("weak", motion, name, ranks, grains)
        add("strong", motion, name, ranks, (1 << 30) // ranks)
    return {"networks": NETWORKS, "messages": messages, "imbalance": IMBALANCE, "noise": NOISE, "rates": RATES,
            "synchronize": SYNCHRONIZE, "choosing": choosing, "steps": steps, "rows": rows}  # fmt: skip


def tables(result):
    """Efficiency is that of the quiet network, and of the busy one in brackets; times are those of the quiet one."""
    lines = []
    for motion in RATES:
        for scaling, title in (("weak", "grains a GPU"), ("strong", "grains a GPU, 2^30 in all")):
            lines += ["", f"| {motion}: {title} | GPUs | step, ms | agreement | ghosts | exchange | efficiency (busy) |",
                      "|---|---|---|---|---|---|---|"]  # fmt: skip
            rows = [row for row in result["rows"] if (row["motion"], row["scaling"]) == (motion, scaling)]
            busy = {(row["grains_a_rank"], row["ranks"]): row for row in rows if row["network"] == "busy"}
            quiet = [row for row in rows if row["network"] == "quiet"]
            for row in sorted(quiet, key=lambda row: (row["grains_a_rank"] * (scaling == "weak"), row["ranks"])):
                grains, ranks = row["grains_a_rank"], row["ranks"]
                lines.append(
                    f"| {grains / 2**20:g}M | {ranks:,} | {row['ms']:.3g} | {row['record_ms']:.2g} | {row['ghosts_ms']:.2g} | "
                    f"{row['exchange_ms']:.2g} | {100 * row['efficiency']:.0f} % ({100 * busy[grains, ranks]['efficiency']:.0f} %) |"
                )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, help="a file for the rows, as JSON")
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    result = simulate(options.steps)
    print(tables(result))
    if options.output:
        options.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
