// SPDX-License-Identifier: BSD-3-Clause
#include "program/device_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "program/device.hpp"
#include "program/option_checks.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {

void add_device_options(CLI::App& command, device_options& options) {
  command.add_option("--device", options.device, "auto, cpu or cuda")
      ->check(one_of(io::names_of<io::device_choice>))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "CPU threads (0: all)")
      ->check(whole_number(0, cpu_context::most_threads));
}

void add_devices_option(CLI::App& command, std::int64_t& devices) {
  command
      .add_option("--devices", devices,
                  "GPUs of this machine that share the particles; on the CPU: number of ranks, in threads")
      ->check(whole_number())
      ->type_name("N");
}

used_device used(const cpu_context& context) { return {"cpu", cpu_name(), context.threads()}; }

used_device used(const cuda_context& context) {
  return {"cuda", cuda_devices().at(static_cast<std::size_t>(context.device())).name, 0};
}

nlohmann::ordered_json as_json(const used_device& device) {
  return {{"backend", device.backend}, {"name", device.name}, {"threads", device.threads}};
}

std::string as_text(const used_device& device) {
  if (device.threads == 0) return device.name;
  return fmt::format("{} ({} thread{})", device.name, device.threads, device.threads == 1 ? "" : "s");
}

}  // namespace quadrat::program
