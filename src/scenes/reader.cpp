// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>
#include <vector>

// toml++ asserts that the key in a table's header ("[=]") is valid before it checks it: the assertion ends the process,
// and without assertions clang optimizes on that assumption.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "core/suggestion.hpp"
#include "io/text.hpp"
#include "scenes/all_scenes.hpp"
#include "scenes/characters.hpp"

namespace quadrat::io {
namespace {

using names = std::vector<std::string_view>;

/// "an integer", "a string", ...: what a value of the file is, for messages.
std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

/// The errors of a file. The first in file order is reported.
class error_list {
 public:
  explicit error_list(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] std::string place(const toml::source_region& source) const {
    return message(file_, ":", source.begin.line, ":", source.begin.column);
  }

  template <typename... Parts>
  void add(const toml::source_region& source, const Parts&... parts) {
    errors_.emplace(source.begin.line, source.begin.column, message(place(source), ": ", parts...));
  }

  void throw_first() const {
    if (errors_.empty()) return;
    std::string text = std::get<2>(*errors_.begin());
    if (errors_.size() > 1) text += message(" (and ", errors_.size() - 1, " more)");
    throw scene_error(text);
  }

 private:
  std::string file_;
  std::set<std::tuple<toml::source_index, toml::source_index, std::string>> errors_;
};

/// The tables of a scene and the keys of each.
class schema {
 public:
  template <typename Scene>
  explicit schema(const Scene& scene) {
    visit_keys(scene, [&](std::string_view table, std::string_view key, const auto&) {
      if (tables_.empty() || tables_.back() != table) {
        tables_.push_back(table);
        keys_.emplace_back();
      }
      keys_.back().push_back(key);
    });
  }

  [[nodiscard]] const names& tables() const { return tables_; }
  [[nodiscard]] const names* keys(std::string_view table) const {
    const auto found = std::find(tables_.begin(), tables_.end(), table);
    return found == tables_.end() ? nullptr : &keys_[static_cast<std::size_t>(found - tables_.begin())];
  }
  /// The table that has this key, or an empty view.
  [[nodiscard]] std::string_view home_of(std::string_view key) const {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      if (std::find(keys_[i].begin(), keys_[i].end(), key) != keys_[i].end()) return tables_[i];
    }
    return {};
  }

 private:
  names tables_;
  std::vector<names> keys_;
};

/// The keys of scenes of the same model with another law, for messages.
struct other_law {
  schema keys;
  std::string_view name;
};

class unknown_key_finder {
 public:
  unknown_key_finder(const schema& valid, const std::optional<other_law>& other, error_list& errors)
      : schema_(valid), other_(other), errors_(errors) {}

  void look_through(const toml::table& root) const {
    for (const auto& [name, node] : root) {
      const names* keys = schema_.keys(name.str());
      if (keys == nullptr) {
        unknown_at_top(name, node);
      } else if (!node.is_table()) {
        errors_.add(node.source(), name.str(), " must be a table, [", name.str(), "], not ", kind_of(node));
      } else {
        for (const auto& [key, value] : *node.as_table()) check_key(name.str(), *keys, key);
      }
    }
  }

 private:
  void unknown_at_top(const toml::key& name, const toml::node& node) const {
    if (other_ && other_->keys.keys(name.str()) != nullptr) {
      errors_.add(name.source(), "[", name.str(), "] belongs to scenes with ", other_->name, " in [physics]");
    } else if (node.is_table() || (node.is_array_of_tables() && schema_.home_of(name.str()).empty())) {
      errors_.add(name.source(), "unknown table [", name.str(), "]; ",
                  detail::suggestion(name.str(), schema_.tables()));
    } else if (const auto home = schema_.home_of(name.str()); !home.empty()) {
      errors_.add(name.source(), "the key \"", name.str(), "\" is outside a table; it belongs in [", home, "]");
    } else {
      errors_.add(name.source(), "unknown key \"", name.str(), "\" outside a table; ",
                  detail::suggestion(name.str(), schema_.tables()));
    }
  }

