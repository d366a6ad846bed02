// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/plan.hpp"

namespace quadrat::program {

run_plan load_plan(const run_options& options) {
  switch (io::kind_of_scene(options.scene)) {
    case io::scene_kind::brownian:
      return plan_of_brownian(options);
    case io::scene_kind::circles:
      return plan_of_circles(options);
    case io::scene_kind::srd:
      return plan_of_srd(options);
    case io::scene_kind::electrolyte:
      return plan_of_electrolyte(options);
    case io::scene_kind::granular_friction:
      return plan_of_friction(options);
    case io::scene_kind::granular:
      break;
  }
  return plan_of_granular(options);
}

}  // namespace quadrat::program
