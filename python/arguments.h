// Python's keyword arguments as the arguments of a command, and its flags as
// documentation.
//
// Model:      kv_memory="28GiB" is --kv-memory 28GiB. What a flag is called and
//             whether it takes a value is looked up in the command's own
//             declaration, so that a new flag is a new keyword at once.
// Values:     text as it is typed, numbers as Python writes them, paths;
//             True or False for a flag without a value; a list is joined by
//             commas; a dict becomes JSON; None is a keyword not given.
// Errors:     KvsimError names the keyword, the value's type or the nearest
//             keyword, and what is accepted.
// Threads:    the caller holds the GIL.
#ifndef KVSIM_PYTHON_ARGUMENTS_H_
#define KVSIM_PYTHON_ARGUMENTS_H_

#include <pybind11/pybind11.h>

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvsim {

// kvsim.Error with what a command would have printed.
class KvsimError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Appends the keyword `name` to `arguments`. `command` declares the flags.
void AddArgument(const CLI::App& command, const std::string& name,
                 pybind11::handle value, std::vector<std::string>* arguments);

// The same for all of them, in their order.
void AddArguments(const CLI::App& command, const pybind11::kwargs& options,
                  std::vector<std::string>* arguments);

// The command's keywords with what they mean, a group of them under its name.
// `without` are parameters that are documented elsewhere.
std::string KeywordHelp(const CLI::App& command,
                        const std::vector<std::string>& without);

}  // namespace kvsim

#endif  // KVSIM_PYTHON_ARGUMENTS_H_
