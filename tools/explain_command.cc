#include "tools/explain_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "sim/report.h"
#include "sim/request_story.h"
#include "sim/story_json.h"
#include "sim/story_text.h"
#include "tools/flag_reader.h"
#include "tools/replay_flags.h"
#include "tools/replay_run.h"
#include "tools/replay_sequences.h"
#include "tools/replay_setup.h"
#include "tools/replay_tokens.h"
#include "tools/run_watch.h"
#include "traces/token_stream.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

struct ExplainFlags {
  ReplayFlags replay;
  std::string request;
};

absl::Status UnknownRow(const ExplainFlags& flags, int64_t rows) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--request '", flags.request, "': the trace has ", FormatCount(rows),
      rows == 1 ? " row" : " rows", "; accepted: 0",
      rows > 1 ? absl::StrCat(" to ", rows - 1) : ""));
}

// What the asked row says; whether other rows share it is the replay's matter.
struct AskedRow {
  std::shared_ptr<const RequestTokens> tokens;
  int64_t input_length = 0, output_length = 0;
};

absl::StatusOr<AskedRow> ReadRow(const ExplainFlags& flags, int64_t id) {
  const absl::StatusOr<ReplayTraceOptions> options =
      TraceOptionsOf(flags.replay);
  if (!options.ok()) return options.status();
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.replay.trace, options->options);
  if (!reader.ok()) return reader.status();
  TokenStream stream(TokenOptionsOf(*options));
  int64_t rows = 0;
  for (TraceRequest row;;) {
    const absl::StatusOr<bool> more = (*reader)->Next(&row);
    if (!more.ok()) return more.status();
    if (!*more) return UnknownRow(flags, rows);
    ++rows;
    auto tokens = stream.Add(row);
    if (row.id == id)
      return AskedRow{tokens, row.input_length, row.output_length};
  }
}

int64_t UnitOf(const vllm::CacheUnits& units) {
  return units.fine_hits ? units.hash_tokens : units.scheduler_tokens;
}

bool HasRows(const vllm::CacheGroup& group) {
  return group.kind != vllm::GroupKind::kRecurrent &&
         group.kind != vllm::GroupKind::kCross;
}

StoryQuestion QuestionOf(const vllm::Settings& settings, int64_t id,
                         const AskedRow& row) {
  StoryQuestion question;
  question.id = static_cast<RequestId>(id);
  question.tokens = row.tokens;
  question.max_tokens = std::max<int64_t>(
      1,
      std::min(row.output_length, settings.max_model_len - row.input_length));
  question.key_tokens = settings.HashTokens();
  question.hit_unit = UnitOf(settings.Units());
  question.max_num_batched_tokens = settings.max_num_batched_tokens;
  question.long_prefill_token_threshold = settings.long_prefill_token_threshold;
  for (const vllm::CacheGroup& group : settings.groups) {
    question.group_block_tokens.push_back(HasRows(group) ? group.block_tokens
                                                         : 0);
  }
  return question;
}

std::string GroupInWords(const vllm::CacheGroup& group) {
  switch (group.kind) {
    case vllm::GroupKind::kFull:
      return "full attention";
    case vllm::GroupKind::kSlidingWindow:
      return absl::StrCat("window of ", FormatCount(group.window));
    case vllm::GroupKind::kChunkedLocal:
      return absl::StrCat("chunks of ", FormatCount(group.chunk));
    case vllm::GroupKind::kRecurrent:
      return "recurrent state";
    case vllm::GroupKind::kCross:
      return "cross attention";
  }
  return "";
}

StoryContext ContextOf(const ReplaySetup& setup) {
  const vllm::Settings& settings = setup.settings;
  StoryContext context;
  for (const vllm::CacheGroup& group : settings.groups) {
    context.groups.push_back(GroupInWords(group));
    context.group_blocks.push_back(group.block_tokens);
  }
  context.block_bytes = setup.bytes_known ? settings.BlockBytes() : 0;
  context.num_blocks = settings.num_gpu_blocks;
  context.hit_unit = UnitOf(settings.Units());
  context.max_num_seqs = settings.max_num_seqs;
  context.max_num_batched_tokens = settings.max_num_batched_tokens;
  context.max_model_len = settings.max_model_len;
  context.kept_by =
      settings.checkpoints.has_value()
          ? absl::StrCat("--checkpoint-policy ",
                         settings.checkpoints->InWords())
      : settings.retention_interval.has_value()
          ? absl::StrCat("--retention-interval ", *settings.retention_interval)
          : "--retention-interval dense";
  return context;
}

absl::StatusOr<int64_t> ParseRow(const ExplainFlags& flags) {
  std::optional<int64_t> id;
  FlagReader reader;
  reader.Read("--request", flags.request, ParseCount, &id);
  if (!reader.status().ok()) return reader.status();
  return *id;
}

absl::Status RefuseSequences(const ReplayFlags& flags) {
  const absl::StatusOr<Sequences> sequences = SequencesOf(flags);
  if (!sequences.ok() || sequences->width == 1) return sequences.status();
  const bool beams = sequences->kind == Sequences::Kind::kBeams;
  return absl::InvalidArgumentError(
      absl::StrCat(beams ? "--beam-width '" : "--samples '",
                   beams ? flags.beam_width : flags.samples,
                   "': a story is of one sequence; accepted: 1"));
}

absl::Status Explain(const ExplainFlags& flags, const CommandContext& context) {
  absl::Status status = CheckModes(flags.replay);
  status.Update(RefuseSequences(flags.replay));
  if (!status.ok()) return status;
  const absl::StatusOr<int64_t> id = ParseRow(flags);
  if (!id.ok()) return id.status();
  const absl::StatusOr<ReplaySetup> setup = SetUpReplay(flags.replay);
  if (!setup.ok()) return setup.status();
  const absl::StatusOr<AskedRow> row = ReadRow(flags, *id);
  if (!row.ok()) return row.status();

  RequestStory story(QuestionOf(setup->settings, *id, *row));
  std::optional<RunWatch> watch;
  RunListener* listener = context.listener;
  if (listener == nullptr) listener = &watch.emplace(context.err);
  const absl::StatusOr<Report> report =
      RunReplay(flags.replay, listener, &story, &story);
  if (!report.ok()) return report.status();
  for (const std::string& warning : report->warnings()) {
    *context.err << "warning: " << warning << "\n";
  }
  if (!story.story().arrived) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--request '", flags.request, "': the replay ended before it arrived"));
  }
  const StoryContext words = ContextOf(*setup);
  *context.out << (flags.replay.json
                       ? StoryJson(story.story(), words).dump(2) + "\n"
                       : StoryText(story.story(), words, context.units));
  return absl::OkStatus();
}

}  // namespace

void AddExplainCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* command = AddCommand(
      app, context, "explain",
      "One request of a replay: what it hit and missed, where it waited, why",
      ServeArguments::kRefused,
      [flags, &context] { return Explain(*flags, context); });
  command
      ->add_option("--request", flags->request,
                   "The request: its row of the trace, from 0")
      ->required();
  command->add_flag("--json", flags->replay.json, "JSON instead of text");
  DeclareRunFlags(*command, flags->replay);
}

}  // namespace kvsim
