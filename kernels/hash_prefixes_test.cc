#include "kernels/hash_prefixes.h"

#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/guarded_buffer.h"

namespace kvsim {
namespace {

constexpr KeyWidth kWidths[] = {KeyWidth::k64Bits, KeyWidth::k128Bits};

struct Prompt {
  uint64_t salt = 0;
  std::vector<int32_t> tokens;
};

Prompt RandomPrompt(RandomStream& random, size_t num_tokens) {
  Prompt prompt = {random.Next(), std::vector<int32_t>(num_tokens)};
  for (int32_t& token : prompt.tokens) {
    token = static_cast<int32_t>(random.Next());
  }
  return prompt;
}

// A number's bytes, lowest first.
template <typename T>
void Append(std::string* bytes, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes->push_back(static_cast<char>(number >> (8 * i) & 0xFF));
  }
}

// The header's definition, written out.
std::vector<uint64_t> PlainKeys(const Prompt& prompt, KeyWidth width,
                                size_t block_tokens) {
  std::vector<uint64_t> keys;
  std::string before;
  Append(&before, prompt.salt);
  if (width == KeyWidth::k128Bits) Append(&before, uint64_t{0});
  for (size_t end = block_tokens; end <= prompt.tokens.size();
       end += block_tokens) {
    std::string message = before;
    for (size_t i = end - block_tokens; i < end; ++i) {
      Append(&message, static_cast<uint32_t>(prompt.tokens[i]));
    }
    before.clear();
    if (width == KeyWidth::k64Bits) {
      keys.push_back(XXH3_64bits(message.data(), message.size()));
      Append(&before, keys.back());
      continue;
    }
    const XXH128_hash_t hash = XXH3_128bits(message.data(), message.size());
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    before.assign(std::rbegin(canonical.digest), std::rend(canonical.digest));
    keys.insert(keys.end(), {hash.low64, hash.high64});
  }
  return keys;
}

// A batch in the operation's shapes. Every prompt has room for a key too many.
class Batch {
 public:
  Batch(const std::vector<Prompt>& prompts, KeyWidth width,
        int32_t block_tokens)
      : words_(WordsPerKey(width)) {
    for (const Prompt& prompt : prompts) {
      salts_.push_back(prompt.salt);
      tokens_.insert(tokens_.end(), prompt.tokens.begin(), prompt.tokens.end());
      token_starts_.push_back(static_cast<int64_t>(tokens_.size()));
      key_starts_.push_back(key_starts_.back() + 1 +
                            static_cast<int64_t>(prompt.tokens.size()) /
                                block_tokens);
    }
    args_.width = width;
    args_.block_tokens = block_tokens;
    args_.token_ids = tokens_.data();
    args_.token_starts = token_starts_.data();
    args_.salts = salts_.data();
    args_.num_prompts = static_cast<int64_t>(prompts.size());
    args_.key_starts = key_starts_.data();
  }

  // Of every prompt.
  std::vector<std::vector<uint64_t>> KeysOnHost() {
    GuardedBuffer buffer(key_starts_.back() * words_ * 8);
    args_.keys = buffer.as<uint64_t>();
    EXPECT_TRUE(HashPrefixesOnHost(args_).ok());
    std::vector<std::vector<uint64_t>> keys;
    for (int64_t p = 0; p < args_.num_prompts; ++p) {
      const int64_t num_keys = args_.NumKeys(p);
      const uint64_t* begin = args_.Key(p, 0);
      keys.emplace_back(begin, begin + num_keys * words_);
      EXPECT_TRUE(buffer.Untouched((begin - args_.keys + num_keys * words_) * 8,
                                   words_ * 8));
    }
    return keys;
  }

  // As the device computes them: 32 blocks are begun, last one first, then
  // finished in order.
  template <KeyWidth kWidth>
  std::vector<uint64_t> KeysInTwoSteps(int64_t prompt) const {
    using Step = ChainStep<kWidth>;
    std::vector<uint64_t> keys;
    ChainKey key = {salts_[static_cast<size_t>(prompt)], 0};
    const int64_t num_keys = args_.NumKeys(prompt);
    for (int64_t first = 0; first < num_keys; first += 32) {
      typename Step::Rest rests[32];
      const int64_t count = std::min<int64_t>(32, num_keys - first);
      for (int64_t i = count; i-- > 0;) {
        rests[i] =
            Step::Begin(args_.Block(prompt, first + i), args_.MessageBytes());
      }
      for (int64_t i = 0; i < count; ++i) {
        key = Step::Finish(rests[i], key, args_.Block(prompt, first + i),
                           args_.MessageBytes());
        keys.push_back(key.low);
        if (kWidth == KeyWidth::k128Bits) keys.push_back(key.high);
      }
    }
    return keys;
  }
  std::vector<uint64_t> KeysInTwoSteps(int64_t prompt) const {
    return args_.width == KeyWidth::k64Bits
               ? KeysInTwoSteps<KeyWidth::k64Bits>(prompt)
               : KeysInTwoSteps<KeyWidth::k128Bits>(prompt);
  }

