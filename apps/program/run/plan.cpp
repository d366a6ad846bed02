// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/plan.hpp"

#include <algorithm>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

run_plan load_plan(const run_options& options) {
  const auto model = std::ranges::find(models_of_scenes(), io::kind_of_scene(options.scene), &model_of_scenes::name);
  if (model->plan != nullptr) return model->plan(options);
  throw backend_error(
      message("this program was built without the model ", model->name, ": QUADRAT_MODELS names those that it has"));
}

}  // namespace quadrat::program
