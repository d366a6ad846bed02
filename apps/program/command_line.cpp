// SPDX-License-Identifier: BSD-3-Clause
#include "program/command_line.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/suggestion.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

bool is_option(std::string_view word) { return word.size() > 1 && word != "--" && word[0] == '-'; }

/// "--cutoff" of "--cutoff=5".
std::string_view name_of_option(std::string_view word) { return word.substr(0, word.find('=')); }

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

/// Finds the mistake in a command line that the parser rejected; the most informative explanation first.
class command_line_check {
 public:
  command_line_check(const CLI::App& app, std::span<const std::string_view> words) : app_(app), words_(words) {
    const auto used = app.get_subcommands();
    command_ = used.empty() ? nullptr : used.front();
  }

  [[nodiscard]] std::string complaint(const CLI::ParseError& problem) const {
    if (const finding found = misplaced()) return *found;
    if (const finding found = unknown_option()) return *found;
    if (const finding found = value_of_flag()) return *found;
    if (const finding found = left_over()) return *found;
    return missing(problem).value_or(problem.what());
  }

 private:
  using finding = std::optional<std::string>;

  /// A word before the command, or in its place.
  [[nodiscard]] finding misplaced() const {
    for (const std::string& word : app_.remaining()) {
      if (!is_option(word)) return unknown_command(app_, word);
      const std::string name(name_of_option(word));
      if (!owner_of(name)) return message("unknown option ", name, "; the first word names a command");
      return message(name, " comes before the command; options follow it, as in quadrat ",
                     (command_ != nullptr ? command_ : owner_of(name))->get_name(), " ", name);
    }
    if (command_ != nullptr) return std::nullopt;
    return "there is no command; " + detail::valid_names(views_of(command_names(app_)));
  }

  [[nodiscard]] finding unknown_option() const {
    for (const std::string& word : command_->remaining()) {
      if (!is_option(word)) continue;
      const std::string name(name_of_option(word));
      const std::string unknown = message(command_->get_name(), " has no option ", name);
      if (const CLI::App* owner = owner_of(name)) return message(unknown, "; it is one of ", owner->get_name());
      const std::vector<std::string> names = option_names(*command_);
      const std::string_view near = detail::nearest(name, views_of(names));
      return near.empty() ? unknown : message(unknown, "; did you mean ", near, "?");
    }
    return std::nullopt;
  }

  /// A value for a flag: "--json out.json", "--deterministic canonical".
  [[nodiscard]] finding value_of_flag() const {
    const std::vector<std::string> left = command_->remaining();
    for (std::size_t k = 0; k + 1 < words_.size(); ++k) {
      const CLI::Option* option =
          is_option(words_[k]) ? command_->get_option_no_throw(std::string(words_[k])) : nullptr;
      if (option == nullptr || option->get_items_expected_max() != 0) continue;
      const std::string_view value = words_[k + 1];
      const auto& levels = io::names_of<determinism>;
      if (words_[k] == "--deterministic" && std::ranges::find(levels, value) != levels.end()) {
        return message("--deterministic takes its level behind a =, as in --deterministic=", value);
      }
      if (is_option(value) || std::ranges::find(left, value) == left.end()) continue;
      return message(words_[k], " takes no value, but ", io::shown(value), " follows it");
    }
    return std::nullopt;
  }

  [[nodiscard]] finding left_over() const {
    const std::vector<std::string> left = command_->remaining();
    const auto word = std::ranges::find_if(left, [](const std::string& text) { return text != "--"; });
    if (word == left.end()) return std::nullopt;
    std::string taken;
    for (const CLI::Option* option : command_->get_options()) {
      if (option->get_positional()) taken += " " + option->get_name(true);
    }
    return message(io::shown(*word), " is one argument too many; ", command_->get_name(), " takes",
                   taken.empty() ? " none" : taken);
  }

  [[nodiscard]] finding missing(const CLI::ParseError& problem) const {
    if (problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return wrong_number_of_values();
    if (problem.get_exit_code() != static_cast<int>(CLI::ExitCodes::RequiredError)) return std::nullopt;
    for (const CLI::Option* option : command_->get_options()) {
      if (!option->get_required() || option->count() > 0) continue;
      return message(option->get_name(option->get_positional()), " is missing: ", option->get_description());
    }
    return std::nullopt;
  }

  [[nodiscard]] finding wrong_number_of_values() const {
    for (const CLI::Option* option : command_->get_options()) {
      const int most = option->get_items_expected_max();
      if (most == 0 || option->count() <= static_cast<std::size_t>(most)) continue;
      return message(option->get_name(), " is given ", option->count(), " times; give it once");
    }
    if (!words_.empty() && is_option(words_.back())) return message(words_.back(), " needs a value");
    return std::nullopt;
  }

  /// The first command that has this option.
  [[nodiscard]] const CLI::App* owner_of(const std::string& option) const {
    for (const CLI::App* command : commands_of(app_)) {
      if (command->get_option_no_throw(option) != nullptr) return command;
    }
    return nullptr;
  }

  const CLI::App& app_;
  std::span<const std::string_view> words_;
  const CLI::App* command_ = nullptr;  ///< the command in use
};

}  // namespace

std::string complaint(const CLI::App& app, const CLI::ParseError& problem, std::span<const std::string_view> words) {
  return command_line_check(app, words).complaint(problem);
}

std::string unknown_command(const CLI::App& app, std::string_view word) {
  if (word.ends_with(".toml")) return message(io::shown(word), " is no command; quadrat run ", word, " runs a scene");
  return message(io::shown(word), " is no command; ", detail::suggestion(word, views_of(command_names(app))));
}

}  // namespace quadrat::program
