#include "tools/layout_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/text.h"
#include "models/kv_cache_dtype.h"
#include "models/layout_warnings.h"

namespace kvsim {
namespace {

using nlohmann::ordered_json;

const char* AssumptionsName(bool as_article) {
  return as_article ? "article" : "engines";
}

// Consecutive or not, layers that store the same under the same description
// are one row of the table.
struct LayerGroup {
  const LayerCache* first = nullptr;
  int64_t layers = 0;
};

bool SameTensors(const LayerCache& a, const LayerCache& b) {
  if (a.kind != b.kind || a.is_mtp != b.is_mtp ||
      a.tensors.size() != b.tensors.size()) {
    return false;
  }
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    if (a.tensors[i].name != b.tensors[i].name ||
        a.tensors[i].PaddedEntryBytes() != b.tensors[i].PaddedEntryBytes()) {
      return false;
    }
  }
  return true;
}

std::vector<LayerGroup> GroupLayers(const CacheLayout& layout) {
  std::vector<LayerGroup> groups;
  for (const LayerCache& layer : layout.layers) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const LayerGroup& known) {
                                      return SameTensors(*known.first, layer);
                                    });
    if (group == groups.end()) {
      groups.push_back({&layer, 1});
    } else {
      ++group->layers;
    }
  }
  return groups;
}

// "30,816 B", "5,609.25 B": whole bytes unless a compressed row is involved.
std::string PerToken(double bytes) {
  const auto hundredths = static_cast<int64_t>(bytes * 100 + 0.5);
  std::string text = FormatCount(hundredths / 100);
  if (hundredths % 100 != 0) {
    absl::StrAppend(&text, absl::StrFormat(".%02d", hundredths % 100));
  }
  return absl::StrCat(text, " B");
}

std::string Kept(const CacheTensor& tensor) {
  const Retention& retention = tensor.retention;
  switch (retention.kind) {
    case RetentionKind::kAllHistory:
      return tensor.source == TokenSource::kEncoder ? "encoder tokens"
                                                    : "all history";
    case RetentionKind::kLastWindow:
      if (retention.sinks > 0) {
        return absl::StrCat("first ", retention.sinks, " + last ",
                            FormatCount(retention.window));
      }
      return absl::StrCat("last ", FormatCount(retention.window));
    case RetentionKind::kCurrentChunk:
      return absl::StrCat("chunk of ", FormatCount(retention.chunk));
    case RetentionKind::kPromptAndLastWindow:
      return absl::StrCat("prompt + last ", FormatCount(retention.window));
    case RetentionKind::kLatestState:
      return "latest state";
  }
  return "";
}

// How the number of entries grows with the tokens T.
std::string Growth(const CacheTensor& tensor) {
  const Retention& retention = tensor.retention;
  if (tensor.tokens_per_entry == kPerSequence) return "1";
  if (tensor.source == TokenSource::kEncoder) return "encoder tokens";
  switch (retention.kind) {
    case RetentionKind::kLastWindow:
      return absl::StrCat("min(T, ",
                          FormatCount(retention.window + retention.sinks), ")");
    case RetentionKind::kCurrentChunk:
      return absl::StrCat("1 to ", FormatCount(retention.chunk));
    default:
      break;
  }
  if (tensor.tokens_per_entry == 1) return "T";
  return absl::StrCat("T/", tensor.tokens_per_entry);
}

// Columns as wide as their widest cell; all but the first `left` are aligned
// to the right.
std::string Table(const std::vector<std::vector<std::string>>& rows,
                  size_t left) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      absl::StrAppend(&line, i == 0 ? "" : "  ", i < left ? "" : pad, row[i],
                      i < left ? pad : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string Heading(const LayoutReport& report) {
  const ModelSpec& spec = report.spec;
  std::string text =
      absl::StrCat("Model      ", spec.name, " (", spec.model_type, "), ",
                   spec.layers.size(), " layers");
  if (!spec.mtp_layers.empty()) {
    absl::StrAppend(&text, " + ", spec.mtp_layers.size(), " MTP",
                    report.options.mtp_layers ? "" : " (not counted)");
  }
  if (!spec.source.empty()) {
    absl::StrAppend(&text, "\nSource     ", spec.source);
  }
  absl::StrAppend(
      &text, "\nLayout     ",
      report.options.as_article ? "as the article assumes"
                                : "as engines store it (vLLM, 2026-08)",
      ", KV cache dtype ", Name(report.options.kv_cache_dtype),
      "\nScope      one sequence, one logical copy: no sharding, no rounding "
      "to "
      "blocks, no reserve",
      "\nPer token  ", PerToken(report.layout.BytesPerToken()),
      " of full history", "\nFixed      ",
      FormatBytes(report.layout.FixedBytes(), report.units),
      " per sequence: full windows and chunks, states, encoder part\n");
  return text;
}

std::string LayersTable(const LayoutReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"Layers", "Kind", "Tensor", "Entry dtype", "Kept", "Entries",
       "Entry bytes", "Per token, all layers", "Fixed, all layers"}};
  const Tokens encoder = report.layout.default_encoder_tokens;
  for (const LayerGroup& group : GroupLayers(report.layout)) {
    std::string count = absl::StrCat(group.layers);
    std::string kind =
        absl::StrCat(group.first->is_mtp ? "MTP: " : "", group.first->kind);
    if (group.first->tensors.empty()) {
      rows.push_back({count, kind, "stores nothing"});
    }
    for (const CacheTensor& tensor : group.first->tensors) {
      const double per_token =
          tensor.BytesPerToken() * static_cast<double>(group.layers);
      const Bytes fixed = tensor.FixedBytes(encoder) * group.layers;
      rows.push_back(
          {std::exchange(count, ""), std::exchange(kind, ""), tensor.name,
           std::string(Name(tensor.dtype)), Kept(tensor), Growth(tensor),
           FormatCount(tensor.PaddedEntryBytes().value()),
           per_token > 0 ? PerToken(per_token) : "-",
           fixed > Bytes(0) ? FormatBytes(fixed, report.units) : "-"});
    }
  }
  return Table(rows, 6);
}

