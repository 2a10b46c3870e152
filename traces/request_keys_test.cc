#include "traces/request_keys.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "traces/naive_tokens.h"
#include "traces/token_stream.h"

namespace kvsim {
namespace {

// A small universe of requests that share prefixes often: few ids, few scopes,
// sessions whose turns repeat their predecessor more or less faithfully.
class World {
 public:
  World(uint64_t seed, int64_t hash_block, int64_t max_blocks)
      : random_(seed), hash_block_(hash_block), max_blocks_(max_blocks) {}

  void AddRows(int count) {
    for (int i = 0; i < count; ++i) {
      const bool continues = !rows_.empty() && Below(2) == 0;
      rows_.push_back(continues ? NextTurn() : FreshRow());
      FixIds(rows_.back());
    }
  }

  const std::vector<TraceRequest>& rows() const { return rows_; }

 private:
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }

  TraceRequest FreshRow() {
    TraceRequest row;
    row.id = static_cast<int64_t>(rows_.size());
    row.hash_block = hash_block_;
    row.scope = static_cast<uint64_t>(Below(2));
    row.session = row.id;
    const int64_t unit = std::max<int64_t>(hash_block_, 4);
    row.input_length = Below(max_blocks_ * unit) + Below(2);
    row.output_length = Below(2) == 0 ? Below(unit) : Below(3 * unit);
    return row;
  }

  TraceRequest NextTurn() {
    TraceRequest row = FreshRow();
    const TraceRequest& previous =
        rows_[rows_.size() - 1 - Below(std::min<int64_t>(3, rows_.size()))];
    if (taken_[previous.id]++ > 0) return row;  // one next turn each
    row.session = previous.session;
    row.scope = previous.scope;
    row.previous = previous.id;
    row.turn = previous.turn + 1;
    row.hash_ids = previous.hash_ids;
    // Usually long enough for prompt and output, sometimes exactly, sometimes
    // cut.
    const int64_t whole = previous.input_length + previous.output_length;
    switch (Below(4)) {
      case 0:
        row.input_length = whole;
        break;
      case 1:
        row.input_length = Below(whole + 1);
        break;
      default:
        row.input_length = whole + Below(2 * std::max<int64_t>(1, hash_block_));
    }
    if (!row.hash_ids.empty() && Below(4) == 0) {
      row.hash_ids[Below(row.hash_ids.size())] = Below(3);
    }
    return row;
  }

  // Makes the number of ids floor or ceil of the length.
  void FixIds(TraceRequest& row) {
    if (hash_block_ == 0) return;
    const int64_t full = row.input_length / hash_block_;
    const int64_t tail = row.input_length % hash_block_ != 0 ? Below(2) : 0;
    while (static_cast<int64_t>(row.hash_ids.size()) < full + tail) {
      row.hash_ids.push_back(static_cast<uint64_t>(Below(3)));
    }
    row.hash_ids.resize(static_cast<size_t>(full + tail));
  }

