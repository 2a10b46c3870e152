#include "tools/tune_block_size_command.h"

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "engines/block_size_survey.h"
#include "sim/miss_ratio_curve.h"
#include "tools/block_size_comparison.h"
#include "tools/block_size_report.h"
#include "tools/capacity_flags.h"
#include "tools/capacity_serve.h"
#include "tools/flag_reader.h"
#include "tools/replay_flags.h"
#include "tools/replay_hits.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

// What a person might ask for: the sizes that releases with a fixed list take,
// and the next two, which hybrids grow to anyway.
constexpr char kUsualSizes[] = "1,8,16,32,64,128,256,512,1024";
constexpr Tokens kMaxLength{int64_t{1} << 40};

struct TuneFlags {
  CapacityFlags capacity;
  ReplayFlags trace;  // only which rows are read
  std::string sizes = kUsualSizes;
  std::string input_length, output_length, state_block, measure_last;
};

absl::StatusOr<std::vector<Tokens>> ReadSizes(const TuneFlags& flags) {
  std::vector<Tokens> sizes;
  for (const absl::string_view text : absl::StrSplit(flags.sizes, ',')) {
    const absl::StatusOr<Tokens> size = ParseTokens(text);
    if (!size.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--block-sizes '", text, "': ", size.status().message()));
    }
    sizes.push_back(*size);
  }
  return sizes;
}

// Flags that are capacity's and make no sense for several sizes.
void RemoveSingleSizeFlags(CLI::App& command) {
  for (const char* name :
       {"--concurrency", "--from-log", "--calibration", "--num-gpu-blocks"}) {
    command.remove_option(command.get_option(name));
  }
}

// What would be ignored without a trace.
absl::Status CheckTraceFlags(const TuneFlags& flags) {
  const ReplayFlags& trace = flags.trace;
  if (!trace.trace.empty()) return absl::OkStatus();
  for (const auto& [flag, given] :
       {std::pair{"--trace-format", !trace.trace_format.empty()},
        {"--limit", !trace.limit.empty()},
        {"--partial-tail", !trace.partial_tail.empty()},
        {"--continue-sessions", trace.continue_sessions},
        {"--measure-last", !flags.measure_last.empty()}}) {
    if (given) return UsageError(absl::StrCat(flag, " needs --trace"));
  }
  return absl::OkStatus();
}

absl::Status CheckLengthFlags(const TuneFlags& flags,
                              const CapacityQuestion& question) {
  const bool typed =
      !flags.input_length.empty() || !flags.output_length.empty();
  if (flags.input_length.empty() && !flags.output_length.empty()) {
    return UsageError("--output-length needs --input-length");
  }
  if (typed && !flags.trace.trace.empty()) {
    return UsageError(
        "--trace and --input-length both say how long requests are: give one "
        "of them");
  }
  if (typed && !question.contexts.empty()) {
    return UsageError(
        "--context and --input-length both say how long requests are: give "
        "one of them");
  }
  if (question.contexts.size() > 1) {
    return UsageError(absl::StrCat(
        "--context '", flags.capacity.contexts,
        "': block sizes are compared at one length; accepted: one length"));
  }
  return absl::OkStatus();
}

