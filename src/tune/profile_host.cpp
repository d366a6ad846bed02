// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <vector>

#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "tune/json_text.hpp"
#include "tune/shipped_profiles.hpp"

namespace quadrat {

namespace {

/// Version of the format and of the meaning of the terms. Profiles of another version are not used.
constexpr int profile_format = 1;

void read_device(detail::json_reader& in, device_facts& device) {
  in.object([&](const std::string& key) {
    if (key == "kind") {
      const std::string kind = in.string();
      require(kind == "cuda" || kind == "cpu", "the kind of device is \"", kind, "\"; it must be cuda or cpu");
      device.cuda = kind == "cuda";
    } else if (key == "name") {
      device.name = in.string();
    } else if (key == "driver") {
      device.driver = in.string();
    } else if (key == "bandwidth_gb_s") {
      device.bandwidth = in.number();
    } else if (key == "clock_ghz") {
      device.clock = in.number();
    } else if (key == "cores") {
      device.cores = static_cast<int>(std::clamp(in.number(), 0.0, 1e9));
    } else {
      throw data_error(message("a device has no \"", key, "\""));
    }
  });
}

void read_constants(detail::json_reader& in, device_profile& profile) {
  in.object([&](const std::string& key) {
    const double value = in.number();
    if (value < 0) throw data_error(message("the constant ", key, " is ", value, "; it must not be negative"));
    profile.constants[key] = value;
  });
}

}  // namespace

device_profile profile_from_json(std::string_view text) {
  device_profile profile;
  double format = 0;
  detail::json_reader in(text);
  in.object([&](const std::string& key) {
    if (key == "quadrat_profile") {
      format = in.number();
    } else if (key == "version") {
      profile.version = in.string();
    } else if (key == "device") {
      read_device(in, profile.device);
    } else if (key == "constants") {
      read_constants(in, profile);
    } else {
      throw data_error(message("a profile has no \"", key, "\""));
    }
  });
  in.end();
  if (format != profile_format) {
    throw data_error(message("its format is ", format, "; this version reads ", profile_format));
  }
  if (profile.device.name.empty() || profile.constants.empty()) throw data_error("it names no device, or no constants");
  return profile;
}

std::string to_json(const device_profile& profile) {
  using detail::json_number;
  using detail::json_string;
  const device_facts& device = profile.device;
  std::string text = message(
      "{\n  \"quadrat_profile\": ", profile_format, ",\n  \"version\": ", json_string(profile.version),
      ",\n  \"device\": {\n    \"kind\": ", device.cuda ? "\"cuda\"" : "\"cpu\"",
      ",\n    \"name\": ", json_string(device.name), ",\n    \"driver\": ", json_string(device.driver),
      ",\n    \"bandwidth_gb_s\": ", json_number(device.bandwidth), ",\n    \"clock_ghz\": ", json_number(device.clock),
      ",\n    \"cores\": ", device.cores, "\n  },\n  \"constants\": {");
  const char* before = "\n    ";
  for (const auto& [name, value] : profile.constants) {
    text += message(before, json_string(name), ": ", json_number(value));
    before = ",\n    ";
  }
  return text + "\n  }\n}\n";
}

namespace {

[[nodiscard]] device_profile read_shipped(const char* text) {
  device_profile profile = profile_from_json(text);
  profile.origin = message("shipped, of ", profile.device.name);
  return profile;
}

/// The ratio of two speeds; 1 if one is unknown.
[[nodiscard]] double ratio_of(double a, double b) { return a > 0 && b > 0 ? std::max(a / b, b / a) : 1; }

}  // namespace

const device_profile& shipped_profile(bool cuda) {
  static const device_profile cpu = read_shipped(detail::shipped_cpu_profile);
  return cuda ? shipped_profiles().front() : cpu;
}

std::span<const device_profile> shipped_profiles() {
  static const std::vector<device_profile> all = [] {
    std::vector<device_profile> result;
    for (const char* const text : detail::shipped_cuda_profiles) result.push_back(read_shipped(text));
    return result;
  }();
  return all;
}

const device_profile& shipped_profile(const device_facts& device) {
  if (!device.cuda) return shipped_profile(false);
  const auto unlike = [&](const device_profile& one) {
    return one.device.name == device.name ? 0 : ratio_of(one.device.bandwidth, device.bandwidth);
  };
  return *std::ranges::min_element(shipped_profiles(), {}, unlike);
}

device_profile scaled_profile(const device_profile& profile, const device_facts& device) {
  device_profile scaled = profile;
  const device_facts& of = profile.device;
  scaled.device = device;
  // The amounts of a CPU's costs are per thread, so they already contain the number of threads.
  const double cores = device.cuda && device.cores > 0 && of.cores > 0 ? 1.0 * of.cores / device.cores : 1;
  const double clock = device.clock > 0 && of.clock > 0 ? of.clock / device.clock : 1;
  scaled.step_scale = profile.step_scale * cores * clock;
  scaled.byte_scale =
      profile.byte_scale * (device.bandwidth > 0 && of.bandwidth > 0 ? of.bandwidth / device.bandwidth : 1);
  const bool changed = scaled.step_scale != profile.step_scale || scaled.byte_scale != profile.byte_scale;
  scaled.origin = profile.origin;
  if (device.name != of.name) {
    scaled.origin += changed
                         ? message("; scaled to ", device.name, ": bytes take ", static_cast<float>(scaled.byte_scale),
                                   ", steps ", static_cast<float>(scaled.step_scale), " times as long")
                         : message("; used unchanged for ", device.name);
  }
  return scaled;
}

}  // namespace quadrat
