# SPDX-License-Identifier: BSD-3-Clause
"""NequIP's calculator for ASE with this package's neighbor list: one line exchanges the list, nothing else.

    pip install nequip
    python3 examples/nequip_calculator/nequip_calculator.py [--model FILE] [--repeat 6 6 7]

Rock salt, 2,016 atoms. Without the file of a compiled model a small one with random weights serves. Prints the energy,
and the milliseconds of the list and of energy and forces, with the list of matscipy that NequIP comes with and with
this one.
"""

import argparse
import importlib
import time
from typing import Any, NamedTuple

import quadrat.matscipy


class Step(NamedTuple):
    energy: float
    forces: Any
    list_ms: float
    step_ms: float


def small_calculator(cutoff: float) -> Any:
    """A calculator with a model of sodium and chlorine that has random weights."""
    names = ["Na", "Cl"]
    importlib.import_module("nequip.utils.global_state").set_global_state()
    build: Any = importlib.import_module("nequip.model").NequIPGNNModel
    transforms: Any = importlib.import_module("nequip.data.transforms")
    sizes = {"num_layers": 2, "l_max": 1, "num_features": 4, "radial_mlp_width": 16, "avg_num_neighbors": 20.0}
    model = build(seed=1, model_dtype="float64", r_max=cutoff, type_names=names, **sizes).eval()
    steps = [transforms.ChemicalSpeciesToAtomTypeMapper(names), transforms.NeighborListTransform(r_max=cutoff)]
    calculator: Any = importlib.import_module("nequip.integrations.ase").NequIPCalculator
    return calculator(model, device="cpu", transforms=steps)


def compare(atoms: Any, cutoff: float, model: str | None = None) -> dict[str, Step]:
    """A step with each list, by its name. `model` : the file of a compiled one."""
    lists: Any = importlib.import_module("nequip.data._nl")
    calculator: Any = importlib.import_module("nequip.integrations.ase").NequIPCalculator
    steps: dict[str, Step] = {}
    own = {"matscipy": lists.matscipy_nl, "quadrat": quadrat.matscipy.neighbour_list}
    for name, neighbour_list in own.items():
        lists.matscipy_nl = neighbour_list  # the line
        atoms.calc = small_calculator(cutoff) if model is None else calculator.from_compiled_model(model, device="cpu")
        atoms.get_forces()  # warms up
        atoms.calc.reset()
        start = time.perf_counter()
        neighbour_list("ijS", atoms, cutoff)
        listed = time.perf_counter()
        energy, forces = atoms.get_potential_energy(), atoms.get_forces()
        end = time.perf_counter()
        steps[name] = Step(float(energy), forces, 1e3 * (listed - start), 1e3 * (end - listed))
    lists.matscipy_nl = own["matscipy"]
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="the file of a compiled model that knows sodium and chlorine")
    parser.add_argument("--repeat", type=int, nargs=3, default=[6, 6, 7], help="cells of 8 atoms along each axis")
    parser.add_argument("--cutoff", type=float, default=4.0, help="of the small model, and of the list whose time is shown")
    given = parser.parse_args()
    build: Any = importlib.import_module("ase.build")
    atoms = build.bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat(given.repeat)
    atoms.rattle(0.1, seed=1)
    for name, step in compare(atoms, given.cutoff, given.model).items():
        print(f"{name:<9} {step.energy:.10f} eV, list {step.list_ms:.1f} ms, energy and forces {step.step_ms:.1f} ms")


if __name__ == "__main__":
    main()
