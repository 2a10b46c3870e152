#include "tools/mrc_command.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "sim/miss_ratio_curve.h"
#include "tools/flag_reader.h"
#include "tools/replay_flags.h"
#include "tools/replay_hits.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

struct MrcFlags {
  ReplayFlags replay;  // the trace's and the block size
  std::string sizes, csv;
};

// What is asked for, read from the flags.
struct MrcQuestion {
  Tokens block_size{16};
  int64_t bytes_per_token = 0;  // 0: not known
  double measured_share = 1.0;
  std::vector<int64_t> blocks;  // empty: powers of two

  int64_t block_bytes() const { return bytes_per_token * block_size.value(); }
};

// A count of blocks, or bytes when a token's bytes are known.
absl::StatusOr<int64_t> ParseSize(absl::string_view text,
                                  const MrcQuestion& question) {
  const absl::StatusOr<int64_t> count = ParseCount(text);
  if (count.ok()) return count;
  const absl::StatusOr<Bytes> bytes = ParseBytes(text);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        "accepted: counts of blocks (4096) or bytes (64GiB)");
  }
  if (question.bytes_per_token == 0) {
    return absl::InvalidArgumentError(
        "bytes need --kv-bytes-per-token; without it give counts of blocks");
  }
  return bytes->value() / question.block_bytes();
}

absl::StatusOr<MrcQuestion> ReadQuestion(const MrcFlags& flags) {
  constexpr int64_t kMostBytes = int64_t{1} << 31;
  MrcQuestion question;
  FlagReader reader;
  const ReplayFlags& f = flags.replay;
  ReadHitScope(f, &reader, &question.block_size, &question.measured_share);
  reader.Read("--kv-bytes-per-token", f.kv_bytes_per_token, ParseCount,
              &question.bytes_per_token);
  if (!f.kv_bytes_per_token.empty() &&
      (question.bytes_per_token < 1 || question.bytes_per_token > kMostBytes)) {
    reader.Refuse("--kv-bytes-per-token", f.kv_bytes_per_token,
                  "accepted: 1 to 2^31 bytes");
  }
  if (!reader.status().ok()) return reader.status();
  for (const absl::string_view text :
       absl::StrSplit(flags.sizes, ',', absl::SkipEmpty())) {
    const absl::StatusOr<int64_t> blocks = ParseSize(text, question);
    if (!blocks.ok() || *blocks < 1) {
      reader.Refuse(
          "--sizes", text,
          blocks.ok() ? "less than one block" : blocks.status().message());
      return reader.status();
    }
    question.blocks.push_back(*blocks);
  }
  return question;
}

std::vector<HitResult> Points(const MissRatioCurve& curve,
                              MrcQuestion* question) {
  std::vector<HitResult> points;
  if (question->blocks.empty()) {
    for (const int64_t blocks : curve.Knots()) {
      // Sizes that serve nothing say nothing.
      if (curve.At(blocks).hit_tokens > 0) question->blocks.push_back(blocks);
    }
  }
  for (const int64_t blocks : question->blocks) {
    points.push_back(curve.At(blocks));
  }
  return points;
}

// --- what comes out --------------------------------------------------------------

std::string Text(const MrcQuestion& question, const MissRatioCurve& curve,
                 const std::vector<HitResult>& points, ByteUnits units) {
  const HitResult all = curve.At(curve.saturating_blocks());
  const std::string size =
      absl::StrCat("blocks of ", question.block_size.value());
  std::string text = absl::StrCat(
      "Hits of an LRU prefix cache of every size (exact, one pass)\n  ",
      FormatCount(all.measured_rows), " of ", FormatCount(all.rows),
      " requests measured, ", FormatCount(all.measured_tokens),
      " prompt tokens\n\n");
  using Align = TextTable::Align;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.AddRow({size, "tokens", question.bytes_per_token > 0 ? "memory" : "",
                "hit tokens", "hit rate", "miss ratio"});
  for (size_t i = 0; i < points.size(); ++i) {
    const HitResult& point = points[i];
    const int64_t blocks = question.blocks[i];
    table.AddRow(
        {FormatCount(blocks), FormatCount(blocks * question.block_size.value()),
         question.bytes_per_token > 0
             ? FormatBytes(Bytes(blocks * question.block_bytes()), units)
             : "",
         FormatCount(point.hit_tokens),
         FormatPercent(point.hit_tokens, point.measured_tokens, 2),
         FormatRatio(point.measured_tokens - point.hit_tokens,
                     std::max<int64_t>(point.measured_tokens, 1), 4)});
  }
  absl::StrAppend(
      &text, table.Print("  "), "\n  No cache hits more than ",
      FormatPercent(all.hit_tokens, all.measured_tokens, 2), "; ",
      FormatCount(curve.saturating_blocks()),
      " blocks reach it.\n  Nothing is pinned here: an engine that also holds "
      "its running requests\n  needs their blocks on top.\n");
  return text;
}