 private:
  int words_;
  std::vector<uint64_t> salts_;
  std::vector<int32_t> tokens_;
  std::vector<int64_t> token_starts_ = {0};
  std::vector<int64_t> key_starts_ = {0};
  HashPrefixesArgs args_;
};

void ExpectEqualsPlainKeys(const std::vector<Prompt>& prompts,
                           int32_t block_tokens) {
  for (const KeyWidth width : kWidths) {
    Batch batch(prompts, width, block_tokens);
    const std::vector<std::vector<uint64_t>> keys = batch.KeysOnHost();
    for (size_t p = 0; p < prompts.size(); ++p) {
      const std::vector<uint64_t> plain =
          PlainKeys(prompts[p], width, static_cast<size_t>(block_tokens));
      ASSERT_EQ(keys[p], plain) << "prompt " << p << " of blocks of "
                                << block_tokens << " on the host";
      ASSERT_EQ(batch.KeysInTwoSteps(static_cast<int64_t>(p)), plain)
          << "prompt " << p << " of blocks of " << block_tokens
          << " in two steps";
    }
  }
}

// Messages of 12 to 1216 bytes: every path of XXH3, and beyond its first scramble.
TEST(HashPrefixesTest, EqualsItsDefinitionAtEveryBlockSize) {
  RandomStream random(1, "hash prefixes");
  for (int32_t block_tokens = 1; block_tokens <= 300; ++block_tokens) {
    const auto block = static_cast<size_t>(block_tokens);
    std::vector<Prompt> prompts;
    for (const size_t num_tokens :
         {size_t{0}, block - 1, block, 3 * block + block / 2, 35 * block}) {
      prompts.push_back(RandomPrompt(random, num_tokens));
    }
    ExpectEqualsPlainKeys(prompts, block_tokens);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(HashPrefixesTest, LargeBlocks) {
  RandomStream random(2, "hash prefixes");
  for (const int32_t block_tokens : {511, 512, 1024, 1039, 5000}) {
    ExpectEqualsPlainKeys({RandomPrompt(random, 20'000)}, block_tokens);
    ASSERT_FALSE(HasFatalFailure());
  }
}

// A million tokens are 65,536 blocks of 16.
TEST(HashPrefixesTest, LongChains) {
  RandomStream random(3, "hash prefixes");
  const Prompt prompt = RandomPrompt(random, 65'536 * 16);
  ExpectEqualsPlainKeys({prompt, RandomPrompt(random, 100), prompt}, 16);
}

TEST(HashPrefixesTest, SharedPrefixesHaveSharedKeys) {
  RandomStream random(4, "hash prefixes");
  std::vector<Prompt> prompts(3, RandomPrompt(random, 160));
  prompts[1].tokens[75] ^= 1;  // in block 4 of 10
  prompts[2].salt ^= 1;
  for (const KeyWidth width : kWidths) {
    const auto keys = Batch(prompts, width, 16).KeysOnHost();
    const int words = WordsPerKey(width);
    for (int i = 0; i < 10 * words; ++i) {
      const auto at = static_cast<size_t>(i);
      EXPECT_EQ(keys[1][at] == keys[0][at], i < 4 * words) << i;
      EXPECT_NE(keys[2][at], keys[0][at]) << i;
    }
  }
}

TEST(HashPrefixesTest, RefusesWhatItCanSee) {
  HashPrefixesArgs args;
  EXPECT_STREQ(HashPrefixesOnHost(args).message,
               "block_tokens must be positive");
  args.block_tokens = 16;
  args.num_prompts = -1;
  EXPECT_STREQ(HashPrefixesOnHost(args).message, "num_prompts is negative");
  args.num_prompts = 0;
  args.width = static_cast<KeyWidth>(2);
  EXPECT_STREQ(HashPrefixesOnHost(args).message,
               "width must be 64 or 128 bits");
}

}  // namespace
}  // namespace kvsim
