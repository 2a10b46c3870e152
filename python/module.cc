// The Python module: what it is called, what it documents.

#include <pybind11/pybind11.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "python/answers.h"
#include "python/arguments.h"
#include "python/arrays.h"
#include "python/timeline_columns.h"
#include "python/trace_columns.h"
#include "sim/report.pb.h"
#include "tools/trace_flags.h"
#include "tools/version.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

namespace py = pybind11;

// --- documentation ---------------------------------------------------------------

constexpr char kModuleHelp[] =
    R"(How many requests fit, what stays cached, where every byte of KV memory goes.

    import kvsim

    kvsim.layout("deepseek-v4-flash", contexts=["128K", "1M"])
    kvsim.capacity("kimi-linear-48b", contexts="1M", gpu="H200")
    kvsim.replay("trace.jsonl", model="llama-3.1-8b", kv_memory="28GiB")
    kvsim.read_trace("trace.jsonl")["input_tokens"].mean()

layout, capacity and replay are the commands of the same name: a keyword is a
flag with underscores for dashes, the result a dict equal to what the command
prints with --json. They run in this process, without the GIL, any number at
once. A value is text as it is typed after the flag, a number, a path, True or
False for a flag without a value, a list where the flag takes commas, a dict
where it takes JSON; None means not given.

Whatever a command would refuse raises kvsim.Error, a ValueError, with the
command's message. Ctrl-C ends a replay within a moment. Bytes, tokens, blocks
and nanoseconds of model time are ints throughout.)";

constexpr char kLayoutHelp[] =
    R"(layout(model, contexts=None, **options) -> dict

What each layer of a model stores, per token and at given lengths.

model is a catalogue name, a config.json, a model folder or a GGUF file;
contexts are lengths in tokens: 131072, "128K", or a list of them.
)";

constexpr char kCapacityHelp[] =
    R"(capacity(model, contexts=None, **options) -> dict

How many requests of a length fit, and where every byte of GPU memory goes.

model is a catalogue name, a config.json, a model folder or a GGUF file;
contexts are lengths in tokens: 131072, "128K", or a list of them. With
concurrency=N the answer is the GPUs on which N requests are resident.
)";

constexpr char kReplayHelp[] =
    R"(replay(trace, timeline=None, **options) -> dict

Replays a trace: concurrency, hits, preemptions, where the bytes are. The dict is
one of sim/report.proto.

timeline=True adds "timeline": a dict of arrays, one per column of --timeline's
CSV, each of shape (steps,): int64, and text for "limit". 264 bytes a step. A
path writes the CSV instead, like the flag.
)";

constexpr char kReadTraceHelp[] =
    R"(read_trace(path, format=None, limit=None, **options) -> dict of arrays

Reads a trace in any format that kvsim knows, told by its content, in kvsim's own
code and without the GIL. Row i of every array is the i-th request, in order of
arrival; the arrays own their memory, nothing is copied into them.

  arrival_ns      int64   (rows,)  from the trace's time zero
  input_tokens    int64   (rows,)  of the prompt
  output_tokens   int64   (rows,)  of the recorded answer
  priority        int64   (rows,)  smaller is served first
  session         int64   (rows,)  conversation; -1: none
  turn            int64   (rows,)  from 0 within the session
  previous        int64   (rows,)  row whose end lets this one start; -1: none
  think_time_ns   int64   (rows,)  from that end to this arrival

and, of a trace that names its prompts' blocks,

  block_tokens    int64   (rows,)  tokens per block id; 0: a row without ids
  block_scope     uint64  (rows,)  ids compare within one scope; 0: everywhere
  block_ids       uint64  (ids,)   those of row i are
  block_offsets   int64   (rows + 1,)  block_ids[offsets[i]:offsets[i + 1]]

Memory: 64 bytes a row, 88 and 8 an id with ids; up to three times that while
reading. Time: that of parsing the file, a fifth of json.loads of its lines.
)";

// The function's own help with the command's flags behind it.
std::string Help(const char* help, const CLI::App& command,
                 const std::vector<std::string>& without) {
  return absl::StrCat(help, "\nOptions:\n\n", KeywordHelp(command, without));
}

// --- what the functions do -------------------------------------------------------

// The declarations of one command's flags.
class CommandFlags {
 public:
  explicit CommandFlags(const char* command) : app_("", "kvsim") {
    DeclareCommands(app_, context_);
    command_ = app_.get_subcommand(command);
  }
  const CLI::App& operator*() const { return *command_; }

 private:
  CommandContext context_;
  CLI::App app_;
  const CLI::App* command_;
};

// kvsim layout and kvsim capacity.
py::dict AskAboutModel(const char* name, py::handle model, py::handle contexts,
                       const py::kwargs& options) {
  const CommandFlags command(name);
  std::vector<std::string> arguments = {name};
  AddArgument(*command, "model", model, &arguments);
  AddArgument(*command, "context", contexts, &arguments);
  AddArguments(*command, options, &arguments);
  return Answer(std::move(arguments));
}

py::dict TimelineOf(TimelineColumns columns) {
  py::dict timeline;
  for (size_t i = 0; i < kNumTimelineCounts; ++i) {
    timeline[kTimelineCounts[i]] = ArrayOf(std::move(columns.counts[i]));
  }
  py::list names;
  for (int i = 0; i < kNumAdmissionLimits; ++i) {
    names.append(AdmissionLimitName(static_cast<AdmissionLimit>(i)));
  }
  timeline["limit"] = py::module_::import("numpy").attr("take")(
      names, ArrayOf(std::move(columns.limits)));
  for (size_t i = 0; i < kNumAccounts; ++i) {
    timeline[AccountName(static_cast<Account>(i))] =
        ArrayOf(std::move(columns.bytes[i]));
  }
  return timeline;
}

