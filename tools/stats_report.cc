#include "tools/stats_report.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"
#include "base/text_table.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;
using Print = std::function<std::string(int64_t)>;

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Time(int64_t time_ns) { return FormatDuration(SimTime(time_ns)); }

// --- JSON and CSV ---

Json SummaryJson(const ValueSummary& values) {
  Json buckets = Json::array();
  for (const Bucket& bucket : values.buckets) {
    buckets.push_back({{"low", bucket.low}, {"count", bucket.count}});
  }
  return {
      {"count", values.count}, {"total", values.total}, {"mean", values.mean()},
      {"min", values.min},     {"p50", values.p50},     {"p90", values.p90},
      {"p99", values.p99},     {"max", values.max},     {"buckets", buckets}};
}

Json TreeJson(const PrefixTreeSummary& tree, int64_t input_tokens) {
  Json hot = Json::array();
  for (const HotPrefix& prefix : tree.hot) {
    hot.push_back({{"rows", prefix.rows},
                   {"tokens", prefix.tokens},
                   {"shared_tokens", prefix.shared_tokens},
                   {"saved_tokens", prefix.saved_tokens},
                   {"scope", prefix.scope},
                   {"last_id", prefix.last_id}});
  }
  return {{"nodes", tree.nodes},
          {"roots", tree.roots},
          {"shared_nodes", tree.shared_nodes},
          {"branching_nodes", tree.branching_nodes},
          {"max_children", tree.max_children},
          {"max_depth_blocks", tree.max_depth},
          {"hit_blocks", tree.hit_blocks},
          {"hit_tokens", tree.hit_tokens},
          {"ceiling", Share(tree.hit_tokens, input_tokens)},
          {"children", SummaryJson(Describe(tree.children))},
          {"hot", hot}};
}

Json ToJson(const StatsReport& report) {
  const TraceProfile& profile = report.profile;
  const ArrivalProfile& arrivals = profile.arrivals;
  Json sizes = Json::array();
  for (const BlockSizePoint& point : profile.block_sizes) {
    sizes.push_back(
        {{"block_tokens", point.block_tokens},
         {"hit_tokens", point.hit_tokens},
         {"tail_tokens", point.tail_tokens},
         {"ceiling", Share(point.hit_tokens, profile.input.total)}});
  }
  return {{"trace", report.trace},
          {"format", TraceFormatName(report.format)},
          {"rows", profile.rows},
          {"input_tokens", SummaryJson(profile.input)},
          {"output_tokens", SummaryJson(profile.output)},
          {"arrivals",
           {{"first_ns", arrivals.first_ns},
            {"last_ns", arrivals.last_ns},
            {"distinct", arrivals.distinct},
            {"most_at_once", arrivals.most_at_once},
            {"busiest_minute", arrivals.busiest_minute},
            {"gap_variation", arrivals.gap_variation},
            {"gaps_ns", SummaryJson(arrivals.gaps_ns)}}},
          {"reuse",
           {{"distance_blocks", SummaryJson(profile.reuse_blocks)},
            {"time_ns", SummaryJson(profile.reuse_ns)}}},
          {"prefix_tree", TreeJson(profile.tree, profile.input.total)},
          {"sessions",
           {{"sessions", profile.sessions.sessions},
            {"rows", profile.sessions.rows},
            {"turns", SummaryJson(profile.sessions.turns)},
            {"think_ns", SummaryJson(profile.sessions.think_ns)}}},
          {"block_sizes", sizes}};
}

void Flatten(const Json& json, const std::string& path, std::ostream& out) {
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      Flatten(value, path.empty() ? name : path + "." + name, out);
    }
  } else if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) {
      Flatten(json[i], absl::StrCat(path, "[", i, "]"), out);
    }
  } else if (json.is_number()) {
    out << path << "," << json.dump() << "\n";
  }
}

// --- Text ---

std::vector<std::string> SummaryCells(const std::string& name,
                                      const ValueSummary& values,
                                      const Print& print) {
  if (values.count == 0) return {name, "0"};
  return {name,
          FormatCount(values.count),
          print(values.total / values.count),
          print(values.min),
          print(values.p50),
          print(values.p90),
          print(values.p99),
          print(values.max)};
}

void PrintSummaries(const TraceProfile& profile, std::ostream& out) {
  std::vector<Align> columns(8, Align::kRight);
  columns[0] = Align::kLeft;
  TextTable table(columns);
  table.AddRow({"", "count", "mean", "min", "p50", "p90", "p99", "max"});
  const auto add = [&table](const std::string& name, const ValueSummary& values,
                            const Print& print) {
    table.AddRow(SummaryCells(name, values, print));
  };
  add("input tokens", profile.input, FormatCount);
  add("output tokens", profile.output, FormatCount);
  add("time between arrivals", profile.arrivals.gaps_ns, Time);
  add("reuse distance (blocks)", profile.reuse_blocks, FormatCount);
  add("time since last use", profile.reuse_ns, Time);
  add("children of a branching", Describe(profile.tree.children), FormatCount);
  add("turns of a session", profile.sessions.turns, FormatCount);
  add("think time", profile.sessions.think_ns, Time);
  out << table.Print("  ");
}

