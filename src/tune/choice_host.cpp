// SPDX-License-Identifier: BSD-3-Clause
#include "tune/choice.hpp"

#include <array>
#include <cstring>

#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"
#include "tune/json_text.hpp"

namespace quadrat {

namespace detail {

std::string constant_name(std::string_view module, std::string_view method, const cost_term& term) {
  return message(module, ".", method, ".", term.once ? "set_" : "", term.name);
}

namespace {

/// The same name without allocating memory: a choice may be made in every step.
class short_name {
 public:
  void add(std::string_view part) {
    const std::size_t count = std::min(part.size(), text_.size() - used_);
    std::memcpy(text_.data() + used_, part.data(), count);
    used_ += count;
  }
  [[nodiscard]] std::string_view view() const { return {text_.data(), used_}; }

 private:
  std::array<char, 128> text_;
  std::size_t used_ = 0;
};

}  // namespace

double expected_ms(const device_profile& profile, std::string_view module, std::string_view method,
                   const method_cost& cost, double uses) {
  double once = 0, each = 0;
  for (const cost_term& term : cost.terms()) {
    short_name name;
    for (const std::string_view part : {module, std::string_view("."), method, std::string_view("."),
                                        std::string_view(term.once ? "set_" : ""), term.name}) {
      name.add(part);
    }
    const auto found = profile.constants.find(name.view());
    if (found == profile.constants.end()) return std::numeric_limits<double>::infinity();
    const double scale = term.unit == cost_unit::byte   ? profile.byte_scale
                         : term.unit == cost_unit::step ? profile.step_scale
                                                        : 1;
    (term.once ? once : each) += term.amount * found->second * scale;
  }
  return once + uses * each;
}

}  // namespace detail

namespace {

[[nodiscard]] std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

[[nodiscard]] std::string time_text(double milliseconds) {
  return std::isfinite(milliseconds) ? message(detail::json_number(two_digits(milliseconds)), " ms") : std::string("-");
}

[[nodiscard]] std::string memory_text(double bytes) {
  if (!(bytes > 0)) return "-";
  return bytes < 1e6 ? message(static_cast<float>(two_digits(bytes / 1e3)), " kB")
                     : message(static_cast<float>(two_digits(bytes / 1e6)), " MB");
}

}  // namespace

std::string explanation::text() const {
  std::string result = message(what, ": ", chosen.empty() ? std::string("not chosen yet") : chosen,
                               reason.empty() ? std::string() : " (" + reason + ")", "\n");
  std::size_t longest = 0;
  for (const candidate& one : candidates) longest = std::max(longest, one.method.size());
  for (const candidate& one : candidates) {
    result += message("  ", padded(one.method, longest + 2), padded(time_text(one.milliseconds), 12),
                      padded(memory_text(one.bytes), 10), one.why_not, "\n");
  }
  if (!load.empty()) result += "  load:";
  for (const auto& [name, value] : load) result += message(" ", name, " ", static_cast<float>(value));
  if (!load.empty()) result += "\n";
  for (const std::string& change : changes) result += "  " + change + "\n";
  return result + "  profile: " + profile + "\n";
}

std::string explanation::json() const {
  using detail::json_number;
  using detail::json_string;
  std::string result = message("{\"what\": ", json_string(what), ", \"chosen\": ", json_string(chosen),
                               ", \"reason\": ", json_string(reason), ", \"candidates\": [");
  const char* before = "";
  for (const candidate& one : candidates) {
    result +=
        message(before, "{\"method\": ", json_string(one.method), ", \"milliseconds\": ", json_number(one.milliseconds),
                ", \"bytes\": ", json_number(one.bytes), ", \"why_not\": ", json_string(one.why_not), "}");
    before = ", ";
  }
  result += "], \"load\": {";
  before = "";
  for (const auto& [name, value] : load) {
    result += message(before, json_string(name), ": ", json_number(value));
    before = ", ";
  }
  result += "}, \"changes\": [";
  before = "";
  for (const std::string& change : changes) {
    result += message(before, json_string(change));
    before = ", ";
  }
  return result + "], \"profile\": " + json_string(profile) + "}";
}

}  // namespace quadrat