// One table of bytes and shares at each context.
class SharesTable {
 public:
  SharesTable(const LayoutReport& report, std::string first_column)
      : report_(report) {
    std::vector<std::string> header = {std::move(first_column)};
    for (const SequenceLength& length : report.contexts) {
      header.push_back(
          absl::StrCat(FormatCount(length.tokens.value()), " tokens"));
      header.push_back("share");
    }
    rows_.push_back(std::move(header));
  }

  // `bytes` has one entry per context.
  void AddRow(std::string name, const std::vector<Bytes>& bytes) {
    std::vector<std::string> row = {std::move(name)};
    for (size_t i = 0; i < bytes.size(); ++i) {
      const Bytes total = report_.layout.BytesAt(report_.contexts[i]);
      row.push_back(FormatBytes(bytes[i], report_.units));
      row.push_back(FormatPercent(bytes[i].value(), total.value()));
    }
    rows_.push_back(std::move(row));
  }

  void AddTotal(std::string name, const CacheLayout& layout) {
    std::vector<std::string> row = {std::move(name)};
    for (const SequenceLength& length : report_.contexts) {
      row.push_back(FormatBytes(layout.BytesAt(length), report_.units));
      row.push_back("");
    }
    rows_.push_back(std::move(row));
  }

  std::string Text() const { return Table(rows_, 1); }

 private:
  const LayoutReport& report_;
  std::vector<std::vector<std::string>> rows_;
};

std::string KindsTable(const LayoutReport& report) {
  SharesTable table(report, "Kind of layer");
  for (const LayerGroup& group : GroupLayers(report.layout)) {
    std::vector<Bytes> bytes;
    for (const SequenceLength& length : report.contexts) {
      bytes.push_back(group.first->BytesAt(length) * group.layers);
    }
    table.AddRow(absl::StrCat(group.layers, " x ", group.first->kind), bytes);
  }
  table.AddTotal("total", report.layout);
  if (report.other) {
    table.AddTotal(
        report.options.as_article ? "engines store" : "article assumes",
        *report.other);
  }
  return table.Text();
}

std::string TensorsTable(const LayoutReport& report) {
  std::vector<std::vector<NamedBytes>> columns;
  for (const SequenceLength& length : report.contexts) {
    columns.push_back(report.layout.BytesByTensor(length));
  }
  SharesTable table(report, "Tensor");
  for (size_t tensor = 0; tensor < columns[0].size(); ++tensor) {
    std::vector<Bytes> bytes;
    for (const auto& column : columns) bytes.push_back(column[tensor].bytes);
    table.AddRow(columns[0][tensor].name, bytes);
  }
  return table.Text();
}

ordered_json TensorJson(const CacheTensor& tensor) {
  return {{"name", tensor.name},
          {"store", std::string(Name(tensor.store))},
          {"elements", tensor.elements},
          {"dtype", std::string(Name(tensor.dtype))},
          {"scale_bytes", tensor.scale_bytes},
          {"padding_bytes", tensor.padding_bytes},
          {"entry_bytes", tensor.PaddedEntryBytes().value()},
          {"tokens_per_entry", tensor.tokens_per_entry},
          {"retention", std::string(Name(tensor.retention.kind))},
          {"window", tensor.retention.window},
          {"sinks", tensor.retention.sinks},
          {"chunk", tensor.retention.chunk},
          {"source", std::string(Name(tensor.source))},
          {"shard", std::string(Name(tensor.shard))},
          {"heads", tensor.heads}};
}