py::dict Replay(py::handle trace, py::handle timeline,
                const py::kwargs& options) {
  const CommandFlags command("replay");
  std::vector<std::string> arguments = {"replay"};
  AddArgument(*command, "trace", trace, &arguments);
  const bool kept = timeline.is(py::bool_(true));
  if (!kept && !timeline.is(py::bool_(false))) {
    AddArgument(*command, "timeline", timeline, &arguments);
  }
  AddArguments(*command, options, &arguments);
  TimelineColumns columns;
  py::dict report = Answer(std::move(arguments), kept ? &columns : nullptr);
  const bool hits = options.contains("mode") &&
                    py::str(options["mode"]).cast<std::string>() == "hits";
  ReadIntegers(hits ? *HitReport::descriptor() : *Report::descriptor(), report);
  if (kept) report["timeline"] = TimelineOf(std::move(columns));
  return report;
}

// The flags of `kvsim trace ...`.
struct TraceCommand {
  TraceCommand() : app("", "read_trace") { AddTraceFlags(app, flags); }
  TraceFlags flags;
  CLI::App app;
};

// Throws KvsimError.
TraceOptions ParseTraceOptions(TraceCommand& command,
                               std::vector<std::string> arguments) {
  // CLI11 takes arguments last first.
  std::reverse(arguments.begin(), arguments.end());
  try {
    command.app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    throw KvsimError(error.what());
  }
  const absl::StatusOr<TraceOptions> options = ToTraceOptions(command.flags);
  if (!options.ok()) throw KvsimError(std::string(options.status().message()));
  return *options;
}

absl::Status ReadFile(const std::string& path, const TraceOptions& options,
                      SignalListener& signals, TraceColumns* columns) {
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(path, options);
  if (!reader.ok()) return reader.status();
  return ReadColumns(
      **reader, [&signals] { return signals.GoOn(); }, columns);
}

py::dict DictOf(TraceColumns columns) {
  py::dict arrays;
  arrays["arrival_ns"] = ArrayOf(std::move(columns.arrival_ns));
  arrays["input_tokens"] = ArrayOf(std::move(columns.input_tokens));
  arrays["output_tokens"] = ArrayOf(std::move(columns.output_tokens));
  arrays["priority"] = ArrayOf(std::move(columns.priority));
  arrays["session"] = ArrayOf(std::move(columns.session));
  arrays["turn"] = ArrayOf(std::move(columns.turn));
  arrays["previous"] = ArrayOf(std::move(columns.previous));
  arrays["think_time_ns"] = ArrayOf(std::move(columns.think_time_ns));
  if (columns.block_offsets.empty()) return arrays;
  arrays["block_tokens"] = ArrayOf(std::move(columns.block_tokens));
  arrays["block_scope"] = ArrayOf(std::move(columns.block_scope));
  arrays["block_ids"] = ArrayOf(std::move(columns.block_ids));
  arrays["block_offsets"] = ArrayOf(std::move(columns.block_offsets));
  return arrays;
}

py::dict ReadTrace(py::handle path, py::handle format, py::handle limit,
                   const py::kwargs& options) {
  TraceCommand command;
  std::vector<std::string> arguments;
  AddArgument(command.app, "trace", path, &arguments);
  AddArgument(command.app, "trace_format", format, &arguments);
  AddArgument(command.app, "limit", limit, &arguments);
  AddArguments(command.app, options, &arguments);
  const TraceOptions trace = ParseTraceOptions(command, std::move(arguments));
  SignalListener signals;
  TraceColumns columns;
  absl::Status status;
  {
    const py::gil_scoped_release released;
    status = ReadFile(command.flags.trace, trace, signals, &columns);
  }
  signals.Rethrow();
  if (!status.ok()) throw KvsimError(std::string(status.message()));
  return DictOf(std::move(columns));
}

// --- the module ------------------------------------------------------------------

void DefineError(py::module_& module) {
  py::register_local_exception<KvsimError>(module, "Error", PyExc_ValueError);
  module.attr("Error").attr("__doc__") =
      "What a command of kvsim refused, in the command's words.";
}

void DefineFunctions(py::module_& module) {
  const CommandFlags layout("layout"), capacity("capacity"), replay("replay");
  const TraceCommand trace;
  module.def(
      "layout",
      [](py::object model, py::object contexts, const py::kwargs& options) {
        return AskAboutModel("layout", model, contexts, options);
      },
      py::arg("model"), py::arg("contexts") = py::none(),
      Help(kLayoutHelp, *layout, {"model", "context"}).c_str());
  module.def(
      "capacity",
      [](py::object model, py::object contexts, const py::kwargs& options) {
        return AskAboutModel("capacity", model, contexts, options);
      },
      py::arg("model"), py::arg("contexts") = py::none(),
      Help(kCapacityHelp, *capacity, {"model", "context"}).c_str());
  module.def("replay", &Replay, py::arg("trace"),
             py::arg("timeline") = py::none(),
             Help(kReplayHelp, *replay, {"trace", "timeline"}).c_str());
  module.def("read_trace", &ReadTrace, py::arg("path"),
             py::arg("format") = py::none(), py::arg("limit") = py::none(),
             Help(kReadTraceHelp, trace.app, {"trace", "trace_format", "limit"})
                 .c_str());
}

}  // namespace
}  // namespace kvsim

PYBIND11_MODULE(kvsim, module) {
  pybind11::options help;
  help.disable_function_signatures();
  module.doc() = kvsim::kModuleHelp;
  module.attr("__version__") = kvsim::kVersion;
  kvsim::DefineError(module);
  kvsim::DefineFunctions(module);
}
