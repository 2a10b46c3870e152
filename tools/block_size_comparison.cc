#include "tools/block_size_comparison.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"
#include "engines/block_overhead.h"

namespace kvsim {
namespace {

using Sizes = std::vector<const ComparedBlockSize*>;

Sizes AcceptedSizes(const BlockSizeComparison& comparison) {
  Sizes accepted;
  for (const ComparedBlockSize& size : comparison.sizes) {
    if (size.surveyed.accepted) accepted.push_back(&size);
  }
  return accepted;
}

// A view's number; the greater, the better.
using Score = int64_t (*)(const ComparedBlockSize& size);

int64_t PoolTokens(const ComparedBlockSize& size) {
  return size.surveyed.answer.pool.kv_cache_tokens.value();
}
int64_t Resident(const ComparedBlockSize& size) {
  return size.surveyed.answer.contexts[0].count.resident;
}
int64_t LittlePadding(const ComparedBlockSize& size) {
  return -size.surveyed.padding.value();
}
int64_t LittleSlack(const ComparedBlockSize& size) {
  return -size.slack.value();
}
// Nothing is hit where nothing is cached: a tie.
int64_t HitTokens(const ComparedBlockSize& size) {
  return size.hits.has_value() ? size.hits->hit_tokens : 0;
}
int64_t SmallTable(const ComparedBlockSize& size) {
  return -size.surveyed.table.value();
}

Sizes Best(const Sizes& sizes, Score score) {
  Sizes best;
  for (const ComparedBlockSize* size : sizes) {
    if (!best.empty() && score(*size) > score(*best[0])) best.clear();
    if (best.empty() || score(*size) == score(*best[0])) best.push_back(size);
  }
  return best;
}

std::string TokensReason(const ComparedBlockSize& size, bool all, ByteUnits) {
  return absl::StrCat(
      FormatCount(PoolTokens(size)), " by the engine's line",
      all ? ": every size divides the pool alike"
          : ": the least lost to the pool's rest and a request's last block");
}

std::string ResidentReason(const ComparedBlockSize& size, bool all,
                           ByteUnits units) {
  const Concurrency& count = size.surveyed.answer.contexts[0].count;
  const PoolPlan& pool = size.surveyed.answer.pool;
  const int64_t blocks = count.steady_blocks.value();
  return absl::StrCat(
      FormatCount(count.resident), " of ", FormatCount(count.length.value()),
      " tokens", all ? ", with every size" : "", ": one takes ",
      FormatCount(blocks), blocks == 1 ? " block of " : " blocks of ",
      FormatBytes(pool.bytes_per_block, units));
}

std::string PaddingReason(const ComparedBlockSize& size, bool,
                          ByteUnits units) {
  if (size.surveyed.padding == Bytes(0)) return "blocks hold nothing but rows";
  return absl::StrCat(FormatBytes(size.surveyed.padding, units),
                      " of a request's blocks hold neither rows nor states");
}

std::string HitsReason(const ComparedBlockSize& size, bool all, ByteUnits) {
  if (all) {
    return absl::StrCat(FormatCount(HitTokens(size)),
                        " tokens, with every size");
  }
  return absl::StrCat(FormatCount(HitTokens(size)),
                      " tokens: hits end on multiples of ",
                      FormatCount(size.surveyed.hit_unit.value()));
}

std::string TableReason(const ComparedBlockSize& size, bool, ByteUnits units) {
  return absl::StrCat(FormatBytes(size.surveyed.table, units),
                      " for the tables: fewer blocks, fewer entries");
}

std::vector<int64_t> AskedOf(const Sizes& sizes) {
  std::vector<int64_t> asked;
  for (const ComparedBlockSize* size : sizes) {
    asked.push_back(size->surveyed.asked.value());
  }
  return asked;
}

using Reason = std::string (*)(const ComparedBlockSize& size, bool all,
                               ByteUnits units);

BestView View(const char* name, const Sizes& sizes, Score score, Reason reason,
              ByteUnits units) {
  const Sizes best = Best(sizes, score);
  return {name, AskedOf(best),
          reason(*best[0], best.size() == sizes.size(), units)};
}

BestView SlackView(const BlockSizeComparison& comparison, const Sizes& sizes) {
  const Sizes best = Best(sizes, LittleSlack);
  const auto count = static_cast<int64_t>(comparison.lengths.size());
  return {"least tail slack", AskedOf(best),
          absl::StrCat(FormatRatio(best[0]->slack_tokens, count, 1),
                       " tokens of a request's last blocks stay empty",
                       count > 1 ? " on average" : "")};
}

// Sizes whose hits are within 1 % of the prompts of the most.
Sizes HitAsMany(const Sizes& sizes) {
  const ComparedBlockSize& most = *Best(sizes, HitTokens)[0];
  const int64_t margin =
      most.hits.has_value() ? most.hits->measured_tokens / 100 : 0;
  Sizes alike;
  for (const ComparedBlockSize* size : sizes) {
    if (HitTokens(*size) >= HitTokens(most) - margin) alike.push_back(size);
  }
  return alike;
}

Sizes InBoth(const Sizes& sizes, const Sizes& others) {
  Sizes both;
  for (const ComparedBlockSize* size : sizes) {
    if (std::find(others.begin(), others.end(), size) != others.end()) {
      both.push_back(size);
    }
  }
  return both;
}

// Of sizes that are alike in what counts.
const ComparedBlockSize& PickOf(const Sizes& sizes) {
  for (const ComparedBlockSize* size : sizes) {
    if (size->surveyed.is_default) return *size;
  }
  return *Best(sizes, SmallTable)[0];
}

std::string Flag(const ComparedBlockSize& size) {
  return absl::StrCat("--block-size ", size.surveyed.asked.value());
}

BlockSizeAdvice Recommend(const ComparedBlockSize& size, size_t ties) {
  std::string text = absl::StrCat(
      Flag(size), ": no size holds more requests",
      size.hits.has_value() ? ", and none hits more by 1 % of the prompts"
                            : "");
  if (size.surveyed.is_default) {
    absl::StrAppend(&text, "; it is what the engine takes unasked");
  } else if (ties > 1) {
    absl::StrAppend(&text, "; of the ", ties,
                    " sizes that tie it has the smallest block tables");
  }
  return {size.surveyed.asked, std::move(text)};
}

// No size is best in both.
std::string Tradeoff(const ComparedBlockSize& hits,
                     const ComparedBlockSize& requests) {
  return absl::StrCat(
      "a trade-off: ", Flag(hits), " hits ",
      FormatCount(HitTokens(hits) - HitTokens(requests)), " tokens (",
      FormatPercent(HitTokens(hits) - HitTokens(requests),
                    hits.hits->measured_tokens, 2),
      " of the prompts) more than ", Flag(requests), ", which holds ",
      FormatCount(Resident(requests) - Resident(hits)),
      " more requests at once (", FormatCount(Resident(requests)), " to ",
      FormatCount(Resident(hits)), ")");
}

}  // namespace

BlockSizeComparison CompareBlockSizes(BlockSizeSurvey survey,
                                      std::vector<Tokens> lengths) {
  KVSIM_CHECK(!lengths.empty());
  BlockSizeComparison comparison;
  comparison.length = survey.length;
  comparison.prefix_caching = survey.prefix_caching;
  comparison.state_mode = survey.state_mode;
  comparison.lengths = std::move(lengths);
  for (SurveyedBlockSize& surveyed : survey.sizes) {
    ComparedBlockSize size;
    size.surveyed = std::move(surveyed);
    const PoolPlan& pool = size.surveyed.answer.pool;
    if (size.surveyed.accepted) {
      for (const Tokens length : comparison.lengths) {
        const TailSlack slack =
            TailSlackOf(pool, std::min(length, pool.max_model_len));
        size.slack_tokens = CheckedAdd(size.slack_tokens, slack.tokens);
        size.slack += slack.bytes;
      }
      size.hit_blocks = HitBlocks(size.surveyed);
      comparison.hits_are_bound =
          comparison.hits_are_bound || HoldsMoreThanHistory(pool);
    }
    comparison.sizes.push_back(std::move(size));
  }
  return comparison;
}

int64_t HitBlocks(const SurveyedBlockSize& size) {
  const PoolPlan& pool = size.answer.pool;
  const auto history =
      std::find_if(pool.groups.begin(), pool.groups.end(), KeepsEveryRow);
  const CacheGroup& group =
      history == pool.groups.end() ? pool.groups[0] : *history;
  const Tokens covered = group.demand.block_tokens * group.demand.sharded_over;
  return covered * pool.UsableBlocks().value() / size.hit_unit;
}

bool HoldsMoreThanHistory(const PoolPlan& pool) {
  return pool.groups.size() > 1 || !KeepsEveryRow(pool.groups[0]);
}

const ComparedBlockSize* FinestSize(const BlockSizeComparison& comparison) {
  const ComparedBlockSize* finest = nullptr;
  for (const ComparedBlockSize* size : AcceptedSizes(comparison)) {
    if (finest == nullptr ||
        size->surveyed.hit_unit < finest->surveyed.hit_unit) {
      finest = size;
    }
  }
  return finest;
}

std::vector<BestView> BestViews(const BlockSizeComparison& comparison,
                                ByteUnits units) {
  const Sizes sizes = AcceptedSizes(comparison);
  if (sizes.empty()) return {};
  std::vector<BestView> views;
  const auto add = [&](const char* name, Score score, Reason reason) {
    views.push_back(View(name, sizes, score, reason, units));
  };
  add("most tokens", PoolTokens, TokensReason);
  add("most requests", Resident, ResidentReason);
  add("least padding", LittlePadding, PaddingReason);
  views.push_back(SlackView(comparison, sizes));
  if (sizes[0]->hits.has_value()) add("most hits", HitTokens, HitsReason);
  add("smallest table", SmallTable, TableReason);
  return views;
}

BlockSizeAdvice Advise(const BlockSizeComparison& comparison) {
  const Sizes sizes = AcceptedSizes(comparison);
  if (sizes.empty()) return {std::nullopt, "none: the engine starts with none"};
  const Sizes requests = Best(sizes, Resident);
  if (comparison.prefix_caching && !comparison.from_trace) {
    return {std::nullopt,
            absl::StrCat("none: hits are not known without --trace; ",
                         Flag(PickOf(requests)), " holds as many requests as ",
                         "any")};
  }
  const Sizes hits = HitAsMany(sizes);
  const Sizes both = InBoth(requests, hits);
  if (!both.empty()) return Recommend(PickOf(both), both.size());
  return {std::nullopt, Tradeoff(*Best(Best(sizes, HitTokens), Resident)[0],
                                 *Best(requests, HitTokens)[0])};
}

}  // namespace kvsim
