// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/temporary_folder.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "support/errors.hpp"
#include "tune/find_profile.hpp"

// Profiles of devices: what is written is read, and what cannot be used is not.

namespace quadrat::test {

namespace {

[[nodiscard]] device_facts some_cpu() { return {false, "A \"CPU\" \\ of 1", "", 12.5, 3, 2}; }

/// As `quadrat tune` would write it.
[[nodiscard]] device_profile profile_for(const device_facts& device) {
  device_profile profile = shipped_profile(device.cuda);
  profile.device = device;
  profile.version = QUADRAT_VERSION;
  return profile;
}

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

/// An environment variable, for the life of an object.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~variable() { unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

/// The profile that is found for a device, and what is said on stderr.
struct found {
  device_profile profile;
  std::string warning;
};
[[nodiscard]] found find(const device_facts& device) {
  testing::internal::CaptureStderr();
  device_profile profile = detail::find_profile(device);
  return {std::move(profile), testing::internal::GetCapturedStderr()};
}

TEST(device_profile, is_read_as_it_was_written) {
  device_profile profile = profile_for(some_cpu());
  profile.constants = {{"mesh.tiles.work", 1.0 / 3}, {"a", 0}, {"b", 1e-300}};
  const device_profile again = profile_from_json(to_json(profile));
  EXPECT_EQ(again.constants, profile.constants);
  EXPECT_EQ(again.device.name, profile.device.name);
  EXPECT_EQ(again.device.bandwidth, 12.5);
  EXPECT_EQ(again.device.cores, 2);
  EXPECT_EQ(again.version, QUADRAT_VERSION);
}

TEST(device_profile, every_damaged_text_is_refused) {
  device_profile profile = profile_for(some_cpu());
  profile.constants = {{"a", 1}};
  const std::string text = to_json(profile);
  const std::size_t end = text.find_last_of('}');
  for (std::size_t length = 0; length <= end; ++length) {
    EXPECT_THROW(static_cast<void>(profile_from_json(text.substr(0, length))), data_error) << length;
  }
  EXPECT_THROW(static_cast<void>(profile_from_json(text + "x")), data_error);
  EXPECT_EQ(error_of<data_error>([&] {
              std::string wrong = text;
              wrong.replace(wrong.find("\"a\": 1"), 6, "\"a\":-1");
              static_cast<void>(profile_from_json(wrong));
            }),
            "the constant a is -1; it must not be negative");
}

TEST(device_profile, a_named_file_is_used_and_an_impossible_one_passed_over_with_one_warning) {
  const io::temporary_folder folder;
  const device_facts device = some_cpu();
  const auto file = folder / "profile.json";
  const variable named("QUADRAT_PROFILE", file.string());
  device_profile own = profile_for(device);
  for (auto& [name, value] : own.constants) value = 7;
  write(file, to_json(own));
  EXPECT_EQ(find(device).profile.constants, own.constants);
  EXPECT_EQ(find(device).warning, "");

  const auto refused = [&](const std::string& why) {
    const found here = find(device);
    EXPECT_EQ(here.profile.constants, shipped_profile(false).constants) << why;
    EXPECT_NE(here.warning.find(why), std::string::npos) << here.warning;
    EXPECT_EQ(std::count(here.warning.begin(), here.warning.end(), '\n'), 1) << here.warning;
  };
  device_profile other = own;
  other.version = "0.0.9";
  write(file, to_json(other));
  refused("it is of version 0.0.9");
  other = own;
  other.device.name = "another";
  write(file, to_json(other));
  refused("it is of another");
  other = own;
  other.constants.erase(other.constants.begin());
  write(file, to_json(other));
  refused("it lacks the constant");
  write(file, "{\"quadrat_profile\": 1");
  refused("was expected");
  write(file, " ");
  refused("was expected before the end");
  write(file, "\x1b[2J\n\xff\n{}");
  refused("before \" [2J");
  write(file, std::string(2 << 20, ' '));
  refused("profiles are small");
  std::filesystem::remove(file);
  refused("it cannot be read");
  std::filesystem::create_directory(file);
  refused("it is no file");
  const variable endless("QUADRAT_PROFILE", "/dev/zero");
  refused("it is no file");
}

TEST(device_profile, stands_in_the_cache_folder_by_device_and_version) {
  const io::temporary_folder folder;
  const device_facts device = some_cpu();
  const variable cache("XDG_CACHE_HOME", folder.path().string());
  const auto file = profile_path(device);
  EXPECT_EQ(file.parent_path(), folder.path() / "quadrat");
  EXPECT_EQ(file.filename().string().find_first_of("\"\\ /"), std::string::npos) << file;
  EXPECT_EQ(find(device).warning, "");  // that there is none is no trouble
  std::filesystem::create_directories(file.parent_path());
  device_profile own = profile_for(device);
  for (auto& [name, value] : own.constants) value = 3;
  write(file, to_json(own));
  EXPECT_EQ(find(device).profile.constants, own.constants);
  device_facts newer = device;
  newer.driver = "14.0";
  EXPECT_NE(profile_path(newer), file);
  const variable relative("XDG_CACHE_HOME", "somewhere");
  EXPECT_NE(profile_path(device).string().find(".cache"), std::string::npos);
}

TEST(device_profile, of_another_device_is_scaled_by_what_that_reports) {
  device_facts half = shipped_profile(true).device;
  half.name = "half of it";
  half.bandwidth /= 2;
  half.cores /= 4;
  const device_profile scaled = scaled_profile(shipped_profile(true), half);
  EXPECT_NEAR(scaled.byte_scale, 2, 1e-6);
  EXPECT_NEAR(scaled.step_scale, 4, 1e-6);
  EXPECT_NE(scaled.origin.find("scaled to half of it"), std::string::npos) << scaled.origin;
  const device_profile same = scaled_profile(shipped_profile(true), shipped_profile(true).device);
  EXPECT_EQ(same.byte_scale, 1);
  EXPECT_EQ(same.origin, shipped_profile(true).origin);
  const device_profile unknown = scaled_profile(shipped_profile(true), {true, "unknown", "", 0, 0, 0});
  EXPECT_EQ(unknown.step_scale, 1);
  EXPECT_NE(unknown.origin.find("unchanged for unknown"), std::string::npos) << unknown.origin;
}

TEST(device_profile, measured_ones_do_not_count_where_results_must_be_the_same) {
  const cpu_context same({.reproducibility = determinism::run_to_run});
  EXPECT_EQ(profile_of(same).constants, shipped_profile(false).constants);
  EXPECT_EQ(&profile_of(same), &profile_of(same));
}

}  // namespace

}  // namespace quadrat::test