  void check_key(std::string_view table, const names& keys, const toml::key& key) const {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) return;
    const names* const others = other_ ? other_->keys.keys(table) : nullptr;
    if (others != nullptr && std::find(others->begin(), others->end(), key.str()) != others->end()) {
      errors_.add(key.source(), "the key \"", key.str(), "\" in [", table, "] belongs to scenes with ", other_->name,
                  " in [physics]");
      return;
    }
    const auto home = schema_.home_of(key.str());
    const std::string hint = home.empty() ? detail::suggestion(key.str(), keys) : message("it belongs in [", home, "]");
    errors_.add(key.source(), "unknown key \"", key.str(), "\" in [", table, "]; ", hint);
  }

  const schema& schema_;
  const std::optional<other_law>& other_;
  error_list& errors_;
};

/// Visitor that fills a scene from a file; what is missing keeps its default.
class key_reader {
 public:
  key_reader(const toml::table& root, scene_places& places, error_list& errors)
      : root_(root), places_(places), errors_(errors) {}

  template <typename T>
  void operator()(std::string_view table, std::string_view key, T& member) {
    const toml::table* const keys = root_[table].as_table();
    const toml::node* const node = keys == nullptr ? nullptr : keys->get(key);
    if (node == nullptr) return;
    name_ = message(table, ".", key);
    places_.set(name_, errors_.place(node->source()));
    read(*node, member);
  }

 private:
  template <typename T>
  void read(const toml::node& node, std::optional<T>& value) {
    value.emplace();
    read(node, *value);
  }

  template <typename T>
  void read(const toml::node& node, std::array<T, 3>& values) {
    const toml::array* const array = node.as_array();
    if (array == nullptr)
      return wrong(node, std::is_enum_v<T> ? "an array of three strings" : "an array of three numbers");
    if (array->size() != 3) {
      return errors_.add(node.source(), name_, " must have three components (x, y, z), not ", array->size());
    }
    for (std::size_t i = 0; i < 3; ++i) read((*array)[i], values[i]);
  }