void PrintArrivals(const TraceProfile& profile, std::ostream& out) {
  const ArrivalProfile& arrivals = profile.arrivals;
  out << "\nArrivals\n  from " << Time(arrivals.first_ns) << " to "
      << Time(arrivals.last_ns) << " at " << FormatCount(arrivals.distinct)
      << " different times, at most " << FormatCount(arrivals.most_at_once)
      << " at once, " << FormatCount(arrivals.busiest_minute)
      << " in the busiest minute\n"
      << absl::StrFormat(
             "  variation of the gaps %.2f (1: Poisson, more: bursts)\n",
             arrivals.gap_variation);
}

// How much of the reuse a cache of some size would see.
void PrintReuse(const ValueSummary& reuse, std::ostream& out) {
  if (reuse.count == 0) return;
  out << "\nReuse: blocks used again within so many other blocks (LRU)\n";
  TextTable table({Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"below", "uses", "so far"});
  int64_t sum = 0;
  for (const Bucket& bucket : reuse.buckets) {
    sum += bucket.count;
    const int64_t end = bucket.low == 0 ? 1 : 2 * bucket.low;
    table.AddRow({FormatCount(end), FormatCount(bucket.count),
                  FormatPercent(sum, reuse.count)});
  }
  out << table.Print("  ");
}

void PrintTree(const TraceProfile& profile, std::ostream& out) {
  const PrefixTreeSummary& tree = profile.tree;
  out << "\nPrefix tree (whole blocks)\n";
  if (tree.nodes == 0) {
    out << "  no ids: nothing can be shared\n";
    return;
  }
  out << "  ceiling " << FormatPercent(tree.hit_tokens, profile.input.total, 2)
      << " of the input tokens: what an endless cache hits\n"
      << "  " << FormatCount(tree.nodes) << " nodes, "
      << FormatCount(tree.roots) << " roots, " << FormatCount(tree.shared_nodes)
      << " of two rows or more, " << FormatCount(tree.branching_nodes)
      << " branch, into at most " << FormatCount(tree.max_children)
      << "; depth " << FormatCount(tree.max_depth) << " blocks\n";
  if (tree.hot.empty()) return;
  out << "  hot prefixes\n";
  TextTable table(std::vector<Align>(5, Align::kRight));
  table.AddRow({"rows", "tokens", "own", "saved", "last block"});
  for (const HotPrefix& prefix : tree.hot) {
    table.AddRow(
        {FormatCount(prefix.rows), FormatCount(prefix.tokens),
         FormatCount(prefix.shared_tokens), FormatCount(prefix.saved_tokens),
         prefix.scope == 0 ? absl::StrCat(prefix.last_id)
                           : absl::StrCat(prefix.scope, ":", prefix.last_id)});
  }
  out << table.Print("  ");
}

void PrintBlockSizes(const TraceProfile& profile, std::ostream& out) {
  if (profile.tree.nodes == 0) return;
  out << "\nCeiling by block size (an endless cache of whole blocks)\n";
  TextTable table(std::vector<Align>(4, Align::kRight));
  table.AddRow({"block", "ceiling", "hit tokens", "in partial blocks"});
  for (const BlockSizePoint& point : profile.block_sizes) {
    table.AddRow({FormatCount(point.block_tokens),
                  FormatPercent(point.hit_tokens, profile.input.total, 2),
                  FormatCount(point.hit_tokens),
                  FormatPercent(point.tail_tokens, profile.input.total, 2)});
  }
  out << table.Print("  ");
}

}  // namespace

void PrintStatsText(const StatsReport& report, std::ostream& out) {
  const TraceProfile& profile = report.profile;
  out << report.trace << " (" << TraceFormatName(report.format)
      << "): " << FormatCount(profile.rows) << " requests";
  if (profile.sessions.sessions > 0) {
    out << ", " << FormatCount(profile.sessions.rows) << " of them in "
        << FormatCount(profile.sessions.sessions) << " sessions";
  }
  out << "\n\n";
  if (profile.rows == 0) return;
  PrintSummaries(profile, out);
  PrintArrivals(profile, out);
  PrintReuse(profile.reuse_blocks, out);
  PrintTree(profile, out);
  PrintBlockSizes(profile, out);
}

void PrintStatsJson(const StatsReport& report, std::ostream& out) {
  out << ToJson(report).dump(2, ' ', false, Json::error_handler_t::replace)
      << "\n";
}

void PrintStatsCsv(const StatsReport& report, std::ostream& out) {
  out << "name,value\n";
  Flatten(ToJson(report), "", out);
}

}  // namespace kvsim
