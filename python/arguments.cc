#include "python/arguments.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace kvsim {
namespace {

namespace py = pybind11;

// Flags that a result in Python leaves no choice about.
bool IsReserved(const std::string& name) {
  return name == "help" || name == "json";
}

std::string KeywordOf(const std::string& flag) {
  return absl::StrReplaceAll(flag, {{"-", "_"}});
}

std::vector<std::string> KeywordsOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& flag : option.get_lnames()) {
    if (!IsReserved(flag)) names.push_back(KeywordOf(flag));
  }
  return names;
}

KvsimError UnknownKeyword(const CLI::App& command, const std::string& name) {
  py::list all;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& keyword : KeywordsOf(*option)) all.append(keyword);
  }
  const auto nearest = py::module_::import("difflib")
                           .attr("get_close_matches")(name, all)
                           .cast<std::vector<std::string>>();
  return KvsimError(
      absl::StrCat("kvsim ", command.get_name(), ": no option ", name,
                   nearest.empty() ? "; help() lists them" : "; nearest: ",
                   absl::StrJoin(nearest, ", ")));
}

bool IsTruthValue(py::handle value) {
  return PyBool_Check(value.ptr()) ||
         py::str(py::type::of(value).attr("__name__")).cast<std::string>() ==
             "bool_";
}

bool IsNumber(py::handle value) {
  return py::isinstance(value, py::module_::import("numbers").attr("Number"));
}

bool IsList(py::handle value) {
  return PySequence_Check(value.ptr()) != 0 &&
         !py::isinstance<py::bytes>(value);
}

KvsimError BadValue(const std::string& name, py::handle value,
                    const char* accepted) {
  return KvsimError(absl::StrCat(
      name, ": found ", py::repr(value).cast<std::string>(), " (",
      py::str(py::type::of(value).attr("__name__")).cast<std::string>(),
      "); accepted: ", accepted));
}

std::string TextOf(const std::string& name, py::handle value) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::dict>(value)) {
    return py::str(py::module_::import("json").attr("dumps")(value));
  }
  if (py::hasattr(value, "__fspath__")) {
    return py::module_::import("os")
        .attr("fsdecode")(value)
        .cast<std::string>();
  }
  if (IsNumber(value) && !IsTruthValue(value)) return py::str(value);
  if (IsList(value)) {
    std::vector<std::string> parts;
    for (const py::handle part : value) parts.push_back(TextOf(name, part));
    return absl::StrJoin(parts, ",");
  }
  throw BadValue(name, value,
                 "text as on the command line, a number, a path, a list, or a "
                 "dict where JSON is meant");
}

}  // namespace

void AddArgument(const CLI::App& command, const std::string& name,
                 py::handle value, std::vector<std::string>* arguments) {
  const std::string flag =
      absl::StrCat("--", absl::StrReplaceAll(name, {{"_", "-"}}));
  const CLI::Option* option = command.get_option_no_throw(flag);
  if (option == nullptr || IsReserved(name)) {
    throw UnknownKeyword(command, name);
  }
  if (value.is_none()) return;
  if (option->get_items_expected_max() == 0) {
    if (!IsTruthValue(value)) throw BadValue(name, value, "True or False");
    arguments->push_back(py::bool_(py::reinterpret_borrow<py::object>(value))
                             ? flag
                             : absl::StrCat(flag, "=false"));
    return;
  }
  const std::string text = TextOf(name, value);
  // Text that looks like a flag, or like nothing, stays with its flag.
  if (text.empty() || text[0] == '-') {
    arguments->push_back(absl::StrCat(flag, "=", text));
  } else {
    arguments->insert(arguments->end(), {flag, text});
  }
}

void AddArguments(const CLI::App& command, const py::kwargs& options,
                  std::vector<std::string>* arguments) {
  for (const auto& [name, value] : options) {
    AddArgument(command, name.cast<std::string>(), value, arguments);
  }
}

std::string KeywordHelp(const CLI::App& command,
                        const std::vector<std::string>& without) {
  std::string help;
  std::string group;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> names = KeywordsOf(*option);
    if (names.empty() ||
        std::find(without.begin(), without.end(), names[0]) != without.end()) {
      continue;
    }
    if (option->get_group() != group) {
      group = option->get_group();
      absl::StrAppend(&help, group, "\n");
    }
    absl::StrAppend(&help, "  ", absl::StrJoin(names, ", "),
                    option->get_items_expected_max() == 0 ? " (bool)" : "",
                    "\n      ", option->get_description(), "\n");
  }
  return help;
}

}  // namespace kvsim