// A whole number of bytes stays an integer in JSON.
ordered_json NumberJson(double value) {
  const auto whole = static_cast<int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  return value;
}

ordered_json LayersJson(const CacheLayout& layout) {
  ordered_json layers = ordered_json::array();
  for (const LayerCache& layer : layout.layers) {
    ordered_json tensors = ordered_json::array();
    for (const CacheTensor& tensor : layer.tensors) {
      tensors.push_back(TensorJson(tensor));
    }
    layers.push_back({{"layer", layer.layer},
                      {"mtp", layer.is_mtp},
                      {"kind", layer.kind},
                      {"bytes_per_token", NumberJson(layer.BytesPerToken())},
                      {"fixed_bytes",
                       layer.FixedBytes(layout.default_encoder_tokens).value()},
                      {"tensors", std::move(tensors)}});
  }
  return layers;
}

ordered_json ContextsJson(const LayoutReport& report) {
  ordered_json contexts = ordered_json::array();
  for (const SequenceLength& length : report.contexts) {
    const Bytes total = report.layout.BytesAt(length);
    ordered_json tensors = ordered_json::array();
    for (const NamedBytes& tensor : report.layout.BytesByTensor(length)) {
      const double share = total > Bytes(0)
                               ? static_cast<double>(tensor.bytes.value()) /
                                     static_cast<double>(total.value())
                               : 0;
      tensors.push_back({{"name", tensor.name},
                         {"bytes", tensor.bytes.value()},
                         {"share", share}});
    }
    contexts.push_back(
        {{"tokens", length.tokens.value()},
         {"bytes", total.value()},
         {"padding_bytes", report.layout.PaddingBytesAt(length).value()},
         {"tensors", std::move(tensors)}});
  }
  return contexts;
}

ordered_json OtherJson(const LayoutReport& report) {
  ordered_json contexts = ordered_json::array();
  for (const SequenceLength& length : report.contexts) {
    contexts.push_back({{"tokens", length.tokens.value()},
                        {"bytes", report.other->BytesAt(length).value()}});
  }
  return {{"assumptions", AssumptionsName(!report.options.as_article)},
          {"bytes_per_token", NumberJson(report.other->BytesPerToken())},
          {"fixed_bytes", report.other->FixedBytes().value()},
          {"contexts", std::move(contexts)}};
}

}  // namespace

absl::Status CompleteLayoutReport(LayoutReport& report) {
  KVSIM_CHECK(!report.contexts.empty());
  absl::StatusOr<CacheLayout> layout =
      BuildCacheLayout(report.spec, report.options);
  if (!layout.ok()) return layout.status();
  report.layout = *std::move(layout);

  LayoutOptions options = report.options;
  options.as_article = !options.as_article;
  absl::StatusOr<CacheLayout> other = BuildCacheLayout(report.spec, options);
  report.other.reset();
  Tokens longest;
  for (const SequenceLength& length : report.contexts) {
    longest = std::max(longest, length.tokens);
    if (other.ok() && !report.other &&
        other->BytesAt(length) != report.layout.BytesAt(length)) {
      report.other = *other;
    }
  }
  report.warnings = LayoutWarnings(report.spec, report.options, report.layout,
                                   longest, report.units);
  return absl::OkStatus();
}

std::string LayoutReportText(const LayoutReport& report) {
  std::string text =
      absl::StrCat(Heading(report), "\n", LayersTable(report), "\n",
                   TensorsTable(report), "\n", KindsTable(report));
  if (!report.warnings.empty()) absl::StrAppend(&text, "\n");
  for (const std::string& warning : report.warnings) {
    absl::StrAppend(&text, "Note: ", warning, ".\n");
  }
  return text;
}

std::string LayoutReportJson(const LayoutReport& report) {
  const ModelSpec& spec = report.spec;
  ordered_json json = {
      {"model", spec.name},
      {"model_type", spec.model_type},
      {"source", spec.source},
      {"assumptions", AssumptionsName(report.options.as_article)},
      {"kv_cache_dtype", std::string(Name(report.options.kv_cache_dtype))},
      {"num_layers", report.layout.layers.size()},
      {"bytes_per_token", NumberJson(report.layout.BytesPerToken())},
      {"fixed_bytes", report.layout.FixedBytes().value()},
      {"contexts", ContextsJson(report)},
      {"layers", LayersJson(report.layout)}};
  if (report.other) json["compared_with"] = OtherJson(report);
  json["warnings"] = report.warnings;
  json["manifest"] = {{"version", report.version},
                      {"command", report.command_line}};
  // Paths and flags may hold any bytes; what is not UTF-8 is replaced.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace kvsim
