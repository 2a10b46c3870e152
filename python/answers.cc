#include "python/answers.h"

#include <chrono>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "python/arguments.h"
#include "tools/capacity_command.h"
#include "tools/command_line.h"
#include "tools/layout_command.h"
#include "tools/replay_command.h"

namespace kvsim {
namespace {

namespace py = pybind11;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr Subcommand kCommands[] = {{"layout", AddLayoutCommand},
                                    {"capacity", AddCapacityCommand},
                                    {"replay", AddReplayCommand}};

constexpr int64_t kStepsBetweenLooks = 256;
constexpr int64_t kBetweenQuestionsNs = 100'000'000;

int64_t NowNs() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// What a command wrote about its failure, without what only helps in a shell.
std::string ErrorText(const std::string& err) {
  constexpr absl::string_view kHint = "Run with --help for more information.";
  std::string text = err;
  const size_t hint = text.find(kHint.data(), 0, kHint.size());
  if (hint != std::string::npos) text.erase(hint);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

py::object Integer(py::handle text) {
  return py::int_(py::reinterpret_borrow<py::object>(text));
}

// A field's value, or one element of a repeated field.
py::object ReadValue(const FieldDescriptor& field, py::object value) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return Integer(value);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (!value.is_none()) ReadIntegers(*field.message_type(), value);
      return value;
    default:
      return value;
  }
}

}  // namespace

void DeclareCommands(CLI::App& app, CommandContext& context) {
  for (const Subcommand& command : kCommands) command.add(app, context);
}

SignalListener::SignalListener() : next_ns_(NowNs() + kBetweenQuestionsNs) {}

void SignalListener::OnStep(const StepRecord& record, const Engine&) {
  if (record.step % kStepsBetweenLooks != 0) return;
  const int64_t now_ns = NowNs();
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kBetweenQuestionsNs;
  GoOn();
}

bool SignalListener::GoOn() {
  if (stop_) return false;
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) {
    raised_.emplace();
    stop_ = true;
  }
  return !stop_;
}

void SignalListener::Rethrow() const {
  if (raised_.has_value()) throw py::error_already_set(*raised_);
}

py::dict Answer(std::vector<std::string> arguments, StepObserver* observer) {
  arguments.push_back("--json");
  std::ostringstream out, err;
  SignalListener listener;
  CommandContext context;
  context.out = &out;
  context.err = &err;
  context.listener = &listener;
  context.observer = observer;
  {
    const py::gil_scoped_release released;
    RunCommandLine(kCommands, arguments, context);
  }
  listener.Rethrow();
  if (context.exit_code != kExitOk) throw KvsimError(ErrorText(err.str()));
  return py::module_::import("json").attr("loads")(out.str());
}

void ReadIntegers(const Descriptor& type, py::dict message) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const py::str name(field.name());
    if (!message.contains(name)) continue;
    py::object value = message[name];
    if (!field.is_repeated()) {
      message[name] = ReadValue(field, std::move(value));
      continue;
    }
    py::list list = value;
    for (size_t k = 0; k < list.size(); ++k) {
      list[k] = ReadValue(field, list[k]);
    }
  }
}

}  // namespace kvsim
