#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "kernels/gpu_test.h"
#include "kernels/hash_prefixes.h"

namespace kvsim {
namespace {

class HashPrefixesGpuTest : public GpuTest {
 protected:
  static void ExpectEqualsHostTwin(const std::vector<int64_t>& prompt_tokens,
                                   int32_t block_tokens, KeyWidth width);
};

void HashPrefixesGpuTest::ExpectEqualsHostTwin(
    const std::vector<int64_t>& prompt_tokens, int32_t block_tokens,
    KeyWidth width) {
  RandomStream random(1, "hash prefixes on a device");
  std::vector<int64_t> token_starts = {0};
  std::vector<int64_t> key_starts = {0};
  std::vector<uint64_t> salts;
  for (const int64_t tokens : prompt_tokens) {
    token_starts.push_back(token_starts.back() + tokens);
    key_starts.push_back(key_starts.back() + tokens / block_tokens);
    salts.push_back(random.Next());
  }
  std::vector<int32_t> token_ids(static_cast<size_t>(token_starts.back()));
  for (int32_t& token : token_ids) token = static_cast<int32_t>(random.Next());
  std::vector<uint64_t> expected(static_cast<size_t>(key_starts.back()) *
                                 static_cast<size_t>(WordsPerKey(width)));
  HashPrefixesArgs args;
  args.width = width;
  args.block_tokens = block_tokens;
  args.token_ids = token_ids.data();
  args.token_starts = token_starts.data();
  args.salts = salts.data();
  args.num_prompts = static_cast<int64_t>(prompt_tokens.size());
  args.key_starts = key_starts.data();
  args.keys = expected.data();
  ASSERT_TRUE(HashPrefixesOnHost(args).ok());

  const DeviceArray<int32_t> device_tokens(token_ids);
  const DeviceArray<int64_t> device_token_starts(token_starts);
  const DeviceArray<int64_t> device_key_starts(key_starts);
  const DeviceArray<uint64_t> device_salts(salts);
  const DeviceArray<uint64_t> keys(static_cast<int64_t>(expected.size()));
  args.token_ids = device_tokens.data();
  args.token_starts = device_token_starts.data();
  args.salts = device_salts.data();
  args.key_starts = device_key_starts.data();
  args.keys = keys.data();
  ASSERT_TRUE(Ran(LaunchHashPrefixes(args, {})));
  EXPECT_EQ(keys.Download(), expected) << block_tokens << " tokens";
}

// Every path of XXH3, and prompts of less than a block, a warp, and more.
TEST_F(HashPrefixesGpuTest, EqualsHostTwinAtEveryBlockSize) {
  for (int32_t block_tokens = 1; block_tokens <= 300; ++block_tokens) {
    const std::vector<int64_t> prompts = {0, block_tokens - 1,
                                          int64_t{3} * block_tokens + 1,
                                          int64_t{70} * block_tokens};
    for (const KeyWidth width : {KeyWidth::k64Bits, KeyWidth::k128Bits}) {
      ExpectEqualsHostTwin(prompts, block_tokens, width);
    }
  }
}

// A million tokens beside a batch of short prompts.
TEST_F(HashPrefixesGpuTest, EqualsHostTwinInLongChains) {
  std::vector<int64_t> prompts(500, 333);
  prompts[17] = 65'536 * 16;
  for (const KeyWidth width : {KeyWidth::k64Bits, KeyWidth::k128Bits}) {
    ExpectEqualsHostTwin(prompts, 16, width);
  }
}

}  // namespace
}  // namespace kvsim
