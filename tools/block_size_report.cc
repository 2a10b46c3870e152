#include "tools/block_size_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text_table.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

// Tokens between the states that one request keeps; without prefix caching it
// has one for its whole length.
Tokens StateBlock(const BlockSizeComparison& comparison,
                  const ComparedBlockSize& size) {
  const PoolPlan& pool = size.surveyed.answer.pool;
  return comparison.state_mode == StateMode::kNone ? pool.max_model_len
                                                   : size.surveyed.block;
}

int64_t LostTokens(const BlockSizeComparison& comparison,
                   const ComparedBlockSize& size) {
  return FinestSize(comparison)->hits->hit_tokens - size.hits->hit_tokens;
}

// What the plan of every accepted size notes, then what single ones do.
std::vector<std::string> Notes(const BlockSizeComparison& comparison) {
  std::vector<std::string> common, single;
  const auto has = [](const ComparedBlockSize& size, const std::string& note) {
    const std::vector<std::string>& notes = size.surveyed.answer.warnings;
    return !size.surveyed.accepted ||
           std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  for (const ComparedBlockSize& size : comparison.sizes) {
    if (!size.surveyed.accepted) continue;
    for (const std::string& note : size.surveyed.answer.warnings) {
      const bool everywhere = std::all_of(
          comparison.sizes.begin(), comparison.sizes.end(),
          [&](const ComparedBlockSize& other) { return has(other, note); });
      const bool known =
          std::find(common.begin(), common.end(), note) != common.end();
      if (everywhere && !known) common.push_back(note);
      if (!everywhere) {
        single.push_back(absl::StrCat(size.surveyed.asked.value(), ": ", note));
      }
    }
  }
  common.insert(common.end(), single.begin(), single.end());
  return common;
}

// --- text ------------------------------------------------------------------------

void PrintHeader(const BlockSizeReport& report, std::ostream& out) {
  const BlockSizeComparison& comparison = report.comparison;
  out << "Block sizes of " << report.model;
  if (const ComparedBlockSize* size = FinestSize(comparison)) {
    const CapacityAnswer& answer = size->surveyed.answer;
    out << " (" << answer.parallel.ToString() << "), " << answer.engine << " ("
        << answer.engine_version << "), cache dtype " << answer.kv_cache_dtype;
  }
  out << "\n";
  if (comparison.from_trace) {
    out << "  tail slack and hits of the "
        << FormatCount(static_cast<int64_t>(comparison.lengths.size()))
        << " requests of " << report.trace << "\n";
  } else {
    out << "  tail slack of a request of "
        << FormatCount(comparison.lengths[0].value()) << " tokens\n";
  }
}

std::string MarkOf(const BlockSizeReport& report,
                   const SurveyedBlockSize& size) {
  std::vector<std::string> marks;
  if (report.given == size.asked) marks.push_back("given");
  if (size.is_default) marks.push_back("engine's choice");
  if (!size.accepted) marks.push_back("refused");
  return absl::StrJoin(marks, ", ");
}

std::vector<std::string> PoolRow(const BlockSizeReport& report,
                                 const ComparedBlockSize& size,
                                 ByteUnits units) {
  const SurveyedBlockSize& surveyed = size.surveyed;
  if (!surveyed.accepted) {
    std::vector<std::string> row(10);
    row[0] = FormatCount(surveyed.asked.value());
    row[9] = MarkOf(report, surveyed);
    return row;
  }
  const PoolPlan& pool = surveyed.answer.pool;
  const auto requests = static_cast<int64_t>(report.comparison.lengths.size());
  return {FormatCount(surveyed.asked.value()),
          FormatCount(surveyed.block.value()),
          FormatCount(pool.num_blocks.value()),
          FormatCount(pool.kv_cache_tokens.value()),
          FormatCount(surveyed.answer.contexts[0].count.resident),
          FormatBytes(surveyed.padding, units),
          FormatRatio(size.slack_tokens, requests, 1),
          FormatBytes(size.slack / requests, units),
          FormatBytes(surveyed.table, units),
          MarkOf(report, surveyed)};
}

void PrintPools(const BlockSizeReport& report, ByteUnits units,
                std::ostream& out) {
  std::vector<Align> columns(9, Align::kRight);
  columns.push_back(Align::kLeft);
  TextTable table(std::move(columns));
  const std::string length = FormatCount(report.comparison.length.value());
  table.AddRow({"asked", "block", "", "pool", "resident", "padding", "tail",
                "slack", "block"});
  table.AddRow({"tokens", "tokens", "blocks", "tokens", "of " + length,
                "a request", "tokens", "bytes", "tables"});
  for (const ComparedBlockSize& size : report.comparison.sizes) {
    table.AddRow(PoolRow(report, size, units));
  }
  out << "\n" << table.Print("  ");
}

void PrintHits(const BlockSizeReport& report, std::ostream& out) {
  const BlockSizeComparison& comparison = report.comparison;
  const ComparedBlockSize* finest = FinestSize(comparison);
  if (finest == nullptr || !finest->hits.has_value()) return;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.AddRow({"asked", "hit unit", "units", "hit", "hit", "lost"});
  table.AddRow({"tokens", "tokens", "in the pool", "tokens", "rate",
                absl::StrCat("to ", finest->surveyed.hit_unit.value())});
  for (const ComparedBlockSize& size : comparison.sizes) {
    if (!size.surveyed.accepted) continue;
    table.AddRow(
        {FormatCount(size.surveyed.asked.value()),
         FormatCount(size.surveyed.hit_unit.value()),
         FormatCount(size.hit_blocks), FormatCount(size.hits->hit_tokens),
         FormatPercent(size.hits->hit_tokens, size.hits->measured_tokens, 2),
         FormatCount(LostTokens(comparison, size))});
  }
  out << "\nPrompt tokens served from an LRU cache of the pool's size, nothing "
         "pinned\n"
      << table.Print("  ");
  if (comparison.hits_are_bound) {
    out << "  An upper bound, rounded down to the hit unit: the pool is taken "
           "as if all of it\n  were full history; windows and states must be "
           "there too for a hit.\n";
  }
}

void PrintStates(const BlockSizeComparison& comparison, std::ostream& out) {
  if (!comparison.state_mode.has_value()) return;
  if (FinestSize(comparison) == nullptr) return;
  const StateMode mode = *comparison.state_mode;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"asked", "block", "mamba block", "match unit"});
  for (const ComparedBlockSize& size : comparison.sizes) {
    if (!size.surveyed.accepted) continue;
    table.AddRow({FormatCount(size.surveyed.asked.value()),
                  FormatCount(size.surveyed.block.value()),
                  FormatCount(StateBlock(comparison, size).value()),
                  FormatCount(size.surveyed.hit_unit.value())});
  }
  out << "\nRecurrent states, --mamba-cache-mode " << StateModeName(mode)
      << " (tokens)\n"
      << table.Print("  ");
  if (mode == StateMode::kNone) {
    out << "  A request has one state for its whole length, and no prefix is "
           "hit.\n";
    return;
  }
  out << (mode == StateMode::kAlign
              ? "  mamba block: where a state can be kept; mode align makes it "
                "attention's block.\n"
              : "  mamba block: a state is kept for every block; "
                "--mamba-block-size is what blocks\n  are multiples of.\n")
      << "  match unit: a hit ends on a multiple of it, so what a prefix has "
         "beyond one is\n  recomputed, and a prompt no longer than it hits "
         "nothing.\n";
  if (mode == StateMode::kAlign) {
    out << "  --prefix-match-unit N, a divisor of every group's block, lets a "
           "hit end inside\n  a block, at one copied block; it is not counted "
           "here.\n";
  }
}

