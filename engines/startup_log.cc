#include "engines/startup_log.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"

namespace kvsim {
namespace {

bool IsNumberWithCommas(absl::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789,.-+") == absl::string_view::npos;
}

}  // namespace

double HalfUnit(absl::string_view printed) {
  const size_t point = printed.find('.');
  if (point == absl::string_view::npos) return 0;
  return 0.5 * std::pow(10, -static_cast<double>(printed.size() - point - 1));
}

void StartupLog::Set(absl::string_view name, absl::string_view text,
                     int64_t line) {
  std::string plain = IsNumberWithCommas(text)
                          ? absl::StrReplaceAll(text, {{",", ""}})
                          : std::string(text);
  const auto found = index_.find(name);
  if (found != index_.end()) {
    facts_[found->second].text = std::move(plain);
    facts_[found->second].line = line;
    return;
  }
  if (facts_.size() >= kMostFacts) return;
  index_.emplace(name, facts_.size());
  facts_.push_back({std::string(name), std::move(plain), line});
}

void StartupLog::SetOnce(absl::string_view name, absl::string_view text,
                         int64_t line) {
  if (Find(name) == nullptr) Set(name, text, line);
}

const LogFact* StartupLog::Find(absl::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &facts_[found->second];
}

std::string StartupLog::Text(absl::string_view name) const {
  const LogFact* fact = Find(name);
  return fact == nullptr ? "" : fact->text;
}

std::optional<double> StartupLog::Number(absl::string_view name) const {
  double value = 0;
  const LogFact* fact = Find(name);
  if (fact == nullptr || !absl::SimpleAtod(fact->text, &value) ||
      !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> StartupLog::Integer(absl::string_view name) const {
  int64_t value = 0;
  const LogFact* fact = Find(name);
  if (fact == nullptr || !absl::SimpleAtoi(fact->text, &value)) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string> StartupLog::Children(absl::string_view prefix) const {
  std::vector<std::string> children;
  for (const LogFact& fact : facts_) {
    absl::string_view name = fact.name;
    if (!absl::StartsWith(name, prefix)) continue;
    name.remove_prefix(prefix.size());
    children.emplace_back(name.substr(0, name.find('.')));
  }
  std::sort(children.begin(), children.end(),
            [](const std::string& a, const std::string& b) {
              return a.size() != b.size() ? a.size() < b.size() : a < b;
            });
  children.erase(std::unique(children.begin(), children.end()), children.end());
  return children;
}

}  // namespace kvsim
