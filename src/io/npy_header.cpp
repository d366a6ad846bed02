// SPDX-License-Identifier: BSD-3-Clause
#include "io/npy_header.hpp"

#include <set>

#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

class npy_header_parser {
 public:
  npy_header_parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  npy_header parse() {
    npy_header result;
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (!seen.insert(key).second) fail("gives " + shown(key) + " twice");
      if (key == "descr") {
        if (peek() == '[') throw io_error(file_ + ": the array holds records; only plain numbers can be read");
        result.descr = string();
      } else if (key == "fortran_order") {
        result.fortran_order = boolean();
      } else if (key == "shape") {
        result.shape = shape();
      } else {
        fail("has the unknown key " + shown(key));
      }
      if (peek() != '}') expect(',');
    }
    if (peek() != '\0') fail("goes on after its end");
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (!seen.contains(key)) fail(message("lacks '", key, "'"));
    }
    if (result.descr.size() < 2) fail("has the type " + shown(result.descr));
    if (std::string_view("<>|=").find(result.descr[0]) == std::string_view::npos) {
      fail("has the byte order " + shown(result.descr.substr(0, 1)));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw io_error(message(file_, ": the header ", what, ": ", shown(trimmed(text_))));
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(message("has no '", c, "' at its byte ", at_));
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(message("has no string at its byte ", at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("has a string without end");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail(message("has neither True nor False at its byte ", at_));
  }

  std::vector<std::size_t> shape() {
    std::vector<std::size_t> result;
    expect('(');
    while (!accept(')')) {
      peek();
      const std::size_t end = text_.find_first_not_of("0123456789", at_);
      const auto extent = number_from<std::size_t>(text_.substr(at_, end == std::string_view::npos ? 0 : end - at_));
      if (!extent) fail(message("has no extent of 64 bits at its byte ", at_));
      result.push_back(*extent);
      at_ = end;
      accept('L');  // long integers as Python 2 wrote them
      if (peek() != ')') expect(',');
    }
    return result;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

npy_header parse_npy_header(std::string_view text, const std::string& file) {
  return npy_header_parser(text, file).parse();
}

}  // namespace quadrat::io
