// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <type_traits>

#include "core/number_text.hpp"
#include "io/text.hpp"
#include "scenes/all_scenes.hpp"

namespace quadrat::io {
namespace {

/// Visitor that prints each key on a line; the numbers keep all their digits.
class key_printer {
 public:
  template <typename T>
  void operator()(std::string_view table, std::string_view key, const std::optional<T>& value) {
    if (value) (*this)(table, key, *value);
  }
  template <typename T>
  void operator()(std::string_view table, std::string_view key, const T& value) {
    text_ += message(table, '.', key, " = ");
    print(value);
    text_ += '\n';
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void print_list(const auto& values) {
    const char* before = "[";
    for (const auto& one : values) {
      text_ += before;
      print(one);
      before = ", ";
    }
    text_ += ']';
  }
  template <typename T>
  void print(const std::array<T, 3>& values) {
    print_list(values);
  }
  template <typename T>
  void print(const std::vector<T>& values) {
    print_list(values);
  }
  template <scene_record Record>
  void print(const Record& record) {
    const char* before = "{";
    visit_members(record, [&](std::string_view key, const auto& member) {
      if constexpr (requires { member.has_value(); }) {
        if (!member) return;
        text_ += message(before, key, " = ");
        print(*member);
      } else {
        text_ += message(before, key, " = ");
        print(member);
      }
      before = ", ";
    });
    text_ += '}';
  }
  void print(const std::vector<scene_wall>& walls) {
    text_ += '[';
    for (std::size_t k = 0; k < walls.size(); ++k) {
      text_ += k > 0 ? ", {point = " : "{point = ";
      print(walls[k].point);
      text_ += ", normal = ";
      print(walls[k].normal);
      if (walls[k].opening) {
        text_ += ", opening = {center = ";
        print(walls[k].opening->center);
        text_ += ", radius = ";
        print(walls[k].opening->radius);
        text_ += '}';
      }
      if (!walls[k].material_name.empty()) text_ += message(", material = \"", walls[k].material_name, '"');
      text_ += '}';
    }
    text_ += ']';
  }
  void print(const std::vector<ion_kind>& kinds) {
    text_ += '[';
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      text_ += message(k > 0 ? ", {count = " : "{count = ", kinds[k].count, ", charge = ");
      print(kinds[k].charge);
      text_ += ", mass = ";
      print(kinds[k].mass);
      text_ += ", diameter = ";
      print(kinds[k].diameter);
      text_ += '}';
    }
    text_ += ']';
  }
  void print(bool value) { text_ += value ? "true" : "false"; }
  void print(const std::string& value) { text_ += message('"', value, '"'); }
  template <typename T>
  void print(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      text_ += message('"', name_of(value), '"');
    } else if constexpr (std::is_floating_point_v<T>) {
      text_ += full_number_text(value);
    } else {
      text_ += message(value);
    }
  }

  std::string text_;
};

using lines = std::map<std::string, std::string, std::less<>>;

lines lines_of(std::string_view text) {
  lines result;
  for (line_reader in(text); in.next();) {
    const std::string_view line = in.line();
    const auto equals = line.find(" = ");
    if (equals != std::string_view::npos) result[std::string(line.substr(0, equals))] = line.substr(equals + 3);
  }
  return result;
}

const std::string& value_in(const lines& all, const std::string& key) {
  static const std::string none;
  const auto found = all.find(key);
  return found == all.end() ? none : found->second;
}

/// A stored value as messages show it: its numbers in the shortest form. Whole numbers keep all digits.
std::string shortest(std::string_view value) {
  std::string result;
  while (!value.empty()) {
    const std::size_t digits = std::min(value.find_first_not_of("-+.e0123456789"), value.size());
    double number = 0;
    const auto end = std::from_chars(value.data(), value.data() + digits, number).ptr;
    const auto read = static_cast<std::size_t>(end - value.data());
    const bool starts = result.empty() || result.back() == ' ' || result.back() == '[';
    if (starts && read > 0 && value.substr(0, read).find_first_of(".e") != std::string_view::npos) {
      result += number_text(number);
    } else {
      result += value.substr(0, std::max<std::size_t>(read, 1));
    }
    value.remove_prefix(std::max<std::size_t>(read, 1));
  }
  return result;
}

bool matters(std::string_view key, std::string_view level) {
  const std::string_view table = key.substr(0, key.find('.'));
  if (table == "output" || table == "camera" || key == "scene.name") return false;
  for (const std::string_view one : {"run.steps", "run.threads", "run.autotune", "run.sort_every", "grid.capacity"}) {
    if (key == one) return false;
  }
  if (key == "run.device") return level != "\"none\"";
  if (key == "run.method" || key == "run.sums" || table == "search") return level == "\"run_to_run\"";
  return true;
}

}  // namespace

template <typename Scene>
std::string to_text(const Scene& scene) {
  key_printer printer;
  visit_keys(scene, printer);
  return printer.text();
}

#define QUADRAT_INSTANTIATE(name) template std::string to_text(const name##_scene&);
QUADRAT_FOR_EACH_SCENE(QUADRAT_INSTANTIATE)
#undef QUADRAT_INSTANTIATE

std::optional<scene_difference> first_difference(std::string_view stored, std::string_view asked) {
  const lines before = lines_of(stored);
  const lines now = lines_of(asked);
  const std::string level = value_in(now, "run.deterministic");
  for (const std::string key : {"scene.model", "physics.law"}) {
    const std::string& old_value = value_in(before, key);
    const std::string& value = value_in(now, key);
    if (old_value != value) return scene_difference{key, shortest(old_value), shortest(value)};
  }
  std::optional<scene_difference> first;
  const auto compare = [&](std::string_view table, std::string_view key, const auto&) {
    const std::string name = message(table, ".", key);
    const std::string& old_value = value_in(before, name);
    const std::string& new_value = value_in(now, name);
    if (!first && matters(name, level) && old_value != new_value)
      first = {name, shortest(old_value), shortest(new_value)};
  };
  const auto compare_all = [&](const auto& keys) { visit_keys(keys, compare); };
  std::string kind = value_in(now, "scene.model");
  const std::string& law = value_in(now, "physics.law");  // of the granular model only
  if (!law.empty()) kind = law == "\"springs\"" ? "\"granular\"" : "\"friction\"";
#define QUADRAT_COMPARE(name) \
  if (kind == "\"" #name "\"") compare_all(name##_scene{});
  QUADRAT_FOR_EACH_SCENE(QUADRAT_COMPARE)
#undef QUADRAT_COMPARE
  return first;
}

}  // namespace quadrat::io
