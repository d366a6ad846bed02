# SPDX-License-Identifier: BSD-3-Clause
"""quadrat bench: every topic runs in its quick form, and writes what it should."""

import json
import subprocess
import sys

import support

IDENTITY = ["op", "method", "precision", "dim", "n", "cells", "distribution"]
RATES = {
    "cells": ["inserts_per_s", "walks_per_s", "finds_per_s"],
    "fft": ["points_per_s"],
    "granular": ["updates_per_s"],
    "search": ["agents_per_s", "visits_per_s"],
    "contacts": ["contacts_per_s", "updates_per_s"],
    "distributed": ["updates_per_s", "points_per_s"],
    "mesh": ["points_per_s"],
    "neighbors": ["pairs_per_s", "points_per_s", "atom_steps_per_s"],
    "keyed": ["elements_per_s"],
    "nufft": ["points_per_s"],
    "srd": ["updates_per_s"],
}
IDENTITIES = {
    "contacts": [key for key in IDENTITY if key != "cells"],
    "neighbors": [key for key in IDENTITY if key != "cells"],
    "mesh": ["op", "method", "precision", "dim", "n", "mesh", "order", "distribution"],
    "keyed": ["op", "method", "precision", "n", "keys", "distribution", "components"],
    "fft": ["op", "method", "precision", "dim", "n", "mesh", "value", "modes"],
    "nufft": ["op", "method", "precision", "type", "dim", "n", "modes", "tolerance", "value", "distribution"],
}


