// Checks that stay on in release builds.
//
// A failed check is a bug in the program, never bad input: a wrong config,
// trace or flag is an absl::Status. Runs are cheap and wrong numbers are not,
// so a check costs its comparison in every build.
//
//   KVSIM_CHECK(ref_count > 0) << "block " << block;
//   KVSIM_CHECK_EQ(held + idle + free, total);
//
// The text after `<<` is built only when the check fails. The program prints
// file, line, condition, both values and the text on stderr, then aborts.
// Values need an operator<<. Arguments are evaluated once.

#ifndef KVSIM_BASE_CHECK_H_
#define KVSIM_BASE_CHECK_H_

#include <memory>
#include <ostream>
#include <sstream>
#include <string>

namespace kvsim::internal {

// Collects the message of a failed check and aborts when destroyed.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const std::string& condition);
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure();

  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Gives both arms of the ?: in KVSIM_CHECK the type void. `&` binds weaker
// than `<<` and stronger than `?:`.
struct Voidify {
  void operator&(std::ostream&) const {}
};

// The text of a failed comparison, or null when it holds.
template <typename A, typename B>
std::unique_ptr<std::string> ComparisonText(const char* expression, const A& a,
                                            const B& b) {
  std::ostringstream out;
  out << expression << " (" << a << " vs. " << b << ")";
  return std::make_unique<std::string>(out.str());
}

#define KVSIM_DEFINE_COMPARISON_(name, op)                           \
  template <typename A, typename B>                                  \
  inline std::unique_ptr<std::string> name(const A& a, const B& b,   \
                                           const char* expression) { \
    if (a op b) [[likely]]                                           \
      return nullptr;                                                \
    return ComparisonText(expression, a, b);                         \
  }
KVSIM_DEFINE_COMPARISON_(CompareEq, ==)
KVSIM_DEFINE_COMPARISON_(CompareNe, !=)
KVSIM_DEFINE_COMPARISON_(CompareLt, <)
KVSIM_DEFINE_COMPARISON_(CompareLe, <=)
KVSIM_DEFINE_COMPARISON_(CompareGt, >)
KVSIM_DEFINE_COMPARISON_(CompareGe, >=)
#undef KVSIM_DEFINE_COMPARISON_

}  // namespace kvsim::internal

#define KVSIM_CHECK(condition)                                              \
  (condition)                                                               \
      ? (void)0                                                             \
      : ::kvsim::internal::Voidify() &                                      \
            ::kvsim::internal::CheckFailure(__FILE__, __LINE__, #condition) \
                .stream()

// `while` rather than `if`, so that a following `else` cannot attach to it.
#define KVSIM_CHECK_OP_(compare, op, a, b)                            \
  while (auto kvsim_failed =                                          \
             ::kvsim::internal::compare((a), (b), #a " " #op " " #b)) \
  ::kvsim::internal::CheckFailure(__FILE__, __LINE__, *kvsim_failed).stream()

#define KVSIM_CHECK_EQ(a, b) KVSIM_CHECK_OP_(CompareEq, ==, a, b)
#define KVSIM_CHECK_NE(a, b) KVSIM_CHECK_OP_(CompareNe, !=, a, b)
#define KVSIM_CHECK_LT(a, b) KVSIM_CHECK_OP_(CompareLt, <, a, b)
#define KVSIM_CHECK_LE(a, b) KVSIM_CHECK_OP_(CompareLe, <=, a, b)
#define KVSIM_CHECK_GT(a, b) KVSIM_CHECK_OP_(CompareGt, >, a, b)
#define KVSIM_CHECK_GE(a, b) KVSIM_CHECK_OP_(CompareGe, >=, a, b)

#endif  // KVSIM_BASE_CHECK_H_
