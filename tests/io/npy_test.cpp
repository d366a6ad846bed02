// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

namespace quadrat::io {
namespace {

/// A file as NumPy would write it.
std::string npy_bytes(const std::string& dictionary, const std::string& data, int version = 1) {
  const std::string header = dictionary + "\n";
  std::string text("\x93NUMPY", 6);
  text += static_cast<char>(version);
  text += '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) text += static_cast<char>(header.size() >> (8 * k) & 0xff);
  return text + header + data;
}

template <typename T>
std::string raw(const std::vector<T>& values, bool swapped = false) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    char* const at = bytes.data() + i * sizeof(T);
    std::memcpy(at, &values[i], sizeof(T));
    if (swapped) std::reverse(at, at + sizeof(T));
  }
  return bytes;
}

std::string npy_error(const std::filesystem::path& file) {
  return test::error_of<io_error>([&] { static_cast<void>(read_npy(file)); });
}

class npy_test : public testing::Test {
 protected:
  npy_array read(const std::string& bytes) {
    put(file_, bytes);
    return read_npy(file_);
  }
  std::string failure(const std::string& bytes) {
    put(file_, bytes);
    const std::string text = npy_error(file_);
    EXPECT_TRUE(text.starts_with(file_.string() + ": ")) << text;
    return text.substr(std::min(text.size(), file_.string().size() + 2));
  }
  std::string failure_of_header(const std::string& dictionary) { return failure(npy_bytes(dictionary, "")); }

  const temporary_folder folder_;
  const std::filesystem::path file_ = folder_ / "a.npy";
};

TEST_F(npy_test, arrays_of_any_rank_read_back) {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.5f);
  for (const std::vector<std::size_t>& shape :
       {std::vector<std::size_t>{24}, {8, 3}, {2, 3, 4}, {24, 1}, {1, 2, 2, 6}}) {
    write_npy<float>(file_, values, shape);
    const npy_array array = read_npy(file_);
    EXPECT_EQ(array.type, npy_type::float32);
    EXPECT_EQ(array.shape, shape);
    EXPECT_TRUE(std::ranges::equal(array.as<float>(), values));
    const std::string bytes = contents(file_);
    EXPECT_EQ((bytes.size() - values.size() * sizeof(float)) % 64, 0u);
  }
  write_npy<std::int64_t>(file_, {}, {0, 2});
  EXPECT_EQ(read_npy(file_).shape, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(read_npy(file_).size(), 0u);
  const double one[] = {1.5};
  write_npy<double>(file_, one, {});
  EXPECT_EQ(read_npy(file_).as<double>()[0], 1.5);
}

TEST_F(npy_test, is_what_numpy_writes) {
  const std::int64_t pairs[] = {0, 1, 1, 0};
  write_npy<std::int64_t>(file_, pairs, {2, 2});
  std::string dictionary = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }";
  dictionary.append(128 - 11 - dictionary.size(), ' ');
  EXPECT_EQ(contents(file_), npy_bytes(dictionary, raw(std::vector<std::int64_t>{0, 1, 1, 0})));
}

TEST_F(npy_test, every_type_and_both_byte_orders) {
  const auto check = [&]<typename T>(const std::string& code, const std::vector<T>& values) {
    for (const bool big : {false, true}) {
      const std::string descr = (sizeof(T) == 1 ? "|" : big ? ">" : "<") + code;
      const npy_array array =
          read(npy_bytes("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,), }", raw(values, big)));
      EXPECT_TRUE(std::ranges::equal(array.as<T>(), values)) << descr;
    }
  };
  check.operator()<std::int8_t>("i1", {-1, 2, 127});
  check.operator()<std::int16_t>("i2", {-1, 2, 32767});
  check.operator()<std::int32_t>("i4", {-1, 2, 2147483647});
  check.operator()<std::int64_t>("i8", {-1, 2, std::int64_t{1} << 40});
  check.operator()<std::uint8_t>("u1", {1, 2, 255});
  check.operator()<std::uint16_t>("u2", {1, 2, 65535});
  check.operator()<std::uint32_t>("u4", {1, 2, 4294967295u});
  check.operator()<std::uint64_t>("u8", {1, 2, ~std::uint64_t{0}});
  check.operator()<float>("f4", {0.5f, -2, 1e30f});
  check.operator()<double>("f8", {0.5, -2, 1e300});
  const npy_array complex = read(
      npy_bytes("{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }", raw(std::vector<float>{1.5f, -2}, true)));
  EXPECT_EQ(complex.as<std::complex<float>>()[0], std::complex<float>(1.5f, -2));
}