void PrintBest(const BlockSizeComparison& comparison, ByteUnits units,
               std::ostream& out) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft});
  for (const BestView& view : BestViews(comparison, units)) {
    table.AddRow({view.view, absl::StrJoin(view.sizes, ", "), view.reason});
  }
  out << "\nBest\n"
      << table.Print("  ") << "\nRecommended: " << Advise(comparison).text
      << "\n";
}

// The notes of sizes in the order of the sizes, each with all that have it.
std::vector<std::pair<std::string, std::vector<int64_t>>> SizeNotes(
    const BlockSizeComparison& comparison) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> notes;
  for (const ComparedBlockSize& size : comparison.sizes) {
    const std::string& note = size.surveyed.note;
    if (note.empty()) continue;
    auto known =
        std::find_if(notes.begin(), notes.end(),
                     [&](const auto& other) { return other.first == note; });
    if (known == notes.end()) known = notes.insert(notes.end(), {note, {}});
    known->second.push_back(size.surveyed.asked.value());
  }
  return notes;
}

void PrintNotes(const BlockSizeComparison& comparison, std::ostream& out) {
  out << "\nNotes\n";
  for (const auto& [note, asked] : SizeNotes(comparison)) {
    out << "  - " << absl::StrJoin(asked, ", ") << ": " << note << "\n";
  }
  for (const std::string& note : Notes(comparison)) {
    out << "  - " << note << "\n";
  }
  out << "  - these sizes were compared; --block-sizes names others\n";
}