std::string JsonText(const MrcQuestion& question, const MissRatioCurve& curve,
                     const std::vector<HitResult>& points) {
  const HitResult all = curve.At(curve.saturating_blocks());
  nlohmann::ordered_json json = {
      {"policy", "lru"},
      {"exact", true},
      {"block_tokens", question.block_size.value()},
      {"rows", all.rows},
      {"measured_rows", all.measured_rows},
      {"measured_tokens", all.measured_tokens},
      {"saturating_blocks", curve.saturating_blocks()},
      {"points", nlohmann::ordered_json::array()}};
  for (size_t i = 0; i < points.size(); ++i) {
    nlohmann::ordered_json point = {
        {"blocks", question.blocks[i]},
        {"tokens", question.blocks[i] * question.block_size.value()},
        {"hit_blocks", points[i].hit_blocks},
        {"hit_tokens", points[i].hit_tokens},
        {"hit_rows", points[i].hit_rows}};
    if (question.bytes_per_token > 0) {
      point["bytes"] = question.blocks[i] * question.block_bytes();
    }
    json["points"].push_back(std::move(point));
  }
  return json.dump(2) + "\n";
}

absl::Status WriteCsv(const std::string& path, const MrcQuestion& question,
                      const std::vector<HitResult>& points) {
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OutputFile::Open(path);
  if (!file.ok()) return file.status();
  (*file)->Write("blocks,tokens,bytes,hit_blocks,hit_tokens,measured_tokens\n");
  for (size_t i = 0; i < points.size(); ++i) {
    const int64_t blocks = question.blocks[i];
    (*file)->Write(
        absl::StrCat(blocks, ",", blocks * question.block_size.value(), ",",
                     question.bytes_per_token > 0
                         ? absl::StrCat(blocks * question.block_bytes())
                         : "",
                     ",", points[i].hit_blocks, ",", points[i].hit_tokens, ",",
                     points[i].measured_tokens, "\n"));
  }
  return (*file)->Close();
}

absl::Status Mrc(const MrcFlags& flags, const CommandContext& context) {
  absl::StatusOr<MrcQuestion> question = ReadQuestion(flags);
  if (!question.ok()) return question.status();
  const absl::StatusOr<ReplayTraceOptions> options =
      TraceOptionsOf(flags.replay);
  if (!options.ok()) return options.status();
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.replay.trace, options->options);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<HitTrace> trace =
      ReadHitTrace(reader->get(), options->options, question->block_size);
  if (!trace.ok()) return trace.status();
  const MissRatioCurve curve(*trace, question->measured_share);
  const std::vector<HitResult> points = Points(curve, &*question);
  if (!flags.csv.empty()) {
    const absl::Status status = WriteCsv(flags.csv, *question, points);
    if (!status.ok()) return status;
  }
  *context.out << (flags.replay.json
                       ? JsonText(*question, curve, points)
                       : Text(*question, curve, points, context.units));
  return absl::OkStatus();
}

}  // namespace

void AddMrcCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<MrcFlags>();
  CLI::App* command = AddCommand(
      app, context, "mrc",
      "Miss-ratio curve: what a prefix cache of every size would hit",
      ServeArguments::kRefused,
      [flags, &context] { return Mrc(*flags, context); });
  DeclareHitTraceFlags(*command, flags->replay);
  const auto add = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help);
  };
  add("--block-size", flags->replay.block_size, "Tokens per block (16)");
  add("--measure-last", flags->replay.measure_last,
      "Count only this share of the requests, the last ones: 50% (100%)");
  add("--kv-bytes-per-token", flags->replay.kv_bytes_per_token,
      "Bytes of one token, to give sizes in memory");
  add("--sizes", flags->sizes,
      "Blocks or bytes: 4096,65536 or 64GiB,1TiB (powers of two)");
  add("--csv", flags->csv, "Also write the points to this file");
  command->add_flag("--json", flags->replay.json, "JSON instead of text");
}

}  // namespace kvsim