TEST_F(npy_test, fortran_order_becomes_c_order) {
  const npy_array two = read(npy_bytes("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
                                       raw(std::vector<double>{0, 10, 1, 11, 2, 12})));
  EXPECT_TRUE(std::ranges::equal(two.as<double>(), std::vector<double>{0, 1, 2, 10, 11, 12}));
  const npy_array three = read(npy_bytes("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2), }",
                                         raw(std::vector<std::uint8_t>{0, 4, 2, 6, 1, 5, 3, 7})));
  EXPECT_TRUE(std::ranges::equal(three.as<std::uint8_t>(), std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(npy_test, all_versions_and_spellings_of_the_header) {
  const std::string data = raw(std::vector<float>{1, 2});
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(read(npy_bytes("{'shape':(2,),'fortran_order':False,'descr':\"<f4\"}   ", data, version)).size(), 2u);
  }
  EXPECT_EQ(read(npy_bytes("{'descr': '=f4', 'fortran_order': False, 'shape': (2L, 1L)}", data)).shape.size(), 2u);
}

TEST_F(npy_test, says_what_is_wrong_with_the_file) {
  EXPECT_EQ(failure(""), "the file is empty");
  EXPECT_EQ(failure("x,y,z\n1,2,3\n"), "this is not an .npy file (it begins with \"x,y,z?\")");
  EXPECT_EQ(failure(std::string("\x93NUMPY", 6)), "the file is cut short in its header");
  EXPECT_EQ(failure(npy_bytes("{'descr': '<f8'", "").substr(0, 14)), "the file is cut short in its header");
  EXPECT_NE(failure(npy_bytes("{}", "", 4)).find("version 4"), std::string::npos);
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(failure(npy_bytes(good, std::string(47, ' '))),
            "an array of shape (2, 3) and type float64 takes 48 bytes, but the file has 47 (it is cut short)");
  EXPECT_EQ(failure(npy_bytes(good, std::string(49, ' '))),
            "an array of shape (2, 3) and type float64 takes 48 bytes, but the file has 49");
  EXPECT_NE(failure_of_header("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 3), }")
                .find("is too large"),
            std::string::npos);
  EXPECT_NE(failure_of_header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 3), }")
                .find("extent"),
            std::string::npos);
  EXPECT_NE(
      failure_of_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }").find("type is \"|O\"; bool, int8"),
      std::string::npos);
  EXPECT_NE(failure_of_header("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }").find("records"),
            std::string::npos);
  for (const char* header :
       {"{", "nonsense", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} x", "{'descr': '<f8', 'descr': '<f8'}",
        "{'descr': '?f8', 'fortran_order': False, 'shape': (3,)}", "{'color': 'red'}", "{'descr': ''}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3"}) {
    EXPECT_TRUE(failure_of_header(header).starts_with("the header ")) << header;
  }
}

TEST_F(npy_test, every_beginning_of_a_file_is_refused) {
  write_npy<double>(file_, std::vector<double>(6, 1.0), {2, 3});
  const std::string whole = contents(file_);
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_NE(failure(whole.substr(0, length)), "no error");
}

TEST_F(npy_test, files_that_cannot_be_read) {
  EXPECT_EQ(npy_error(folder_ / "none.npy"),
            "cannot read " + (folder_ / "none.npy").string() + ": No such file or directory");
  EXPECT_EQ(npy_error(folder_.path()), "cannot read " + folder_.path().string() + ": Is a directory");
}

TEST_F(npy_test, a_type_that_was_not_meant) {
  write_npy<float>(file_, std::vector<float>(6), {2, 3});
  const npy_array array = read_npy(file_);
  EXPECT_THROW((void)array.as<double>(), io_error);
  EXPECT_EQ(array.shape_text(), "(2, 3)");
}

TEST_F(npy_test, records) {
  const std::vector<npy_field> fields{
      {"depth", npy_type::float64}, {"normal", npy_type::float32, 3}, {"id", npy_type::uint8}};
  const std::string bytes(2 * 21, 'r');
  npy_record_writer out(file_, fields, 2);
  out.write(std::as_bytes(std::span(bytes).first(21)));
  EXPECT_THROW(out.commit(), argument_error);
  out.write(std::as_bytes(std::span(bytes).last(21)));
  EXPECT_THROW(out.write(std::as_bytes(std::span(bytes).first(1))), argument_error);
  out.commit();
  const std::string whole = contents(file_);
  EXPECT_EQ((whole.size() - bytes.size()) % 64, 0u);
  EXPECT_TRUE(whole.ends_with("\n" + bytes));
  EXPECT_NE(whole.find("{'descr': [('depth', '<f8'), ('normal', '<f4', (3,)), ('id', '|u1')], "
                       "'fortran_order': False, 'shape': (2,), }"),
            std::string::npos);
}

TEST_F(npy_test, a_writer_takes_exactly_the_elements_of_its_shape) {
  const std::vector<std::int64_t> values(5);
  EXPECT_THROW(write_npy<std::int64_t>(file_, values, {2, 2}), argument_error);
  EXPECT_THROW(write_npy<std::int64_t>(file_, values, {3, 2}), argument_error);
  EXPECT_EQ(folder_.entries(), 0u);
}

}  // namespace
}  // namespace quadrat::io
