// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "program/commands.hpp"
#include "program/contacts/options.hpp"
#include "program/contacts/report.hpp"
#include "program/contacts/scene.hpp"
#include "program/contacts/search.hpp"
#include "program/explain.hpp"
#include "program/option_checks.hpp"
#include "program/process/activity.hpp"
#include "program/process/stopwatch.hpp"
#include "program/table_output.hpp"
#include "quadrat/contacts/methods.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/bodies_file.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {
namespace {

void run_contacts(const contacts_options& options) {
  double total = 0, reading = 0;
  const stopwatch time(total);
  require(options.bodies.ends_with(".csv"), "bodies are read from .csv files; ", options.bodies, " ends otherwise");
  if (options.output) check_table_output(*options.output, options.json, options.bodies, "contacts");
  const contact_surroundings surroundings = surroundings_of(options);
  activity doing(!options.quiet);
  doing.begins("reading " + options.bodies);
  const io::body_list bodies = [&] {
    const stopwatch reading_time(reading);
    return io::read_bodies(options.bodies);
  }();
  doing.begins("searching");
  contacts_report report = find_contacts(options, bodies, surroundings);
  report.reading_seconds = reading;
  report.total_seconds = time.elapsed();
  doing.end();
  if (options.json) {
    const auto result = as_json(report, options, bodies, surroundings);
    std::puts(explained_json(result, options.explain, report.explanation).c_str());
  } else if (!options.quiet) {
    const std::string text = as_text(report, options, bodies, surroundings);
    std::fputs(explained_text(text, options.explain, report.explanation).c_str(), summary_stream(options.output));
  }
}

std::string contacts_footer() {
  std::string text = "Methods (all find the same contacts):\n";
  std::size_t width = 0;
  for (const contact_method& method : contact_methods()) width = std::max(width, method.name.size());
  for (const contact_method& method : contact_methods()) {
    text += fmt::format("  {:<{}} {}\n", method.name, width, method.summary);
  }
  return text +
         "Columns of BODIES.csv, in any order: the center x,y,z; the sizes\n"
         "  radius               of spheres\n"
         "  radius,half_length   of capsules: half the distance between the centers of the caps, along their own z\n"
         "  a,b,c                of ellipsoids the half-axes, of boxes half of the edges\n"
         "  shape                sphere, ellipsoid, capsule or box; where shapes are mixed, and for boxes\n"
         "and if wanted the orientation qw,qx,qy,qz and the group (0 to 31).\n"
         "Contacts are in order of a, then b, then feature, a < b; bodies count from 0, planes from 2147483648 (2^31)\n"
         "in the order in which they are given. docs/guides/contacts.md says more.\n\n"
         "Examples:\n"
         "  quadrat contacts grains.csv                                     counts only\n"
         "  quadrat contacts grains.csv -o contacts.npy                     numpy.load(...)[\"depth\"]\n"
         "  quadrat contacts grains.csv --plane 0,0,1,0 -o contacts.csv     a floor at z = 0\n"
         "  quadrat contacts grains.csv --box 1,1,1 --periodic xy --json\n\n"
         "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";
}

void add_scene_options(CLI::App& command, contacts_options& o) {
  command.add_option("--plane", o.planes, "a wall; points p with n . p < offset are solid; may be given several times")
      ->type_name("nx,ny,nz,offset")
      ->allow_extra_args(false);
  command.add_option("--apart", o.apart, "bodies of these groups do not touch; may be given several times")
      ->type_name("GROUP,GROUP")
      ->allow_extra_args(false);
  add_box_options(command, o.box, "lengths of the box; default: around the bodies", "Lx,Ly,Lz");
}

}  // namespace

void add_contacts(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("contacts", "Find all contacts of bodies that overlap");
  const auto options = std::make_shared<contacts_options>();
  contacts_options& o = *options;
  command->add_option("BODIES", o.bodies, "a table of spheres, ellipsoids, capsules, boxes (.csv)")
      ->required()
      ->check(existing_file())
      ->type_name("");
  add_scene_options(*command, o);
  command->add_option("--method", o.method, "how to search; default: auto")->type_name("NAME");
  command->add_option("--bin-size", o.bin_size, "edge of the (finest) bins; default: auto")
      ->check(any_number())
      ->type_name("SIZE");
  add_device_options(*command, o.device);
  command->add_option("--precision", o.precision, "float or double")
      ->check(one_of(io::names_of<io::number_precision>))
      ->capture_default_str();
  add_output_option(*command, o.output, "contacts: .npy (records with named fields) or .csv");
  command->add_flag("--json", o.json, "print counts as JSON, and nothing else, on stdout");
  add_explain_option(*command, o.explain);
  command->add_flag("--quiet", o.quiet, "print nothing");
  command->footer(contacts_footer());
  command->callback([options] { run_contacts(*options); });
}

}  // namespace quadrat::program
