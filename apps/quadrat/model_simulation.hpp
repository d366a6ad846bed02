// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/vec.hpp"
#include "simulation.hpp"

namespace quadrat::program {

template <typename T, int D>
void add_vectors(io::checkpoint& state, std::string name, const std::vector<vec<T, D>>& values) {
  const T* const first = values.empty() ? nullptr : values.front().component;
  state.add<T>(std::move(name), std::span(first, D * values.size()), D);
}

template <typename T, int D>
std::vector<vec<T, D>> get_vectors(const io::checkpoint& state, std::string_view name, std::size_t count) {
  const std::vector<T> values = state.get<T>(name);
  if (values.size() != D * count) {
    throw io_error(
        message("the checkpoint holds ", values.size(), " numbers of \"", name, "\"; expected ", D, " x ", count));
  }
  std::vector<vec<T, D>> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < D; ++axis) result[i][axis] = values[D * i + static_cast<std::size_t>(axis)];
  }
  return result;
}

/// In single precision and three dimensions, as files and pictures have them.
template <typename T, int D>
std::vector<vec<float, 3>> shown_vectors(const std::vector<vec<T, D>>& values) {
  std::vector<vec<float, 3>> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i] = {};
    for (int axis = 0; axis < D; ++axis) result[i][axis] = static_cast<float>(values[i][axis]);
  }
  return result;
}

/// What every model's simulation answers in the same way.
template <typename Model>
class model_simulation : public simulation {
  using context_type = std::remove_cvref_t<decltype(std::declval<const Model&>().context())>;
  static constexpr bool on_cpu = std::is_same_v<context_type, cpu_context>;

 public:
  explicit model_simulation(Model model) : model_(std::move(model)) {}

  std::uint64_t step() const override { return model_.step(); }
  std::size_t size() const override { return model_.size(); }
  std::size_t memory_bytes() const override { return model_.bytes(); }
  std::string backend() const override { return on_cpu ? "cpu" : "cuda"; }
  std::string device_name() const override {
    if constexpr (on_cpu) {
      return cpu_name();
    } else {
      for (const device_description& device : cuda_devices()) {
        if (device.index == model_.context().device()) return device.name;
      }
      return "GPU";
    }
  }
  int threads() const override {
    if constexpr (on_cpu) {
      return model_.context().threads();
    } else {
      return 0;
    }
  }

 protected:
  void require_size(const io::checkpoint& saved) const {
    if (saved.particles == size()) return;
    throw io_error(message("the checkpoint holds ", saved.particles, " particles, not ", size()));
  }

  Model model_;
};

/// Calls make(context) with the context that [run] asks for. The analyzer loses sight of what a unique_ptr owns where
/// it becomes one of the base.
template <typename Make>
std::unique_ptr<simulation> with_run_context(const io::run_table& run, Make&& make) {
  if (run.device == io::device_choice::cuda) {
    cuda_context::options chosen;
    chosen.reproducibility = run.deterministic;
    return make(cuda_context(chosen));  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)
  }
  cpu_context::options chosen;
  chosen.threads = static_cast<int>(run.threads);
  chosen.reproducibility = run.deterministic;
  return make(cpu_context(chosen));  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)
}

}  // namespace quadrat::program
