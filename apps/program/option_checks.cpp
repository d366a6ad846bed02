// SPDX-License-Identifier: BSD-3-Clause
#include "program/option_checks.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/suggestion.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

/// Words that users may try instead of a name, although their spelling suggests another name or none.
struct synonym {
  std::string_view word, name;
};
constexpr std::array<synonym, 9> synonyms{{{"gpu", "cuda"},
                                           {"nvidia", "cuda"},
                                           {"single", "float"},
                                           {"float32", "float"},
                                           {"float64", "double"},
                                           {"average", "mean"},
                                           {"minimum", "min"},
                                           {"maximum", "max"},
                                           {"deterministic", "run_to_run"}}};

std::string_view meant(std::string_view word, std::span<const std::string_view> names) {
  const auto found = std::ranges::find(synonyms, word, &synonym::word);
  if (found != synonyms.end() && std::ranges::find(names, found->name) != names.end()) return found->name;
  return detail::nearest(word, names);
}

std::string refusal_of_name(std::string_view word, std::span<const std::string_view> names) {
  if (std::ranges::find(names, word) != names.end()) return {};
  const std::string_view near = meant(word, names);
  return message(io::shown(word), " is not one of ", detail::joined(names),
                 near.empty() ? std::string() : message("; did you mean \"", near, "\"?"));
}

}  // namespace

CLI::Validator one_of(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "{" : ",") + std::string(name);
  return {[names](std::string& word) { return refusal_of_name(word, names); }, list + "}"};
}

CLI::Validator any_number() {
  return {[](std::string& word) {
            return io::number_from<double>(word) ? std::string() : io::shown(word) + " is no number";
          },
          ""};
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](std::string& word) {
            const auto number = io::number_from<std::int64_t>(word);
            if (!number) return io::shown(word) + " is no whole number of 64 bits";
            return *number >= least && *number <= most ? std::string()
                                                       : message(word, " is not from ", least, " to ", most);
          },
          ""};
}

CLI::Validator existing_file() {
  return {[](std::string& name) {
            std::error_code ignored;
            const auto kind = std::filesystem::status(name, ignored).type();
            if (kind == std::filesystem::file_type::directory) return name + " is a folder, not a file";
            return kind == std::filesystem::file_type::not_found ? name + " does not exist" : std::string();
          },
          ""};
}

}  // namespace quadrat::program
