// What every reader accepts, so that all formats refuse the same values and the
// arithmetic behind them cannot overflow.
#ifndef KVSIM_TRACES_TRACE_LIMITS_H_
#define KVSIM_TRACES_TRACE_LIMITS_H_

#include <cstdint>

namespace kvsim {

// Prompt or output tokens of one request: 2^40, far above any context.
inline constexpr int64_t kMaxTraceTokens = int64_t{1} << 40;
// Times: 2^61 ns = 73 years, so that the sum of three is an int64. Milliseconds
// since 1970 fit, microseconds do not.
inline constexpr int64_t kMaxTraceTimeNs = int64_t{1} << 61;
// Tokens per hash id.
inline constexpr int64_t kMaxHashBlock = int64_t{1} << 30;

inline constexpr char kAcceptedInputLength[] =
    "an integer from 1 to 1099511627776 (tokens; an engine serves no empty "
    "prompt)";
inline constexpr char kAcceptedOutputLength[] =
    "an integer from 0 to 1099511627776 (tokens)";
inline constexpr char kAcceptedHashBlock[] =
    "an integer from 1 to 1073741824 (tokens per hash id)";
inline constexpr char kAcceptedHashIds[] =
    "a list of integers from 0 to 18446744073709551615";

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_LIMITS_H_