  std::mt19937_64 random_;  // the standard fixes its output
  int64_t hash_block_;
  int64_t max_blocks_;
  std::vector<TraceRequest> rows_;
  std::map<int64_t, int> taken_;
};

struct Case {
  std::shared_ptr<const RequestTokens> tokens;
  std::vector<NaiveIdentity> naive;
};

// With `generated` tokens more than each row's recorded output.
std::vector<Case> MakeCases(const std::vector<TraceRequest>& rows,
                            const TokenStreamOptions& options,
                            int64_t generated) {
  TokenStream stream(options);
  std::vector<Case> cases;
  for (const TraceRequest& row : rows) {
    const int64_t length = row.input_length + row.output_length + generated;
    Case c;
    c.tokens = stream.Add(row);
    c.tokens->CheckInvariants();
    if (options.continue_sessions && row.previous >= 0) {
      c.naive =
          NaiveContinuedTokens(row, options.partial_tail, length,
                               rows[row.previous], cases[row.previous].naive);
    } else {
      c.naive = NaiveTokens(row, options.partial_tail, length);
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

// Equal prefixes have equal keys and different prefixes different ones.
void ExpectKeysMatchNaive(const std::vector<Case>& cases, int64_t block) {
  NaivePrefixes prefixes;
  std::map<int64_t, uint64_t> key_of;
  std::map<uint64_t, int64_t> number_of;
  for (const Case& c : cases) {
    const std::vector<int64_t> numbers = prefixes.Numbers(c.naive, block);
    RequestKeys chain(c.tokens.get(), block);
    // In two steps, as when tokens are generated.
    chain.Prefix(static_cast<int64_t>(numbers.size() / 2));
    const auto keys = chain.Prefix(static_cast<int64_t>(numbers.size()));
    ASSERT_EQ(keys.size(), numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(key_of.emplace(numbers[i], keys[i]).first->second, keys[i])
          << "request " << c.tokens->request() << " block " << i << " of "
          << block << ": equal tokens, unequal keys";
      ASSERT_EQ(number_of.emplace(keys[i], numbers[i]).first->second,
                numbers[i])
          << "request " << c.tokens->request() << " block " << i << " of "
          << block << ": unequal tokens, equal keys";
    }
  }
}

const TokenStreamOptions kAllOptions[] = {
    {PartialTail::kUnique, false},
    {PartialTail::kUnique, true},
    {PartialTail::kShared, false},
    {PartialTail::kShared, true},
};

TEST(RequestKeysTest, MatchesTheTokenRuleForEveryBlockSizeUpTo600) {
  for (const TokenStreamOptions& options : kAllOptions) {
    World world(/*seed=*/1, /*hash_block=*/512, /*max_blocks=*/4);
    world.AddRows(12);
    const std::vector<Case> cases =
        MakeCases(world.rows(), options, /*generated=*/1300);
    for (int64_t block = 1; block <= 600; ++block) {
      ExpectKeysMatchNaive(cases, block);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RequestKeysTest, MatchesTheTokenRuleForBlocksOfHybridModels) {
  for (const TokenStreamOptions& options : kAllOptions) {
    for (const int64_t hash_block : {16, 64, 512}) {
      World world(/*seed=*/2, hash_block, /*max_blocks=*/6000 / hash_block);
      world.AddRows(20);
      const std::vector<Case> cases =
          MakeCases(world.rows(), options, /*generated=*/4500);
      for (const int64_t block : {528, 784, 1024, 1600, 2096}) {
        ExpectKeysMatchNaive(cases, block);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(RequestKeysTest, MatchesTheTokenRuleInManySmallWorlds) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const auto hash_block = static_cast<int64_t>(seed % 10);  // 0: no ids
    World world(seed, hash_block, /*max_blocks=*/5);
    world.AddRows(12);
    for (const TokenStreamOptions& options : kAllOptions) {
      const std::vector<Case> cases =
          MakeCases(world.rows(), options, /*generated=*/50);
      for (int64_t block = 1 + static_cast<int64_t>(seed % 3); block <= 24;
           block += 3) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ExpectKeysMatchNaive(cases, block);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// When ids are prefix-chained (an id fixes all ids before it), the last id of a
// block stands for the whole prefix: keys of hash-block size are equal exactly
// when ids are.
TEST(RequestKeysTest, ChainedIdsAreKeysOfWholePrefixes) {
  std::mt19937_64 random(7);
  std::map<std::vector<int>, uint64_t> id_of_path;
  std::map<uint64_t, uint64_t> key_of_id;
  std::map<uint64_t, uint64_t> id_of_key;
  for (int64_t n = 0; n < 300; ++n) {
    TraceRequest row;
    row.id = n;
    row.hash_block = 64;
    std::vector<int> path;
    const auto blocks = static_cast<int>(random() % 9);
    for (int i = 0; i < blocks; ++i) {
      path.push_back(static_cast<int>(random() % 2));
      const uint64_t fresh = id_of_path.size();
      row.hash_ids.push_back(id_of_path.emplace(path, fresh).first->second);
    }
    row.input_length = blocks * row.hash_block;
    const RequestTokens tokens(row, PartialTail::kUnique);
    RequestKeys chain(&tokens, row.hash_block);
    const auto keys = chain.Prefix(blocks);
    for (int i = 0; i < blocks; ++i) {
      EXPECT_EQ(key_of_id.emplace(row.hash_ids[i], keys[i]).first->second,
                keys[i]);
      EXPECT_EQ(id_of_key.emplace(keys[i], row.hash_ids[i]).first->second,
                row.hash_ids[i]);
    }
  }
}

TraceRequest MakeRow(int64_t id, int64_t input, int64_t output,
                     int64_t hash_block, std::vector<uint64_t> ids) {
  TraceRequest row;
  row.id = id;
  row.input_length = input;
  row.output_length = output;
  row.hash_block = hash_block;
  row.hash_ids = std::move(ids);
  return row;
}

// Blocks of 4 tokens that both requests' keys agree on.
int64_t AgreeingBlocks(const RequestTokens& a, const RequestTokens& b,
                       int64_t blocks) {
  RequestKeys a_chain(&a, 4);
  RequestKeys b_chain(&b, 4);
  const auto a_keys = a_chain.Prefix(blocks);
  const auto b_keys = b_chain.Prefix(blocks);
  return std::mismatch(a_keys.begin(), a_keys.end(), b_keys.begin()).first -
         a_keys.begin();
}

TEST(RequestKeysTest, PartialTailIsSharedOnlyWhenAsked) {
  // 8 tokens in a full block and 6 in a partial one with the same id 9.
  const TraceRequest a = MakeRow(0, 14, 5, 8, {3, 9});
  const TraceRequest b = MakeRow(1, 14, 5, 8, {3, 9});
  EXPECT_EQ(AgreeingBlocks(RequestTokens(a, PartialTail::kUnique),
                           RequestTokens(b, PartialTail::kUnique), 5),
            2);
  // Tokens 8..11 are the shared tail's; block 3 holds generated tokens too.
  EXPECT_EQ(AgreeingBlocks(RequestTokens(a, PartialTail::kShared),
                           RequestTokens(b, PartialTail::kShared), 5),
            3);
}

TEST(RequestKeysTest, NextTurnRepeatsTailAndOutputWhenContinued) {
  TraceRequest first = MakeRow(0, 10, 6, 8, {1});  // tail 8..9, output 10..15
  TraceRequest second = MakeRow(1, 19, 3, 8, {1, 2});
  first.session = second.session = 0;
  second.previous = 0;
  second.turn = 1;
  for (const bool continues : {false, true}) {
    TokenStream stream({PartialTail::kUnique, continues});
    const auto a = stream.Add(first);
    const auto b = stream.Add(second);
    EXPECT_EQ(AgreeingBlocks(*a, *b, 5), continues ? 4 : 2);
    EXPECT_EQ(stream.continued_turns(), continues ? 1 : 0);
    EXPECT_EQ(stream.continued_tokens(), continues ? 8 : 0);
  }
}

TEST(RequestKeysTest, ShorterNextTurnDoesNotRepeatTheOutput) {
  TraceRequest first = MakeRow(0, 10, 6, 8, {1});
  TraceRequest second = MakeRow(1, 15, 3, 8, {1});  // 15 < 10 + 6
  first.session = second.session = 0;
  second.previous = 0;
  TokenStream stream({PartialTail::kUnique, true});
  const auto a = stream.Add(first);
  const auto b = stream.Add(second);
  EXPECT_EQ(AgreeingBlocks(*a, *b, 4), 2);
  EXPECT_EQ(stream.continued_turns(), 0);
}

TEST(RequestKeysTest, IdsOfDifferentScopesDiffer) {
  TraceRequest a = MakeRow(0, 16, 1, 8, {1, 2});
  TraceRequest b = MakeRow(1, 16, 1, 8, {1, 2});
  b.scope = 1;
  EXPECT_EQ(AgreeingBlocks(RequestTokens(a, PartialTail::kUnique),
                           RequestTokens(b, PartialTail::kUnique), 4),
            0);
}

TEST(RequestKeysTest, IdsUseAll64Bits) {
  const TraceRequest a = MakeRow(0, 8, 1, 8, {0xffffffffffffffff});
  const TraceRequest b = MakeRow(1, 8, 1, 8, {0x7fffffffffffffff});
  EXPECT_EQ(AgreeingBlocks(RequestTokens(a, PartialTail::kUnique),
                           RequestTokens(b, PartialTail::kUnique), 2),
            0);
}

TEST(RequestKeysTest, AnswersForHugeLengths) {
  const TraceRequest row =
      MakeRow(0, int64_t{1} << 62, int64_t{1} << 62, 0, {});
  const RequestTokens tokens(row, PartialTail::kUnique);
  RequestKeys chain(&tokens, 16);
  EXPECT_EQ(chain.Prefix(0).size(), 0u);
  EXPECT_EQ(chain.Prefix(3).size(), 3u);
  RequestKeys one(&tokens, RequestTokens::kEndless);
  EXPECT_EQ(one.Prefix(1).size(), 1u);
}

// Wherever it begins and whatever of the parent's keys was asked for before: the
// keys of a fork are those of its tokens, and agree with the parent's up to there.
TEST(RequestKeysTest, AForkTakesOverTheParentsKeys) {
  const TraceRequest row = MakeRow(0, 21, 20, 8, {1, 2, 3});
  const RequestTokens parent(row, PartialTail::kShared);
  for (int64_t begin = 1; begin <= 40; ++begin) {
    const RequestTokens child(parent, begin, uint64_t{1} << 32);
    child.CheckInvariants();
    const RequestTokens grandchild(child, begin + 3, uint64_t{2} << 32);
    grandchild.CheckInvariants();
    for (const int64_t asked : {0, 3, 5, 10}) {
      RequestKeys parent_keys(&parent, 4);
      parent_keys.Prefix(asked);
      RequestKeys child_keys(&child, parent_keys, begin);
      RequestKeys plain(&child, 4);
      const auto a = child_keys.Prefix(12), b = plain.Prefix(12);
      ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    }
    EXPECT_EQ(AgreeingBlocks(parent, child, 12), begin / 4);
    EXPECT_EQ(AgreeingBlocks(child, grandchild, 12), (begin + 3) / 4);
  }
}

}  // namespace
}  // namespace kvsim
