// SPDX-License-Identifier: BSD-3-Clause
#include "io/picture/lettering.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "io/picture/alphabet.hpp"

namespace quadrat::io {
namespace {

using pen_point = vec<float, 2>;

constexpr float gap = 2.1f;  ///< between letters, in units of the alphabet
constexpr float capital_units = 7.0f;

const letter& letter_of(char32_t code) {
  const auto* const found = std::find_if(std::begin(alphabet), std::end(alphabet),
                                         [&](const letter& candidate) { return candidate.code == code; });
  return found == std::end(alphabet) ? unknown_letter : *found;
}

/// Takes the next character from UTF-8 text; malformed bytes come out one by one.
char32_t next_code(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  char32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3fu);
  text.remove_prefix(std::min(length, text.size()));
  return code;
}

std::vector<pen_point> points_in(std::string_view stroke) {
  std::vector<pen_point> points;
  const char* at = stroke.data();
  const char* const end = at + stroke.size();
  while (at < end) {
    char* after = nullptr;
    const float x = std::strtof(at, &after);
    const float y = std::strtof(after + 1, &after);  // + 1: the comma
    points.push_back({x, y});
    at = after + 1;  // after the space, or past the end
  }
  return points;
}

/// Approximates the quadratic B-spline by a polyline, in pieces between the midpoints of the control polygon.
std::vector<pen_point> curve(const std::vector<pen_point>& control, bool closed) {
  const std::size_t n = control.size();
  const auto middle = [&](std::size_t i) { return (control[i % n] + control[(i + 1) % n]) * 0.5f; };
  std::vector<pen_point> chain{closed ? middle(n - 1) : control[0]};
  for (std::size_t i = closed ? 0 : 1; i < (closed ? n : n - 1); ++i) {
    const pen_point from = chain.back();
    const pen_point to = !closed && i == n - 2 ? control[n - 1] : middle(i);
    constexpr int pieces = 12;
    for (int k = 1; k <= pieces; ++k) {
      const float t = static_cast<float>(k) / pieces;
      chain.push_back(from * ((1 - t) * (1 - t)) + control[i] * (2 * t * (1 - t)) + to * (t * t));
    }
  }
  return chain;
}

std::vector<pen_point> chain_of(std::string_view stroke) {
  const bool closed = stroke.front() == 'o';
  const bool curved = closed || stroke.front() == '~';
  const std::vector<pen_point> points = points_in(stroke.substr(curved ? 1 : 0));
  return curved ? curve(points, closed) : points;
}

/// The pen's coverage of each pixel in the rows that a line of text touches. Collected before drawing, so that
/// overlapping pieces of a stroke do not darken a pixel twice.
class pen_marks {
 public:
  pen_marks(canvas& picture, float baseline, float unit)
      : picture_(picture),
        first_row_(row_at(baseline - 9 * unit)),
        coverage_((row_at(baseline + 4 * unit) - first_row_) * picture.width()) {}

  void add(const std::vector<pen_point>& chain, float pen) {
    const std::size_t pieces = std::max<std::size_t>(chain.size(), 2) - 1;
    for (std::size_t i = 0; i < pieces; ++i) {
      const pen_point& to = chain[std::min(i + 1, chain.size() - 1)];
      picture_.for_each_on_line(chain[i], to, pen, [&](std::size_t x, std::size_t y, float covered, float) {
        const std::size_t at = (y - first_row_) * picture_.width() + x;
        if (y >= first_row_ && at < coverage_.size()) coverage_[at] = std::max(coverage_[at], covered);
      });
    }
  }

  void ink(const color& paint) const {
    for (std::size_t i = 0; i < coverage_.size(); ++i) {
      if (coverage_[i] == 0) continue;
      color& pixel = picture_.at(i % picture_.width(), first_row_ + i / picture_.width());
      pixel = mix(pixel, paint, coverage_[i]);
    }
  }

 private:
  [[nodiscard]] std::size_t row_at(float y) const {
    return static_cast<std::size_t>(std::clamp(y, 0.0f, static_cast<float>(picture_.height())));
  }

  canvas& picture_;
  std::size_t first_row_;
  std::vector<float> coverage_;
};

}  // namespace

float text_width(std::string_view text, const lettering& style) {
  float units = 0;
  while (!text.empty()) units += letter_of(next_code(text)).width + gap;
  return std::max(units - gap, 0.0f) * style.capital_height / capital_units;
}

void draw_text(canvas& picture, std::string_view text, float x, float y, const lettering& style) {
  const float unit = style.capital_height / capital_units;
  pen_marks marks(picture, y, unit);
  while (!text.empty()) {
    const letter& shape = letter_of(next_code(text));
    for (std::string_view rest = shape.strokes; !rest.empty();) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      std::vector<pen_point> chain = chain_of(rest.substr(0, bar));
      for (pen_point& p : chain) p = {x + p[0] * unit, y - p[1] * unit};
      // A dot is a little heavier than the pen.
      marks.add(chain, style.pen * style.capital_height * (chain.size() == 1 ? 1.35f : 1.0f));
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    x += (shape.width + gap) * unit;
  }
  marks.ink(style.ink);
}

}  // namespace quadrat::io