// --- JSON ------------------------------------------------------------------------

void AddHits(const BlockSizeComparison& comparison,
             const ComparedBlockSize& size, Json& json) {
  json["hit_blocks"] = nullptr;
  json["hit_tokens"] = nullptr;
  json["measured_tokens"] = nullptr;
  json["lost_hit_tokens"] = nullptr;
  if (!size.hits.has_value()) return;
  json["hit_blocks"] = size.hit_blocks;
  json["hit_tokens"] = size.hits->hit_tokens;
  json["measured_tokens"] = size.hits->measured_tokens;
  json["lost_hit_tokens"] = LostTokens(comparison, size);
}

Json SizeJson(const BlockSizeReport& report, const ComparedBlockSize& size) {
  const BlockSizeComparison& comparison = report.comparison;
  const SurveyedBlockSize& surveyed = size.surveyed;
  Json json = {{"asked_tokens", surveyed.asked.value()},
               {"default", surveyed.is_default},
               {"given", report.given == surveyed.asked},
               {"accepted", surveyed.accepted},
               {"note", surveyed.note}};
  if (!surveyed.accepted) return json;
  const PoolPlan& pool = surveyed.answer.pool;
  json["block_tokens"] = surveyed.block.value();
  json["mamba_block_tokens"] = nullptr;
  if (comparison.state_mode.has_value()) {
    json["mamba_block_tokens"] = StateBlock(comparison, size).value();
  }
  json["hit_unit_tokens"] = surveyed.hit_unit.value();
  json["num_blocks"] = pool.num_blocks.value();
  json["bytes_per_block"] = pool.bytes_per_block.value();
  json["kv_cache_tokens"] = pool.kv_cache_tokens.value();
  json["max_concurrency"] = pool.max_concurrency;
  json["resident"] = surveyed.answer.contexts[0].count.resident;
  json["padding_bytes"] = surveyed.padding.value();
  json["tail_slack_tokens"] = size.slack_tokens;
  json["tail_slack_bytes"] = size.slack.value();
  json["block_table_bytes"] = surveyed.table.value();
  AddHits(comparison, size, json);
  return json;
}

void AddHead(const BlockSizeReport& report, Json& json) {
  const BlockSizeComparison& comparison = report.comparison;
  json["model"] = report.model;
  json["engine"] = "vllm";
  json["engine_version"] = nullptr;
  json["kv_cache_dtype"] = nullptr;
  if (const ComparedBlockSize* size = FinestSize(comparison)) {
    json["engine_version"] = size->surveyed.answer.engine_version;
    json["kv_cache_dtype"] = size->surveyed.answer.kv_cache_dtype;
  }
  json["trace"] = nullptr;
  if (comparison.from_trace) json["trace"] = report.trace;
  json["length_tokens"] = comparison.length.value();
  json["lengths"] = comparison.lengths.size();
  json["prefix_caching"] = comparison.prefix_caching;
  json["state_mode"] = nullptr;
  if (comparison.state_mode.has_value()) {
    json["state_mode"] = StateModeName(*comparison.state_mode);
  }
  json["hits_are_upper_bound"] = comparison.hits_are_bound;
}

}  // namespace

void PrintBlockSizes(const BlockSizeReport& report, ByteUnits units,
                     std::ostream& out) {
  PrintHeader(report, out);
  PrintPools(report, units, out);
  PrintHits(report, out);
  PrintStates(report.comparison, out);
  PrintBest(report.comparison, units, out);
  PrintNotes(report.comparison, out);
}

Json BlockSizeJson(const BlockSizeReport& report) {
  Json json;
  AddHead(report, json);
  json["sizes"] = Json::array();
  for (const ComparedBlockSize& size : report.comparison.sizes) {
    json["sizes"].push_back(SizeJson(report, size));
  }
  json["best"] = Json::array();
  for (const BestView& view :
       BestViews(report.comparison, ByteUnits::kBinary)) {
    json["best"].push_back(
        {{"view", view.view}, {"sizes", view.sizes}, {"reason", view.reason}});
  }
  const BlockSizeAdvice advice = Advise(report.comparison);
  json["recommendation"] = {{"block_size", nullptr}, {"text", advice.text}};
  if (advice.size.has_value()) {
    json["recommendation"]["block_size"] = advice.size->value();
  }
  json["notes"] = Notes(report.comparison);
  return json;
}

}  // namespace kvsim