class BenchTest(support.ProgramTest):
    def bench(self, topic, *arguments):
        """Runs a topic on one CPU thread and returns its file, after checking its structure."""
        file = self.folder / "result.json"
        done = self.quadrat("bench", topic, "--quick", "--device", "cpu", "--threads", 1, "--json", file, *arguments)
        result = json.loads(file.read_text())
        self.assertNotIn("failed", result)
        for key in ["topic", "version", "commit", "device", "compiler", "threads", "settings", "noise"]:
            self.assertIn(key, result["meta"])
        self.assertTrue(result["meta"]["complete"])
        self.assertGreater(len(result["rows"]), 0)
        for row in result["rows"]:
            if row["op"] == "auto_summary":
                continue
            identity = IDENTITIES.get(topic, IDENTITY)
            self.assertEqual(list(row)[: len(identity)], identity)
            self.assertLessEqual(row["min_ms"], row["median_ms"])
            self.assertLessEqual(row["median_ms"], row["max_ms"])
            self.assertIsInstance(row["stable"], bool)
            self.assertEqual(len([rate for rate in RATES[topic] if rate in row]), 1, row)
            self.assertIn(row["method"], done.stdout)
        return result

    def methods(self):
        """The names in `quadrat info`: every cell list is a method of the model."""
        return self.names(json.loads(self.quadrat("info", "--json").stdout)["models"]["granular"])

    def cell_lists(self):
        return self.names(json.loads(self.quadrat("info", "--json").stdout)["cells"])

    def names(self, module):
        return {method["name"] for method in module["methods"] if method["cpu"]}

    def tables(self):
        """The output of benchmarks/tables.py for the file."""
        script = support.SOURCE / "benchmarks" / "tables.py"
        return subprocess.run(
            [sys.executable, script, self.folder / "result.json"], check=True, capture_output=True, text=True
        ).stdout

    def test_distributed(self):
        result = self.bench("distributed")
        models = {"weak", "strong", "overlap", "exchange", "srd", "circles", "ewald", "brownian"}
        self.assertEqual({row["op"] for row in result["rows"]}, {*models, "migration", "fft", "spread", "nufft"})  # one rank has no halo
        for row in result["rows"]:
            if row["op"] in models and row["method"] != "one_context":
                self.assertEqual((row["bytes_sent_a_step"], row["imbalance"]), (0, 0))
        self.assertEqual({row["ranks"] for row in result["rows"]}, {1})

    def test_cells(self):
        result = self.bench("cells")
        operations = {"insert", "blob", "carry", "walk", "hash_insert", "hash_find", "slowest_step"}
        self.assertEqual({row["op"] for row in result["rows"]}, operations)
        for operation in ["insert", "walk", "slowest_step"]:
            measured = {row["method"] for row in result["rows"] if row["op"] == operation}
            self.assertEqual(measured, self.cell_lists(), operation)
        self.assertEqual({row["order"] for row in result["rows"] if row["op"] == "carry"}, {"random", "steady"})
        self.assertEqual({row["precision"] for row in result["rows"]}, {"float", "double", "uint64"})
        self.assertEqual(len(result["meta"]["noise"]), 1)
        self.assertIn("Figure 3", self.tables())

    def test_granular(self):
        result = self.bench("granular")
        self.assertEqual({row["op"] for row in result["rows"]}, {"step", "sparse", "threads", "simulation"})
        for operation in ["step", "simulation"]:
            measured = {row["method"] for row in result["rows"] if row["op"] == operation}
            self.assertEqual(measured, self.methods(), operation)
        self.assertIn("Figure 2", self.tables())
        frozen = [row for row in result["rows"] if row["op"] == "step"]
        self.assertTrue(all(row["settings"]["time_step"] == 1e-12 for row in frozen))
        self.assertTrue(all("speedup" in row for row in result["rows"] if row["op"] == "threads"))

    def test_search(self):
        result = self.bench("search")
        operations = {"step", "circles", "original", "sine", "visit"}
        self.assertEqual({row["op"] for row in result["rows"]}, operations)
        for operation in operations:
            measured = {row["method"] for row in result["rows"] if row["op"] == operation}
            self.assertEqual(measured, {"default", "strips", "modular", "hybrid", "trimmed"}, operation)
        for row in result["rows"]:
            if row["op"] == "circles":
                self.assertEqual(row["series"][-1]["step"], row["steps"])
                self.assertEqual(row["series"][-1]["neighbor_deviation"], row["last_deviation"])
            if row["op"] == "step":
                self.assertGreaterEqual(row["candidates"], row["neighbors"])
        for words in ["Times as fast as default", "over the reach", "building included"]:
            self.assertIn(words, self.tables())

    def test_neighbors(self):
        result = self.bench("neighbors", "--op", "triclinic", "--op", "outputs")
        self.assertEqual({row["op"] for row in result["rows"]}, {"triclinic", "outputs"})
        for row in result["rows"]:
            if row["op"] == "triclinic":
                self.assertEqual(row["chosen"], "sweeps")
        pairs = {row["output"]: row["pairs"] for row in result["rows"] if row["op"] == "outputs"}
        self.assertEqual(2 * pairs["half"], pairs["csr"])

    def test_nearest_neighbors(self):
        rows = self.bench("neighbors", "--op", "knn")["rows"]
        self.assertEqual({row["op"] for row in rows}, {"knn"})
        self.assertEqual({(row["precision"], row["k"]) for row in rows}, {("float", 16), ("double", 8)})
        uneven = {"8 nested scales", "one stray point", "two scales", "scales from 2^-20 to 1"}
        distributions = {"uniform", "uniform periodic"} | uneven
        self.assertEqual({row["distribution"] for row in rows}, distributions)
        self.assertTrue(all(row["search_ms"] > 0 for row in rows))

    def test_steps_of_molecular_dynamics(self):
        steps = self.bench("neighbors", "--op", "lj_step")["rows"]
        self.assertEqual({row["pairs"] for row in steps}, {"full", "half"})
        for row in steps:
            self.assertGreater(row["rebuilds"], 0)
            self.assertLess(abs(row["drift"]), 0.01)
            self.assertGreater(row["listed"], 20)
            self.assertEqual(row["steps"] % 50, 0)

    def test_forces_over_cluster_pairs(self):
        rows = self.bench("neighbors", "--op", "cluster_pairs")["rows"]
        wanted = {(method, precision) for method in ["neighbor_list", "tiles"] for precision in ["float", "double"]}
        self.assertEqual({(row["method"], row["precision"]) for row in rows}, wanted)
        for row in rows:
            self.assertAlmostEqual(row["neighbors"], rows[0]["neighbors"], 2)
            self.assertGreater(row["update_ms"], 0)
            self.assertGreater(row["build_ms"], 0)

    def test_contacts(self):
        result = self.bench("contacts")
        self.assertEqual({row["op"] for row in result["rows"]}, {"detect", "methods", "bins", "sparse", "friction"})
        methods = {row["method"] for row in result["rows"] if row["op"] == "methods"}
        info = json.loads(self.quadrat("info", "--json").stdout)
        self.assertEqual(methods, {method["name"] for method in info["contacts"]["methods"]})
        for row in result["rows"]:
            if row["op"] != "friction":
                self.assertGreater(row["contacts"], 0)
        for words in ["From positions to records", "sorted by load", "settled grains"]:
            self.assertIn(words, self.tables())

    def test_rdf(self):
        rows = self.bench("neighbors", "--op", "rdf")["rows"]
        self.assertEqual([(row["precision"], row["neighbors"]) for row in rows],
                         [("float", 40), ("float", 400), ("double", 40)])
        for row in rows:
            pairs = row["pairs_per_s"] * row["median_ms"] / 1000
            self.assertAlmostEqual(pairs / (row["n"] * row["neighbors"]), 1, places=1)

    def test_pairs(self):
        rows = self.bench("neighbors", "--op", "pairs")["rows"]
        self.assertEqual([(row["precision"], row["method"], row["reach"], row["sums"]) for row in rows],
                         [("float", "r", 0.1, False), ("float", "r", 0.02, False), ("double", "r", 0.1, False),
                          ("float", "r", 0.1, True), ("float", "rp_pi", 0.1, False)])  # fmt: skip
        for row in rows[::2]:
            partners = row["n"] * 4.18879 * row["reach"] ** 3 if row["method"] == "r" else row["n"] * 6.28319 * 0.001
            self.assertAlmostEqual(row["pairs"] / (row["n"] * partners), 1, places=1)

    def test_cutoffs(self):
        rows = self.bench("neighbors", "--op", "cutoffs")["rows"]
        self.assertEqual({row["rule"] for row in rows}, {"sum", "larger", "own"})
        self.assertEqual({row["distribution"] for row in rows}, {"falling density", "equal", "mixed", "one large"})
        for row in rows:
            self.assertGreater(row["pairs"], row["n"])
            self.assertAlmostEqual(row["pairs_of_one_cutoff"] / row["pairs"], 1, places=1)
            self.assertGreater(row["times_one_cutoff"], 0)

    def test_clusters(self):
        rows = self.bench("neighbors", "--op", "clusters")["rows"]
        self.assertEqual({row["method"] for row in rows}, {"friends_of_friends", "dbscan"})
        for row in rows:
            self.assertEqual(row["min_points"] == 1, row["method"] == "friends_of_friends")
            one = row["distribution"] in ("one place", "ball of 4 linking lengths", "chain")
            self.assertTrue(row["clusters"] == 1 if one else row["clusters"] > 1 or row["neighbors"] > 2, row)

    def test_keyed(self):
        result = self.bench("keyed")
        rows = result["rows"]
        orders = {"ordered", "shifted", "random"}
        for operation in ["reach", "paper", "sizes", "deterministic"]:
            chosen = [row for row in rows if row["op"] == operation]
            self.assertEqual({row["distribution"] for row in chosen}, orders, operation)
            self.assertTrue(all(row["kept_ms"] > 0 and row["set_keys_ms"] > 0 for row in chosen), operation)
            in_order = {row["distribution"] for row in chosen if row["method"] == "ordered"}
            self.assertLessEqual(in_order, {"ordered"}, operation)
        reach = [row for row in rows if row["op"] == "reach"]
        self.assertLessEqual({"auto", "atomic", "ordered", "sort_reduce"}, {row["method"] for row in reach})
        shapes = {(row["precision"], row["components"]) for row in reach}
        wanted = {("float", parts) for parts in range(1, 9)} | {("double", parts) for parts in (1, 2, 3)}
        self.assertEqual(shapes, wanted)
        again = [row for row in rows if row["op"] == "deterministic"]
        self.assertTrue(all(row.get("determinism") == "run_to_run" or row.get("compensated") for row in again))
        self.assertTrue(any(row.get("compensated") for row in again))
        apart = {(row["method"], row["precision"]) for row in again if row.get("sizes") == "by_key"}
        self.assertLessEqual({("fixed_point", "float"), ("fixed_point", "double")}, apart)
        host = [row for row in rows if row["op"] == "host"]
        self.assertEqual({row["operation"] for row in host}, {"sum", "count", "mean", "functor"})
        methods = {"plain_loop", "functor_reducer", "auto", "private_tables", "partitioned"}
        self.assertEqual({row["method"] for row in host}, methods)
        self.assertTrue(all((row.get("times_plain_loop", 0) > 0) == (row["method"] != "plain_loop") for row in host))
        self.check_choices([row for row in rows if row["op"] == "auto"], [row for row in rows if row["op"] == "auto_summary"])
        for words in ["random, float", "within 15 %", "Beside the best method", "of a size of their own", "elements"]:
            self.assertIn(words, self.tables())

    def check_choices(self, rows, summaries):
        """No timed method took less than the best, and the summary agrees with the rows."""
        for row in rows:
            self.assertEqual(row["methods_ms"][row["best"]], min(row["methods_ms"].values()))
            self.assertAlmostEqual(row["ratio"], row["median_ms"] / row["best_ms"], delta=1e-6)
            self.assertGreater(row["choose_ms"], 0)
            self.assertTrue(row["reason"])
        self.assertEqual(len(summaries), 1)
        self.assertEqual(summaries[0]["combinations"], len(rows))
        self.assertEqual(summaries[0]["within_15_percent"], sum(row["ratio"] <= 1.15 for row in rows))
        self.assertEqual(summaries[0]["worst_ratio"], max(row["ratio"] for row in rows))

    def test_srd(self):
        result = self.bench("srd")
        rows = {operation: [row for row in result["rows"] if row["op"] == operation]
                for operation in ["step", "sort_every", "viscosity", "tails", "poiseuille"]}
        self.assertEqual(sum(map(len, rows.values())), len(result["rows"]))
        kinds = {(row["method"], row["precision"], row["time_step"], row["thermostat"]) for row in rows["step"]}
        usual = {("float", 0.1, True), ("double", 0.1, True), ("float", 1, True), ("float", 0.1, False)}
        self.assertEqual(kinds, {(sums, *kind) for sums in ["fixed", "floating"] for kind in usual})
        for row in rows["step"]:
            self.assertEqual(row.get("determinism"), "run_to_run" if row["method"] == "fixed" else None)
        self.assertEqual({(row["sort_every"], row["time_step"]) for row in rows["sort_every"]},
                         {(interval, step) for interval in [1, 10, "never"] for step in [0.1, 1]})
        for row in rows["viscosity"]:
            # Two runs are not enough for the reference's digits.
            self.assertLess(abs(row["deviation"]), 0.3)
            self.assertAlmostEqual(row["deviation"], row["viscosity"] / row["expected"] - 1, delta=1e-9)
        for row in rows["poiseuille"]:
            worst = max(abs(velocity - expected) for _, velocity, expected in row["profile"])
            self.assertAlmostEqual(row["deviation"], worst / max(expected for *_, expected in row["profile"]), delta=1e-9)
            self.assertEqual(len(row["profile"]), 10)
        self.assertEqual([row["thermostat"] for row in rows["tails"]], [False, True])
        for row in rows["tails"]:
            self.assertAlmostEqual(row["expected"], row["with_thermostat"] + row["long_time_tail"], delta=1e-12)
            self.assertEqual(row["with_thermostat"] > row["theory"], row["thermostat"])
        for words in ["Step by steps between two sortings", "Viscosity from shear waves", "parabola", "in 2D"]:
            self.assertIn(words, self.tables())

    def test_mesh(self):
        result = self.bench("mesh")
        rows = result["rows"]
        executions = {"spread", "interpolate", "interpolate_gradient"}
        for operation in executions:
            chosen = [row for row in rows if row["op"] == operation]
            self.assertEqual({row["value"] for row in chosen}, {"real", "complex"}, operation)
            self.assertEqual({row["precision"] for row in chosen}, {"float", "double"}, operation)
            self.assertEqual({row["order"] for row in chosen}, {4, 6, 8}, operation)
            crowds = {"clustered", "one_place", "line", "spot"}
            self.assertEqual({row["distribution"] for row in chosen}, {"uniform"} | crowds, operation)
            self.assertTrue(all(row["deviation"] < 1e-4 for row in chosen), operation)
            compared = [row for row in chosen if "over_uniform" in row]
            self.assertEqual({row["distribution"] for row in compared}, crowds - {"clustered"}, operation)
            self.assertEqual(any(row.get("reads") == "spread" for row in compared), operation != "spread", operation)
        spectra = [row for row in rows if row["op"] == "power_spectrum"]
        self.assertEqual({(row["interlaced"], row["precision"]) for row in spectra},
                         {(True, "float"), (True, "double"), (False, "float"), (False, "double")})
        operations = {row["op"] for row in rows}
        self.assertLessEqual(executions | {"set_points", "figure6", "figure7", "figure8", "figure9", "costs"}, operations)
        compared = {row["method"] for row in rows if row["op"] == "figure8"}
        self.assertIn("particle", compared)
        self.assertNotIn("particle_racing", compared)
        self.assertEqual({row["method"] for row in rows if row["op"] == "costs"}, compared)
        for row in rows:
            if row["op"] == "repetitions":
                self.check_winner(row, [other for other in rows if other["op"] == "costs"])
        for words in ["Spreading", "Figure 6", "Figure 8", "repetitions"]:
            self.assertIn(words, self.tables())

    def test_fft(self):
        rows = self.bench("fft")["rows"]
        libraries = json.loads(self.quadrat("info", "--json").stdout)["spectral"]["fft"]
        found = {library["name"] for library in libraries if library["cpu"]}
        self.assertEqual({row["method"] for row in rows}, found)
        self.assertEqual({row["dim"] for row in rows if row["method"] == "own"}, {1, 2, 3})
        self.assertEqual({row["modes"] for row in rows}, {"all", "half"})
        own = self.bench("fft", "--method", "own")["rows"]
        self.assertEqual({row["method"] for row in own}, {"own"})

    def test_nufft(self):
        rows = self.bench("nufft")["rows"]
        self.assertEqual({row["op"] for row in rows}, {"nufft"})
        kinds = {(row["type"], row["dim"], row["precision"], row["value"]) for row in rows}
        several = [(type, dim) for type in (1, 2, 3) for dim in (1, 2, 3)]
        expected = {(*one, precision, "complex") for one in several for precision in ("float", "double")}
        expected |= {(*one, "float", "real") for one in several if one[0] < 3}
        self.assertEqual(kinds, expected)
        for row in rows:
            self.assertLess(row["deviation"], 3.001 * row["tolerance"])
            self.assertGreater(row["set_points_ms"], 0)
            self.assertGreater(row["set_and_execute_ms"], row["set_points_ms"] / 2)
            if row["type"] < 3:
                self.assertLess(row["width"] * row["oversampling"], 33)
                self.assertGreaterEqual(row["mesh"], row["modes"] * row["oversampling"])
        self.assertEqual({row["dim"] for row in self.bench("nufft", "--op", "2d", "--method", "particle")["rows"]}, {2})

    def check_winner(self, row, costs):
        """No method of the row's kind takes less for that number of repetitions."""
        same = [cost for cost in costs if (cost["n"], cost["mesh"]) == (row["n"], row["mesh"])]
        total = {cost["method"]: cost["set_points_ms"] + row["repetitions"] * cost["median_ms"] for cost in same}
        if row["among"] == "paper":
            total.pop("tiles", None)
        self.assertEqual(min(total, key=total.get), row["method"])
        self.assertAlmostEqual(total[row["method"]], row["median_ms"], delta=1e-6 * row["median_ms"])

    def test_choosing_rows(self):
        result = self.bench("cells", "--figure", 3, "--method", "linked_loose", "--method", "sorted")
        self.assertEqual({row["op"] for row in result["rows"]}, {"slowest_step"})
        self.assertEqual({row["method"] for row in result["rows"]}, {"linked_loose", "sorted"})
        self.assertTrue(all(row["figure"] == 3 for row in result["rows"]))
        result = self.bench("mesh", "--figure", 8, "--method", "particle")
        self.assertEqual({(row["op"], row["method"]) for row in result["rows"]}, {("figure8", "particle")})
        result = self.bench("granular", "--op", "threads")
        self.assertEqual({row["op"] for row in result["rows"]}, {"threads"})

    def test_wrong_command_lines(self):
        for arguments, words in [
            ([], "--help"),
            (["cels"], "nearest first: cells"),
            (["cells", "--method", "linked_lose"], "nearest first: linked_loose"),
            (["cells", "--op", "insrt"], "nearest first: insert"),
            (["cells", "--figure", 2], "it has 3"),
            (["granular", "--method", "fused", "--device", "cpu"], "fused does not run on the CPU"),
            (["keyed", "--method", "cas_lop", "--device", "cpu"], "nearest first: "),
            (["cells", "--quick", "--full"], "--help"),
            (["cells", "--device", "tpu"], "--help"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.fails("bench", *arguments, code=2))

    def test_suggestions_run_on_the_device(self):
        info = json.loads(self.quadrat("info", "--json").stdout)
        for topic, methods in [
            ("granular", info["models"]["granular"]["methods"]),
            ("keyed", info["keyed"]["methods"]),
            ("mesh", info["mesh"]["methods"]),
            ("neighbors", info["search"]["neighbors"]["methods"]),
        ]:
            with self.subTest(topic):
                message = self.fails("bench", topic, "--method", "magic", "--device", "cpu", code=2)
                listed = set(message.split("nearest first: ")[1].split(", ")) - {"auto"}
                self.assertEqual(listed, {method["name"] for method in methods if method["cpu"]})

    def test_a_file_that_cannot_be_written(self):
        (self.folder / "file").write_text("not a folder")
        self.fails("bench", "cells", "--device", "cpu", "--json", self.folder / "file" / "result.json", code=1)

    def test_help_lists_topics(self):
        text = self.quadrat("bench", "--help").stdout
        for word in ["cells", "fft", "granular", "keyed", "mesh", "nufft", "srd", "slowest_step", "--figure 2", "Examples:"]:
            self.assertIn(word, text)


if __name__ == "__main__":
    support.main()
