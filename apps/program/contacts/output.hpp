// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/contacts/contact.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/npy.hpp"

namespace quadrat::program {

/// Receives contacts in their order.
template <typename T>
class contact_output {
 public:
  virtual ~contact_output() = default;
  virtual void write(const std::vector<contact<T>>& records) = 0;
  virtual void commit() = 0;
};

/// Writes records as they are in memory.
template <typename T>
class npy_contact_output final : public contact_output<T> {
  static constexpr auto number = io::npy_type_of<T>;
  static constexpr std::array<io::npy_field, 10> fields{{{"point_a", number, 3},
                                                         {"point_b", number, 3},
                                                         {"normal", number, 3},
                                                         {"tangent_1", number, 3},
                                                         {"tangent_2", number, 3},
                                                         {"depth", number},
                                                         {"a", io::npy_type::uint32},
                                                         {"b", io::npy_type::uint32},
                                                         {"shift", io::npy_type::int32, 3},
                                                         {"feature", io::npy_type::uint32}}};

 public:
  npy_contact_output(const std::string& file, std::size_t contacts) : out_(file, fields, contacts) {}
  void write(const std::vector<contact<T>>& records) override { out_.write(std::as_bytes(std::span(records))); }
  void commit() override { out_.commit(); }

 private:
  io::npy_record_writer out_;
};

template <typename T>
class csv_contact_output final : public contact_output<T> {
  static constexpr std::array<std::string_view, 22> names{"a",   "b",   "feature", "depth", "ax", "ay",  "az",  "bx",
                                                          "by",  "bz",  "nx",      "ny",    "nz", "t1x", "t1y", "t1z",
                                                          "t2x", "t2y", "t2z",     "sx",    "sy", "sz"};

 public:
  explicit csv_contact_output(const std::string& file) : out_(file, names) {}
  void write(const std::vector<contact<T>>& records) override {
    for (const contact<T>& record : records) {
      out_.add(record.a);
      out_.add(record.b);
      out_.add(record.feature);
      out_.add(record.depth);
      for (const auto* v : {&record.point_a, &record.point_b, &record.normal, &record.tangent_1, &record.tangent_2}) {
        for (int axis = 0; axis < 3; ++axis) out_.add((*v)[axis]);
      }
      for (int axis = 0; axis < 3; ++axis) out_.add(record.shift[axis]);
      out_.end_row();
    }
  }
  void commit() override { out_.commit(); }

 private:
  io::csv_writer out_;
};

}  // namespace quadrat::program