  /// One name, or an array of distinct names.
  void read(const toml::node& node, std::vector<frame_file_format>& formats) {
    const toml::array* const array = node.as_array();
    if (node.is_string()) return read(node, formats.front());
    if (array == nullptr) return wrong(node, "a string or an array of strings");
    if (array->empty()) {
      errors_.add(node.source(), name_, " is empty; ", detail::valid_names(names_of<frame_file_format>));
    }
    formats.resize(array->size());
    std::set<std::string> seen;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const toml::node& one = (*array)[i];
      read(one, formats[i]);
      const auto text = one.value<std::string>();
      if (text && !seen.insert(*text).second) errors_.add(one.source(), name_, " names \"", *text, "\" twice");
    }
  }

  /// One name or several.
  void read(const toml::node& node, std::vector<std::string>& all) {
    const toml::array* const array = node.as_array();
    if (node.is_string()) return read(node, all.emplace_back());
    if (array == nullptr) return wrong(node, "a string or an array of strings");
    if (array->empty()) return errors_.add(node.source(), name_, " is empty; at least one name is needed");
    for (const toml::node& one : *array) read(one, all.emplace_back());
  }

  template <scene_record Record>
  void read(const toml::node& node, std::vector<Record>& records) {
    const toml::array* const array = node.as_array();
    if (array == nullptr) return wrong(node, "an array of tables");
    if (array->empty()) return errors_.add(node.source(), name_, " is empty; at least one table is needed");
    const std::string list = name_;
    for (const toml::node& one : *array) {
      Record record;
      member_readers needed, others;
      visit_members(record, [&](std::string_view key, auto& member) {
        // Names are needed; numbers have defaults.
        constexpr bool name = !requires { member.has_value(); };
        (name ? needed : others).emplace_back(key, [&](const toml::node& value) { read(value, member); });
      });
      read_table(one, list, needed, others);
      if constexpr (requires { record.file; }) {  // is named from the scene's folder
        record.file = (std::filesystem::path(places_.file()).parent_path() / record.file).string();
      }
      records.push_back(record);
    }
    name_ = list;
  }

  void read(const toml::node& node, std::vector<scene_wall>& walls) {
    const toml::array* const array = node.as_array();
    if (array == nullptr) return wrong(node, "an array of walls");
    const std::string list = name_;
    for (const toml::node& one : *array) {
      scene_wall wall;
      const auto point = [&](const toml::node& value) { read(value, wall.point); };
      const auto normal = [&](const toml::node& value) { read(value, wall.normal); };
      const auto opening = [&](const toml::node& value) { read(value, wall.opening.emplace()); };
      const auto material = [&](const toml::node& value) { read(value, wall.material_name); };
      read_table(one, list, {{"point", point}, {"normal", normal}}, {{"opening", opening}, {"material", material}});
      walls.push_back(wall);
    }
    name_ = list;
  }

  void read(const toml::node& node, std::vector<ion_kind>& kinds) {
    const toml::array* const array = node.as_array();
    if (array == nullptr) return wrong(node, "an array of kinds of ions");
    if (array->empty()) return errors_.add(node.source(), name_, " is empty; at least one kind of ions is needed");
    const std::string list = name_;
    for (const toml::node& one : *array) {
      ion_kind kind;
      const auto count = [&](const toml::node& value) { read(value, kind.count); };
      const auto charge = [&](const toml::node& value) { read(value, kind.charge); };
      const auto mass = [&](const toml::node& value) { read(value, kind.mass); };
      const auto diameter = [&](const toml::node& value) { read(value, kind.diameter); };
      read_table(one, list, {{"count", count}, {"charge", charge}}, {{"mass", mass}, {"diameter", diameter}});
      kinds.push_back(kind);
    }
    name_ = list;
  }

  void read(const toml::node& node, round_opening& opening) {
    const auto center = [&](const toml::node& value) { read(value, opening.center); };
    const auto radius = [&](const toml::node& value) { read(value, opening.radius); };
    read_table(node, name_, {{"center", center}, {"radius", radius}}, {});
  }

  using member_reader = std::pair<std::string_view, std::function<void(const toml::node&)>>;
  using member_readers = std::vector<member_reader>;

  /// Reads a table within a value. All `needed` keys must be there; the `optional` ones may be; others are errors.
  void read_table(const toml::node& node, const std::string& name, member_readers needed,
                  const member_readers& optional) {
    name_ = name;
    const toml::table* const table = node.as_table();
    if (table == nullptr) return wrong(node, "a table");
    for (const member_reader& one : needed) {
      if (!table->contains(one.first)) errors_.add(node.source(), name, " lacks the key \"", one.first, "\"");
    }
    needed.insert(needed.end(), optional.begin(), optional.end());
    names keys;
    for (const member_reader& one : needed) keys.push_back(one.first);
    for (const auto& [key, value] : *table) {
      const auto found = std::ranges::find(keys, key.str());
      if (found == keys.end()) {
        errors_.add(key.source(), "unknown key \"", key.str(), "\" in ", name, "; ",
                    detail::suggestion(key.str(), keys));
        continue;
      }
      name_ = message(name, ".", key.str());
      needed[static_cast<std::size_t>(found - keys.begin())].second(value);
    }
  }

  void read(const toml::node& node, double& value) {
    if (const auto* number = node.as_floating_point()) {
      value = number->get();
    } else if (const auto* integer = node.as_integer()) {
      value = static_cast<double>(integer->get());
    } else {
      wrong(node, "a number");
    }
  }

  void read(const toml::node& node, std::int64_t& value) {
    if (const auto* integer = node.as_integer()) {
      value = integer->get();
    } else {
      wrong(node, "an integer");
    }
  }

  void read(const toml::node& node, bool& value) {
    if (const auto* boolean = node.as_boolean()) {
      value = boolean->get();
    } else {
      wrong(node, "true or false");
    }
  }

  void read(const toml::node& node, std::string& value) {
    if (const auto* text = node.as_string()) {
      value = text->get();
    } else {
      wrong(node, "a string");
    }
  }

  template <typename Enum>
    requires std::is_enum_v<Enum>
  void read(const toml::node& node, Enum& value) {
    const auto* const text = node.as_string();
    if (text == nullptr) return wrong(node, "a string");
    const auto& valid = names_of<Enum>;
    const auto found = std::find(valid.begin(), valid.end(), text->get());
    if (found == valid.end()) {
      // The names are few enough to list all, and the nearest one need not be what was meant ("cpu" for "gpu").
      return errors_.add(node.source(), name_, " cannot be \"", text->get(), "\"; ", detail::valid_names(valid));
    }
    value = static_cast<Enum>(found - valid.begin());
  }

  void wrong(const toml::node& node, std::string_view wanted) {
    errors_.add(node.source(), name_, " must be ", wanted, ", not ", kind_of(node));
  }

  const toml::table& root_;
  scene_places& places_;
  error_list& errors_;
  std::string name_;
};

