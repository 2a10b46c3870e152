#include "engines/plan_figures.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "engines/engine_settings.h"

namespace kvsim {
namespace {

using Value = std::variant<int64_t, double, std::string>;

// Groups that are alike in everything a figure says.
struct GroupKind {
  std::string kind;
  int64_t count = 0;
  const CacheGroup* group = nullptr;
};

bool Alike(const CacheGroup& a, const CacheGroup& b) {
  return a.kind == b.kind && a.layers.size() == b.layers.size() &&
         a.num_tensors == b.num_tensors && a.page == b.page &&
         a.page_padding == b.page_padding && a.slot_padding == b.slot_padding &&
         a.demand.block_tokens == b.demand.block_tokens;
}

std::vector<GroupKind> KindsOf(const PoolPlan& pool) {
  std::vector<GroupKind> kinds;
  for (const CacheGroup& group : pool.groups) {
    const auto same = std::find_if(
        kinds.begin(), kinds.end(),
        [&](const GroupKind& kind) { return Alike(*kind.group, group); });
    if (same != kinds.end()) {
      ++same->count;
    } else {
      kinds.push_back({group.kind, 1, &group});
    }
  }
  return kinds;
}

class FigureList {
 public:
  void Add(std::string key, std::string name, FigureUnit unit, Value value) {
    figures_.push_back(
        {std::move(key), std::move(name), of_, unit, std::move(value)});
  }
  void Bytes(std::string key, std::string name, kvsim::Bytes bytes) {
    Add(std::move(key), std::move(name), FigureUnit::kBytes, bytes.value());
  }
  void Blocks(std::string key, std::string name, kvsim::Blocks blocks) {
    Add(std::move(key), std::move(name), FigureUnit::kBlocks, blocks.value());
  }
  void Tokens(std::string key, std::string name, kvsim::Tokens tokens) {
    Add(std::move(key), std::move(name), FigureUnit::kTokens, tokens.value());
  }
  void Text(std::string key, std::string name, std::string text) {
    Add(std::move(key), std::move(name), FigureUnit::kText, std::move(text));
  }
  void SetOf(std::string of) { of_ = std::move(of); }

  std::vector<PlanFigure> Take() { return std::move(figures_); }

