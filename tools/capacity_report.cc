#include "tools/capacity_report.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text.h"

namespace kvsim {
namespace {

std::string Plural(int64_t count, absl::string_view noun) {
  return absl::StrCat(FormatCount(count), " ", noun, count == 1 ? "" : "s");
}

void PrintHeader(const CapacityQuestion& question, const CapacityAnswer& answer,
                 std::ostream& out) {
  out << question.model->name << " on " << Plural(answer.num_gpus, "GPU")
      << " (" << answer.parallel.ToString();
  if (answer.replicas > 1) out << " x " << answer.replicas << " replicas";
  out << "), " << answer.engine << " (" << answer.engine_version
      << "), cache dtype " << answer.kv_cache_dtype << "\n";
}

// "H200: 139.80 GiB as the engine sees it (engine log)".
void PrintCard(const CapacityQuestion& question, ByteUnits units,
               std::ostream& out) {
  if (!question.gpu.has_value()) return;
  const Gpu& gpu = *question.gpu;
  out << "  " << gpu.name << ": " << FormatGiga(gpu.engine_total, units)
      << " as the engine sees it (" << MemorySourceName(gpu.memory_source);
  if (gpu.engine_spread > Bytes(0)) {
    out << ", logs differ by " << FormatGiga(gpu.engine_spread, units);
  }
  out << ")\n";
}

void PrintAccounts(const CapacityQuestion& question,
                   const CapacityAnswer& answer, ByteUnits units,
                   std::ostream& out) {
  out << "\nMemory of one rank (" << answer.binds << " binds)\n";
  PrintCard(question, units, out);
  for (const MemoryAccount& account : answer.accounts) {
    const bool part = !account.part_of.empty();
    out << absl::StrFormat("  %s%-*s %12s", part ? "  " : "", part ? 50 : 52,
                           account.name, FormatGiga(account.bytes, units, 3));
    if (account.name == "KV cache" && answer.kv_band > Bytes(0)) {
      out << "  +- " << FormatGiga(answer.kv_band, units) << " ("
          << answer.kv_band_basis << ")";
    }
    out << "\n";
  }
}

void PrintRanks(const PoolPlan& pool, ByteUnits units, std::ostream& out) {
  if (pool.ranks.size() == 1) return;
  for (size_t i = 0; i < pool.ranks.size(); ++i) {
    const RankPool& rank = pool.ranks[i];
    out << "  stage " << rank.stage << ": " << Plural(rank.num_layers, "layer")
        << ", " << FormatGiga(rank.kv_memory, units) << " of cache, room for "
        << Plural(rank.own_blocks.value(), "block")
        << (i == pool.binding_rank ? "  <- binds" : "") << "\n";
  }
}

// "18,000-20,000 blocks, 288,000-320,000 tokens, 2.20x-2.44x".
void PrintBand(const CapacityAnswer& answer, std::ostream& out) {
  if (answer.kv_band == Bytes(0)) return;
  const PoolEnd& low = answer.low;
  const PoolEnd& high = answer.high;
  out << "  within the band of the memory: "
      << FormatCount(low.num_blocks.value()) << " to "
      << Plural(high.num_blocks.value(), "block") << ", "
      << FormatCount(low.kv_cache_tokens.value()) << " to "
      << Plural(high.kv_cache_tokens.value(), "token")
      << absl::StrFormat(", concurrency %.2fx to %.2fx\n", low.max_concurrency,
                         high.max_concurrency);
}

void PrintPool(const CapacityAnswer& answer, ByteUnits units,
               std::ostream& out) {
  const PoolPlan& pool = answer.pool;
  out << "\nPool of one rank (" << pool.rule << ")\n  "
      << Plural(pool.num_blocks.value(), "block") << " of "
      << FormatBytes(pool.bytes_per_block, units);
  if (pool.reserved_blocks > Blocks(0)) {
    out << ", " << pool.reserved_blocks.value() << " of them the null block";
  }
  out << "\n";
  PrintBand(answer, out);
  for (const SidePool& side : pool.side_pools) {
    out << "  beside them " << Plural(side.num_blocks.value(), "block")
        << " of " << FormatBytes(side.bytes_per_block, units) << " for "
        << side.name << "\n";
  }
  PrintRanks(pool, units, out);
  out << absl::StrFormat("  %-24s %7s %14s %14s %12s %12s\n", "group", "layers",
                         "tokens/block", "page", "page padding",
                         "slot padding");
  for (const CacheGroup& group : pool.groups) {
    const int64_t covered =
        group.demand.block_tokens.value() * group.demand.sharded_over;
    const bool constant = group.demand.kind == BlockDemand::Kind::kPerSequence;
    out << absl::StrFormat(
        "  %-24s %7d %14s %14s %12s %12s\n", group.kind, group.layers.size(),
        constant ? "per sequence" : FormatCount(covered),
        FormatBytes(group.page, units), FormatBytes(group.page_padding, units),
        FormatBytes(group.slot_padding, units));
  }
  out << "\nThe engine's own lines\n";
  for (const std::string& line : pool.log_lines) out << "  " << line << "\n";
  if (pool.refused.has_value()) {
    out << "  REFUSED TO START: " << pool.refused->message << "\n";
  }
}

std::string WithBand(const ContextAnswer& context) {
  const int64_t low = context.low.resident;
  const int64_t high = context.high.resident;
  std::string text = FormatCount(context.count.resident);
  if (low == high) return text;
  return absl::StrCat(text, " (", low, "-", high, ")");
}

void PrintContexts(const CapacityQuestion& question,
                   const CapacityAnswer& answer, ByteUnits units,
                   std::ostream& out) {
  out << "\nRequests of one length on one engine";
  if (question.shared_prefix > Tokens(0)) {
    out << ", the first " << FormatCount(question.shared_prefix.value())
        << " tokens shared";
  }
  out << "\n"
      << absl::StrFormat("  %15s %14s %14s %10s %12s %8s  %s\n", "tokens",
                         "one sequence", "resident", "admitted", "engine line",
                         "ideal", "blocks of a request");
  for (const ContextAnswer& context : answer.contexts) {
    const Concurrency& count = context.count;
    out << absl::StrFormat(
        "  %15s %14s %14s %10s %11.2fx %8.2f  %s (worst case %s)\n",
        FormatCount(count.length.value()),
        FormatBytes(context.sequence_bytes, units), WithBand(context),
        FormatCount(count.admitted), count.engine_line, count.ideal,
        FormatCount(count.steady_blocks.value()),
        FormatCount(count.worst_blocks.value()));
    if (answer.replicas > 1) {
      out << "                  cluster total over " << answer.replicas
          << " replicas: " << FormatCount(context.cluster_resident)
          << " resident\n";
    }
  }
  out << "  resident: all fit in steady decode (headline). admitted: let in "
         "one "
         "after the other\n  by the gate. engine line: as the engine prints "
         "it. ideal: bytes only.\n";
}

// States are kept at ends of blocks, and those blocks are large.
void PrintHitUnit(const PoolPlan& pool, std::ostream& out) {
  if (!HoldsStates(pool)) return;
  const std::string unit = FormatCount(pool.scheduler_block_tokens.value());
  out << "  prefix hits  whole blocks of " << unit
      << " tokens: a prompt that repeats " << unit
      << " tokens or fewer hits nothing\n";
}

void PrintCosts(const CapacityAnswer& answer, ByteUnits units,
                std::ostream& out) {
  const PoolPlan& pool = answer.pool;
  out << "\nCost of a request\n"
      << absl::StrFormat(
             "  per token    %s bytes of one sequence, %s bytes of "
             "this rank's pool\n",
             absl::StrFormat("%.6g", answer.sequence_bytes_per_token),
             absl::StrFormat("%.6g", answer.rank_bytes_per_token))
      << "  fixed        " << Plural(answer.fixed_blocks.value(), "block")
      << " = " << FormatBytes(FixedBytes(pool), units) << " on this rank\n"
      << "  one token    " << Plural(answer.one_token_blocks.value(), "block")
      << " = "
      << FormatBytes(pool.bytes_per_block * answer.one_token_blocks.value(),
                     units)
      << " on this rank, "
      << FormatPercent(answer.one_token_blocks.value(),
                       pool.UsableBlocks().value(), 2)
      << " of the pool\n";
  PrintHitUnit(pool, out);
}

void PrintAlternatives(const CapacityAnswer& answer, ByteUnits units,
                       std::ostream& out) {
  if (answer.alternatives.empty()) return;
  out << "\nWhat would change the answer\n";
  for (const Alternative& alternative : answer.alternatives) {
    out << "  " << alternative.change << ": ";
    if (!alternative.note.empty()) {
      out << "no: " << alternative.note << "\n";
      continue;
    }
    out << absl::StrJoin(alternative.resident, ", ") << " resident ("
        << Plural(alternative.num_blocks.value(), "block") << ", "
        << FormatGiga(alternative.kv_memory, units) << " of cache on a rank)\n";
  }
}

}  // namespace

void PrintCapacity(const CapacityQuestion& question,
                   const CapacityAnswer& answer, ByteUnits units,
                   std::ostream& out) {
  PrintHeader(question, answer, out);
  PrintContexts(question, answer, units, out);
  PrintAccounts(question, answer, units, out);
  PrintPool(answer, units, out);
  PrintCosts(answer, units, out);
  PrintAlternatives(answer, units, out);
  if (answer.warnings.empty()) return;
  out << "\nNotes\n";
  for (const std::string& warning : answer.warnings) {
    out << "  - " << warning << "\n";
  }
}

void PrintDeployments(const CapacityQuestion& question, int64_t concurrency,
                      const std::vector<Deployment>& deployments,
                      std::ostream& out) {
  out << "Fewest GPUs with " << Plural(concurrency, "resident request")
      << " of " << question.model->name << "\n";
  if (deployments.empty()) {
    out << "  no number of GPUs up to 1,024 is enough\n";
    return;
  }
  out << absl::StrFormat("  %6s  %-20s %10s  %s\n", "GPUs", "split", "blocks",
                         "resident per context");
  for (const Deployment& deployment : deployments) {
    out << absl::StrFormat("  %6d  %-20s %10s  %s\n", deployment.num_gpus,
                           deployment.parallel.ToString(),
                           FormatCount(deployment.num_blocks.value()),
                           absl::StrJoin(deployment.resident, ", "));
  }
}

}  // namespace kvsim