toml::table parse_toml(std::string_view text, const std::string& name) {
  require_ascii_outside_strings(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& failure) {
    const auto at = failure.source().begin;
    throw scene_error(message(name, ":", at.line, ":", at.column, ": ", failure.description()));
  }
}

/// For a scene of any model.
void check_model(const toml::table& root, const scene_places& places, error_list& errors) {
  const toml::node_view model = root["scene"]["model"];
  if (!model) {
    throw scene_error(
        message(places.of("scene"), ": the scene does not say its model; add model = \"granular\" to [scene]"));
  }
  const auto* const text = model.as_string();
  if (text == nullptr || std::ranges::find(scene_models, text->get()) != scene_models.end()) return;
  errors.add(model.node()->source(), "unknown model \"", text->get(), "\"; ",
             detail::suggestion(text->get(), scene_models));
}

template <typename Scene>
std::optional<other_law> law_beside(const Scene&) {
  return {};
}
template <>
std::optional<other_law> law_beside(const granular_scene&) {
  return other_law{schema(friction_scene{}), "law = \"hertz\" or \"linear\""};
}
template <>
std::optional<other_law> law_beside(const friction_scene&) {
  return other_law{schema(granular_scene{}), "law = \"springs\""};
}

}  // namespace

std::string_view kind_of_scene(const std::filesystem::path& file) {
  const toml::table root = parse_toml(read_whole_file(file), file.string());
  const auto model = root["scene"]["model"].value<std::string>();
#define QUADRAT_IS_KIND(name) \
  if (model == #name && !law_beside(name##_scene{})) return #name;
  QUADRAT_FOR_EACH_SCENE(QUADRAT_IS_KIND)
#undef QUADRAT_IS_KIND
  const auto law = root["physics"]["law"].value<std::string>();
  if (law == name_of(granular_force_law::hertz) || law == name_of(granular_force_law::linear)) {
    static_cast<void>(read_scene<friction_scene>(file));
    return "friction";
  }
  // For an invalid scene, the first error in file order is reported.
  static_cast<void>(read_scene<granular_scene>(file));
  return "granular";
}

template <typename Scene>
scene_file<Scene> parse_scene(std::string_view text, const std::string& name) {
  const toml::table root = parse_toml(text, name);
  scene_file<Scene> result{{}, scene_places(name)};
  error_list errors(name);
  for (const auto& [table, node] : root) result.places.set(std::string(table.str()), errors.place(node.source()));
  const schema valid(result.scene);
  const std::optional<other_law> other = law_beside(result.scene);
  unknown_key_finder(valid, other, errors).look_through(root);
  visit_keys(result.scene, key_reader(root, result.places, errors));
  check_model(root, result.places, errors);
  errors.throw_first();
  return result;
}

template <typename Scene>
scene_file<Scene> read_scene(const std::filesystem::path& file) {
  return parse_scene<Scene>(read_whole_file(file), file.string());
}

#define QUADRAT_INSTANTIATE(name)                                                                    \
  template scene_file<name##_scene> parse_scene<name##_scene>(std::string_view, const std::string&); \
  template scene_file<name##_scene> read_scene<name##_scene>(const std::filesystem::path&);
QUADRAT_FOR_EACH_SCENE(QUADRAT_INSTANTIATE)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::io
