// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "program/commands.hpp"
#include "program/device.hpp"
#include "program/run/summary.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/contacts/methods.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/keyed/methods.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/models/granular.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "quadrat/search/orders.hpp"
#include "quadrat/spectral/fft_libraries.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

json device_json(const device_description& device) {
  return {{"index", device.index},
          {"name", device.name},
          {"memory_bytes", device.memory_bytes},
          {"multiprocessors", device.multiprocessors},
          {"compute_capability", fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10)}};
}

template <typename Methods>
json methods_json(const Methods& methods) {
  json result = json::array();
  for (const auto& method : methods) {
    result.push_back(
        {{"name", method.name}, {"summary", method.summary}, {"cpu", method.on_cpu}, {"cuda", method.on_cuda}});
  }
  return result;
}

json spread_methods_json() {
  json result = methods_json(spread_methods());
  std::size_t k = 0;
  for (const spread_method& method : spread_methods()) {
    json& entry = result[k++];
    entry["deterministic"] = io::name_of(method.reproducible);
    entry["wrong_results"] = method.wrong_results;
  }
  return result;
}

json key_methods_json() {
  json result = methods_json(key_methods());
  std::size_t k = 0;
  for (const key_method& method : key_methods()) {
    json& entry = result[k++];
    entry["deterministic"] = io::name_of(method.reproducible);
    entry["any_order"] = method.any_order;
    entry["compensates"] = method.compensates;
  }
  return result;
}

/// The orders of the Circles model, each with the cell lists that it can walk.
json circles_json() {
  json orders = json::array();
  for (const std::string_view order : circles_orders()) {
    json lists = json::array();
    for (const std::string_view list : circles_cell_lists()) {
      if (circles_walkable(order, list)) lists.push_back(list);
    }
    orders.push_back({{"name", order}, {"cell_lists", lists}});
  }
  return orders;
}

json info_json() {
  json result{{"program", program_json()}};
  result["backends"] = {{"cpu", true}, {"cuda", QUADRAT_HAS_CUDA != 0}};
  result["cpu"] = {{"name", cpu_name()}, {"threads", cpu_context().threads()}};
  result["cuda_devices"] = json::array();
  for (const device_description& device : cuda_devices()) result["cuda_devices"].push_back(device_json(device));
  const auto methods = [](const json& list) { return json{{"methods", list}}; };
  result["mpi"] = QUADRAT_HAS_MPI != 0;
  result["nccl"] = QUADRAT_HAS_NCCL != 0;  // found without loading NCCL: its initialization needs memory
  result["cells"] = methods(methods_json(cell_lists()));
  result["models"] = {{"granular", methods(methods_json(granular_methods()))},
                      {"circles", {{"orders", circles_json()}}}};
  result["search"] = {{"orders", methods_json(traversal_orders())},
                      {"neighbors", methods(methods_json(neighbor_methods()))}};
  result["contacts"] = methods(methods_json(contact_methods()));
  result["mesh"] = methods(spread_methods_json());
  result["spectral"] = {{"fft", methods_json(fft_libraries())}};
  result["ewald"] = methods(methods_json(electrostatics_methods()));
  result["mobility"] = methods(methods_json(mobility_methods()));
  result["keyed"] = methods(key_methods_json());
  return result;
}

std::string cuda_text(const json& info) {
  if (!info["backends"]["cuda"].get<bool>()) return "  cuda  not in this build\n";
  if (info["cuda_devices"].empty()) return "  cuda  in this build, but this machine has no device\n";
  std::string text;
  for (const json& device : info["cuda_devices"]) {
    text += fmt::format("  cuda  {}: {}, {:.0f} GiB, {} multiprocessors, compute capability {}\n",
                        device["index"].get<int>(), device["name"].get<std::string>(),
                        device["memory_bytes"].get<double>() / (1 << 30), device["multiprocessors"].get<int>(),
                        device["compute_capability"].get<std::string>());
  }
  return text;
}

std::string methods_text(const char* title, const json& methods) {
  std::string text = fmt::format("{}\n", title);
  for (const json& method : methods) {
    const std::string where = method["cpu"] ? (method["cuda"] ? "cpu, cuda" : "cpu") : "cuda";
    text += fmt::format("  {:<24} {:<10} {}\n", method["name"].get<std::string>(), where,
                        method["summary"].get<std::string>());
  }
  return text;
}

/// The methods that run on some device of this machine.
json found(const json& methods) {
  json result = json::array();
  for (const json& method : methods) {
    if (method["cpu"] || method["cuda"]) result.push_back(method);
  }
  return result;
}

std::string circles_text(const json& orders) {
  std::string text = "orders of the Circles model, and the cell lists that they walk\n";
  for (const json& order : orders) {
    text += fmt::format("  {:<24}", order["name"].get<std::string>());
    for (const json& list : order["cell_lists"]) text += " " + list.get<std::string>();
    text += '\n';
  }
  return text;
}

std::string info_text(const json& info) {
  const json& program = info["program"];
  std::string text = fmt::format("quadrat {} (commit {}, {}, {})\n", program["version"].get<std::string>(),
                                 program["commit"].get<std::string>(), program["build_type"].get<std::string>(),
                                 program["compiler"].get<std::string>());
  text += fmt::format("devices\n  cpu   {}, {} threads\n", info["cpu"]["name"].get<std::string>(),
                      info["cpu"]["threads"].get<int>());
  text += cuda_text(info);
  const auto built = [](const json& there) { return there.get<bool>() ? "in this build" : "not in this build"; };
  text += fmt::format("ranks\n  mpi   {}\n  nccl  {}\n", built(info["mpi"]), built(info["nccl"]));
  return text + methods_text("cell lists", info["cells"]["methods"]) +
         methods_text("traversal orders", info["search"]["orders"]) +
         methods_text("methods of the granular model", info["models"]["granular"]["methods"]) +
         circles_text(info["models"]["circles"]["orders"]) +
         methods_text("methods of neighbor lists", info["search"]["neighbors"]["methods"]) +
         methods_text("methods of contacts", info["contacts"]["methods"]) +
         methods_text("methods of spreading", info["mesh"]["methods"]) +
         methods_text("FFT libraries found", found(info["spectral"]["fft"])) +
         methods_text("methods of electrostatics", info["ewald"]["methods"]) +
         methods_text("methods of the mobility of spheres", info["mobility"]["methods"]) +
         methods_text("methods of reduction by key", info["keyed"]["methods"]);
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("info", "Show version, backends, devices and methods");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "print as JSON");
  command->footer("Examples:\n  quadrat info\n  quadrat info --json");
  command->callback([as_json] {
    const json info = info_json();
    std::fputs((*as_json ? info.dump(2) + "\n" : info_text(info)).c_str(), stdout);
  });
}

}  // namespace quadrat::program