 private:
  std::string of_;
  std::vector<PlanFigure> figures_;
};

std::string BackendText(const CapacityQuestion& question) {
  const std::string asked =
      question.attention_backend.empty()
          ? SettingsOr<sglang::Settings>(question.engine_settings)
                .attention_backend
          : question.attention_backend;
  return asked.empty() ? "the engine's choice" : asked;
}

void AddSettings(const CapacityQuestion& question, const CapacityAnswer& answer,
                 FigureList& list) {
  list.Text("engine", "engine",
            absl::StrCat(answer.engine, " (", answer.engine_version, ")"));
  list.Text("model", "model", question.model->name);
  list.Text("split", "ranks of one engine", answer.parallel.ToString());
  list.Add("num_gpus", "GPUs", FigureUnit::kCount, answer.num_gpus);
  list.Text("attention_backend", "attention backend", BackendText(question));
  list.Text("kv_cache_dtype", "cache dtype", answer.kv_cache_dtype);
  list.Tokens("max_model_len", "longest request", answer.pool.max_model_len);
  list.Add("max_num_batched_tokens", "tokens of a batch", FigureUnit::kTokens,
           answer.max_num_batched_tokens);
  list.Add("max_num_seqs", "most running requests", FigureUnit::kRequests,
           answer.max_num_seqs);
}

void AddPool(const PoolPlan& pool, FigureList& list) {
  list.Bytes("kv_memory_bytes", "KV memory per rank",
             pool.ranks[pool.binding_rank].kv_memory);
  list.Tokens("block_tokens", "tokens of a block", pool.block_tokens);
  list.Tokens("scheduler_block_tokens", "tokens of a prefix hit",
              pool.scheduler_block_tokens);
  list.Bytes("page_bytes", "page", pool.page);
  list.Bytes("bytes_per_block", "block", pool.bytes_per_block);
  list.Blocks("num_blocks", "blocks", pool.num_blocks);
  list.Blocks("reserved_blocks", "blocks never handed out",
              pool.reserved_blocks);
  list.Bytes("remainder_bytes", "memory left over",
             pool.ranks[pool.binding_rank].remainder);
  for (const SidePool& side : pool.side_pools) {
    const std::string key = absl::StrCat("side_pools.", side.name);
    list.Blocks(key + ".num_blocks", absl::StrCat("blocks for ", side.name),
                side.num_blocks);
    list.Bytes(key + ".bytes_per_block", absl::StrCat("block for ", side.name),
               side.bytes_per_block);
  }
}

// "3 groups of 7 layers in 7 slots".
std::string LayoutText(const GroupKind& kind) {
  return absl::StrCat(kind.count, kind.count == 1 ? " group" : " groups",
                      " of ", kind.group->layers.size(), " layers in ",
                      kind.group->num_tensors, " slots");
}

void AddGroups(const PoolPlan& pool, FigureList& list) {
  list.Text("grouping", "grouping", pool.rule);
  list.Add("groups", "cache groups", FigureUnit::kCount,
           static_cast<int64_t>(pool.groups.size()));
  std::map<std::string, int> seen;
  for (const GroupKind& kind : KindsOf(pool)) {
    const int ordinal = ++seen[kind.kind];
    const std::string key = absl::StrCat("groups.", kind.kind, ".", ordinal);
    const std::string name =
        ordinal == 1 ? kind.kind : absl::StrCat(kind.kind, " ", ordinal);
    const CacheGroup& group = *kind.group;
    list.Text(key + ".layout", name, LayoutText(kind));
    list.Bytes(key + ".page", name + ": page", group.page);
    list.Bytes(key + ".page_padding", name + ": padding in pages",
               group.page_padding);
    list.Bytes(key + ".slot_padding", name + ": padding in slots",
               group.slot_padding);
    list.Blocks(
        key + ".blocks_per_request", name + ": blocks of the longest request",
        WorstCaseBlocks(group.demand, pool.max_model_len, pool.in_flight));
  }
}

void AddRequests(const CapacityAnswer& answer, FigureList& list) {
  const PoolPlan& pool = answer.pool;
  list.Tokens("kv_cache_tokens", "pool tokens", pool.kv_cache_tokens);
  list.Blocks("blocks_per_request", "blocks of the longest request",
              pool.blocks_per_request);
  for (size_t i = 0; i < answer.contexts.size(); ++i) {
    const Concurrency& count = answer.contexts[i].count;
    const std::string key = absl::StrCat("contexts.", i + 1, ".");
    list.SetOf(absl::StrCat(FormatCount(count.length.value()), " tokens"));
    list.Add(key + "engine_line", "engine-line concurrency",
             FigureUnit::kRequests, count.engine_line);
    list.Add(key + "resident", "resident", FigureUnit::kRequests,
             count.resident);
    list.Add(key + "admitted", "admitted", FigureUnit::kRequests,
             count.admitted);
    list.Add(key + "ideal", "ideal concurrency", FigureUnit::kRequests,
             count.ideal);
  }
  list.SetOf("");
}

void AddCosts(const CapacityAnswer& answer, FigureList& list) {
  list.Bytes("fixed_bytes_per_request", "fixed cost of a request",
             FixedBytes(answer.pool));
  list.Blocks("fixed_blocks_per_request", "the same in blocks",
              answer.fixed_blocks);
  list.Blocks("blocks_of_one_token_request", "blocks of a 1-token request",
              answer.one_token_blocks);
  list.Add("bytes_per_token", "bytes per token, one sequence",
           FigureUnit::kBytes, answer.sequence_bytes_per_token);
  list.Add("rank_bytes_per_token", "bytes per token, this rank's pool",
           FigureUnit::kBytes, answer.rank_bytes_per_token);
}

void AddLines(const PoolPlan& pool, FigureList& list) {
  list.Text("refused", "start",
            pool.refused.has_value()
                ? absl::StrCat("REFUSED: ", pool.refused->message)
                : "starts");
  for (size_t i = 0; i < pool.log_lines.size(); ++i) {
    list.Text(absl::StrCat("log_lines.", i + 1),
              absl::StrCat("log line ", i + 1), pool.log_lines[i]);
  }
}

std::string Signed(std::string text, bool negative) {
  return absl::StrCat(negative ? "-" : "+", text);
}

// |difference| with its unit.
std::string AmountText(FigureUnit unit, double amount, ByteUnits units) {
  PlanFigure figure;
  figure.unit = unit;
  figure.value = amount;
  return ValueText(figure, units);
}

std::string IntegerText(FigureUnit unit, int64_t value, ByteUnits units) {
  return unit == FigureUnit::kBytes ? FormatBytes(Bytes(value), units)
                                    : FormatCount(value);
}

}  // namespace

std::vector<PlanFigure> FiguresOf(const CapacityQuestion& question,
                                  const CapacityAnswer& answer) {
  FigureList list;
  AddSettings(question, answer, list);
  AddPool(answer.pool, list);
  AddGroups(answer.pool, list);
  AddRequests(answer, list);
  AddCosts(answer, list);
  AddLines(answer.pool, list);
  return list.Take();
}

std::string ValueText(const PlanFigure& figure, ByteUnits units) {
  if (const auto* text = std::get_if<std::string>(&figure.value)) return *text;
  if (const auto* count = std::get_if<int64_t>(&figure.value)) {
    return IntegerText(figure.unit, *count, units);
  }
  const double value = std::get<double>(figure.value);
  return figure.unit == FigureUnit::kBytes ? absl::StrFormat("%.6g B", value)
                                           : absl::StrFormat("%.2fx", value);
}

std::string DifferenceText(const PlanFigure& a, const PlanFigure& b,
                           ByteUnits units) {
  if (a.SameValue(b)) return "";
  std::string text;
  double from = 0, to = 0;
  if (std::holds_alternative<int64_t>(a.value) &&
      std::holds_alternative<int64_t>(b.value)) {
    const int64_t before = std::get<int64_t>(a.value);
    const int64_t after = std::get<int64_t>(b.value);
    from = static_cast<double>(before);
    to = static_cast<double>(after);
    const bool less = after < before;
    text = Signed(
        IntegerText(a.unit, less ? before - after : after - before, units),
        less);
  } else if (std::holds_alternative<double>(a.value) &&
             std::holds_alternative<double>(b.value)) {
    from = std::get<double>(a.value);
    to = std::get<double>(b.value);
    text = Signed(AmountText(a.unit, to < from ? from - to : to - from, units),
                  to < from);
  } else {
    return "differs";
  }
  if (from == 0 || to == 0) return text;
  return absl::StrCat(text, absl::StrFormat(" (%.4gx)", to / from));
}

}  // namespace kvsim
