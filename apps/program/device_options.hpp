// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/built_backend.hpp"
#include "quadrat/core/context.hpp"

namespace CLI {
class App;
}

namespace quadrat::program {

/// The device that a command other than a simulation uses.
struct device_options {
  std::string device = "auto";
  std::int64_t threads = 0;  ///< 0: all
  std::int64_t devices = 1;  ///< ranks in this process, of commands that have them
  int number = 0;            ///< of the GPU
  determinism reproducible = determinism::none;
};

/// Adds --device and --threads.
void add_device_options(CLI::App& command, device_options& options);
/// Adds --devices, of a command that has ranks.
void add_devices_option(CLI::App& command, std::int64_t& devices);

/// The device on which something was computed.
struct used_device {
  std::string backend, name;
  int threads = 0;  ///< threads of the CPU; 0 on a GPU
};

[[nodiscard]] used_device used(const cpu_context& context);
[[nodiscard]] used_device used(const cuda_context& context);
[[nodiscard]] nlohmann::ordered_json as_json(const used_device& device);
/// "CPU (2 threads)"
[[nodiscard]] std::string as_text(const used_device& device);

/// Calls f(context) with a context of the device that the options select.
template <typename F>
auto on_device(const device_options& options, F&& f) {
  if (options.device == "cuda" || (options.device == "auto" && !cuda_devices().empty())) {
    cuda_context::options chosen;
    chosen.device = options.number;
    chosen.reproducibility = options.reproducible;
    return detail::with_new_context<cuda_context>(chosen, f);
  }
  cpu_context::options chosen;
  chosen.reproducibility = options.reproducible;
  chosen.threads = static_cast<int>(options.threads);
  return f(cpu_context(chosen));
}

}  // namespace quadrat::program