// --mamba-block-size, which a serve command may have said already.
absl::Status ReadStateBlock(const TuneFlags& flags,
                            CapacityQuestion& question) {
  if (flags.state_block.empty()) return absl::OkStatus();
  Tokens block;
  FlagReader reader;
  reader.Read("--mamba-block-size", flags.state_block, ParseTokens, &block);
  if (!reader.status().ok()) return reader.status();
  if (question.state_block.value_or(block) != block) {
    return UsageError(absl::StrCat("--mamba-block-size ", flags.state_block,
                                   " contradicts the serve command's ",
                                   question.state_block->value()));
  }
  question.state_block = block;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tokens>> LengthsOf(TraceReader& reader) {
  std::vector<Tokens> lengths;
  const absl::Status status =
      ForEachRow(reader, [&lengths](const TraceRequest& row) {
        const absl::int128 length =
            absl::int128(row.input_length) + row.output_length;
        lengths.push_back(length > kMaxLength.value()
                              ? kMaxLength
                              : Tokens(static_cast<int64_t>(length)));
      });
  if (!status.ok()) return status;
  if (lengths.empty()) {
    return absl::InvalidArgumentError("the trace has no rows");
  }
  return lengths;
}

// Rounded up, and at least 1.
Tokens Mean(const std::vector<Tokens>& lengths) {
  absl::int128 sum = 0;
  for (const Tokens length : lengths) sum += length.value();
  const auto count = static_cast<int64_t>(lengths.size());
  return std::max(Tokens(1),
                  Tokens(static_cast<int64_t>((sum + count - 1) / count)));
}

absl::StatusOr<Tokens> TypedLength(const TuneFlags& flags) {
  Tokens input, output;
  FlagReader reader;
  reader.Read("--input-length", flags.input_length, ParseTokens, &input);
  if (input < Tokens(1) || input > kMaxLength) {
    reader.Refuse("--input-length", flags.input_length,
                  "accepted: 1 to 2^40 tokens");
  }
  reader.Read("--output-length", flags.output_length, ParseTokens, &output);
  if (output < Tokens(0) || output > kMaxLength - input) {
    reader.Refuse("--output-length", flags.output_length,
                  "accepted: up to 2^40 tokens together with the input");
  }
  if (!reader.status().ok()) return reader.status();
  return input + output;
}

// The trace that --trace names; null without.
absl::StatusOr<std::unique_ptr<TraceReader>> Open(const TuneFlags& flags,
                                                  TraceOptions* options) {
  if (flags.trace.trace.empty()) return nullptr;
  absl::StatusOr<ReplayTraceOptions> read = TraceOptionsOf(flags.trace);
  if (!read.ok()) return read.status();
  *options = read->options;
  return OpenTrace(flags.trace.trace, *options);
}

// How long requests are: those of the trace, the one that is typed, or none.
absl::StatusOr<std::vector<Tokens>> ReadLengths(const TuneFlags& flags) {
  TraceOptions options;
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      Open(flags, &options);
  if (!reader.ok()) return reader.status();
  if (*reader != nullptr) return LengthsOf(**reader);
  if (flags.input_length.empty()) return std::vector<Tokens>();
  const absl::StatusOr<Tokens> length = TypedLength(flags);
  if (!length.ok()) return length.status();
  return std::vector<Tokens>{*length};
}

// One pass over the trace for each hit unit.
absl::Status AddHits(const TuneFlags& flags, BlockSizeComparison& comparison) {
  double measured_share = 1.0;
  FlagReader reader;
  reader.Read("--measure-last", flags.measure_last, ParseFraction,
              &measured_share);
  if (!reader.status().ok()) return reader.status();
  if (!comparison.from_trace || !comparison.prefix_caching) {
    return absl::OkStatus();
  }
  std::map<Tokens, std::vector<ComparedBlockSize*>> by_unit;
  for (ComparedBlockSize& size : comparison.sizes) {
    if (size.surveyed.accepted) {
      by_unit[size.surveyed.hit_unit].push_back(&size);
    }
  }
  for (const auto& [unit, sizes] : by_unit) {
    TraceOptions options;
    const absl::StatusOr<std::unique_ptr<TraceReader>> rows =
        Open(flags, &options);
    if (!rows.ok()) return rows.status();
    const absl::StatusOr<HitTrace> trace =
        ReadHitTrace(rows->get(), options, unit);
    if (!trace.ok()) return trace.status();
    const MissRatioCurve curve(*trace, measured_share);
    for (ComparedBlockSize* size : sizes) {
      size->hits = curve.At(size->hit_blocks);
    }
  }
  return absl::OkStatus();
}

absl::Status Tune(const TuneFlags& flags, const CommandContext& context) {
  const absl::StatusOr<std::vector<Tokens>> sizes = ReadSizes(flags);
  if (!sizes.ok()) return sizes.status();
  LoadedQuestion loaded;
  absl::Status status =
      LoadQuestion(flags.capacity, context.serve_arguments, &loaded);
  CapacityQuestion& question = loaded.question;
  if (status.ok()) status = CheckTraceFlags(flags);
  if (status.ok()) status = CheckLengthFlags(flags, question);
  if (status.ok()) status = ReadStateBlock(flags, question);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<Tokens>> lengths = ReadLengths(flags);
  if (!lengths.ok()) return lengths.status();
  if (question.contexts.empty() && !lengths->empty()) {
    question.contexts = {Mean(*lengths)};
  }

  absl::StatusOr<BlockSizeSurvey> survey = SurveyBlockSizes(question, *sizes);
  if (!survey.ok()) return survey.status();
  if (lengths->empty()) *lengths = {survey->length};
  BlockSizeComparison comparison =
      CompareBlockSizes(*std::move(survey), *std::move(lengths));
  comparison.from_trace = !flags.trace.trace.empty();
  status = AddHits(flags, comparison);
  if (!status.ok()) return status;

  const BlockSizeReport report = {.model = question.model->name,
                                  .trace = flags.trace.trace,
                                  .given = question.block_size,
                                  .comparison = std::move(comparison)};
  if (flags.capacity.json) {
    *context.out << BlockSizeJson(report).dump(2) << "\n";
  } else {
    PrintBlockSizes(report, context.units, *context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddTuneBlockSizeCommand(CLI::App& tune, CommandContext& context) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* command = AddCommand(
      tune, context, "block-size",
      "Every block size vLLM takes: tokens, padding, tail slack, hits, tables",
      ServeArguments::kAccepted,
      [flags, &context] { return Tune(*flags, context); });
  DeclareFlags(*command, flags->capacity);
  RemoveSingleSizeFlags(*command);
  DeclareHitTraceFlags(*command, flags->trace);
  command->get_option("--trace")->required(false);
  const auto add = [&](const char* name, std::string& value, const char* help,
                       const char* group) {
    command->add_option(name, value, help)->group(group);
  };
  add("--measure-last", flags->measure_last,
      "Count hits of only this share of the requests, the last ones (100%)",
      "Trace");
  add("--input-length", flags->input_length,
      "Tokens of a prompt, in the place of a trace", "Question");
  add("--output-length", flags->output_length,
      "Tokens of its output, with --input-length (0)", "Question");
  add("--block-sizes", flags->sizes,
      "Sizes to compare, beside the engine's own choice "
      "(1,8,16,32,64,128,256,512,1024)",
      "Question");
  add("--mamba-block-size", flags->state_block,
      "What blocks of --mamba-cache-mode all are multiples of", "Cache");
}

}  // namespace kvsim
