#include "tools/sweep_store.h"

#include <sqlite3.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace kvsim {
namespace {

absl::Status SqlError(sqlite3* db, const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", path, "': ", sqlite3_errmsg(db)));
}

absl::Status Execute(sqlite3* db, const std::string& path,
                     const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return SqlError(db, path);
  }
  return absl::OkStatus();
}

std::string Name(const std::string& name) {
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

// A prepared statement, finished at the end of its scope.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) {
    sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void Bind(int at, int64_t value) {
    sqlite3_bind_int64(statement_, at, value);
  }
  void Bind(int at, const std::string& text) {
    sqlite3_bind_text(statement_, at, text.c_str(),
                      static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  // SQLITE_ROW, SQLITE_DONE, or an error, also of an earlier call.
  int Step() { return sqlite3_step(statement_); }
  int64_t Integer(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  std::string Text(int column) const {
    const auto* text = sqlite3_column_text(statement_, column);
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

absl::Status MakeTables(sqlite3* db, const std::string& path,
                        const SweepSchema& schema, bool figures_as_text) {
  std::string columns = "point INTEGER PRIMARY KEY";
  for (const std::string& name : schema.varied) {
    absl::StrAppend(&columns, ", ", Name(name), " TEXT");
  }
  absl::StrAppend(&columns, ", error TEXT");
  for (const auto& [name, whole] : schema.figures) {
    absl::StrAppend(&columns, ", ", Name(name),
                    figures_as_text ? " TEXT"
                    : whole         ? " INTEGER"
                                    : " REAL");
  }
  absl::Status status =
      Execute(db, path,
              absl::StrCat("CREATE TABLE sweep(name TEXT, value TEXT);"
                           "CREATE TABLE points(",
                           columns, ");"));
  for (const auto& [name, value] : schema.signature) {
    if (!status.ok()) return status;
    Statement insert(db, "INSERT INTO sweep VALUES (?, ?)");
    insert.Bind(1, name);
    insert.Bind(2, value);
    if (insert.Step() != SQLITE_DONE) status = SqlError(db, path);
  }
  return status;
}

absl::Status Insert(sqlite3* db, const std::string& path, int64_t point,
                    const SweepRow& row, const SweepSchema& schema) {
  std::string marks = "?";
  const size_t columns = schema.varied.size() + 1 + schema.figures.size();
  for (size_t i = 0; i < columns; ++i) marks += ", ?";
  Statement insert(db, absl::StrCat("INSERT INTO points VALUES (", marks, ")"));
  int at = 1;
  insert.Bind(at++, point);
  for (const std::string& value : row.values) insert.Bind(at++, value);
  if (!row.error.empty()) insert.Bind(at, row.error);
  ++at;
  for (const std::string& figure : row.figures) insert.Bind(at++, figure);
  if (insert.Step() != SQLITE_DONE) return SqlError(db, path);
  return absl::OkStatus();
}

absl::Status OpenDatabase(const std::string& path, sqlite3** db) {
  if (sqlite3_open(path.c_str(), db) != SQLITE_OK) return SqlError(*db, path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SweepStore>> SweepStore::Open(
    const std::string& path, const SweepSchema& schema) {
  if (std::filesystem::exists(path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", path, "' is already there; accepted: the name of a new file"));
  }
  std::unique_ptr<SweepStore> store(
      new SweepStore(absl::StrCat(path, ".partial"), schema));
  absl::Status status = OpenDatabase(store->path_, &store->partial_);
  if (!status.ok()) return status;
  // A run that was killed at once leaves a file without tables.
  Statement tables(store->partial_,
                   "SELECT count(*) FROM sqlite_master WHERE name = 'points'");
  if (tables.Step() != SQLITE_ROW) {
    return SqlError(store->partial_, store->path_);
  }
  if (tables.Integer(0) == 0) {
    status.Update(Execute(store->partial_, store->path_, "BEGIN"));
    status.Update(MakeTables(store->partial_, store->path_, schema, true));
    status.Update(Execute(store->partial_, store->path_, "COMMIT"));
  } else {
    status = store->Load();
  }
  if (!status.ok()) return status;
  return store;
}

SweepStore::~SweepStore() { sqlite3_close(partial_); }

absl::Status SweepStore::Load() {
  Statement common(partial_, "SELECT name, value FROM sweep ORDER BY rowid");
  std::vector<std::pair<std::string, std::string>> signature;
  int result;
  while ((result = common.Step()) == SQLITE_ROW) {
    signature.emplace_back(common.Text(0), common.Text(1));
  }
  if (result != SQLITE_DONE) return SqlError(partial_, path_);
  for (size_t i = 0; i < schema_.signature.size(); ++i) {
    const auto& [name, value] = schema_.signature[i];
    if (i < signature.size() && signature[i] == schema_.signature[i]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", path_, "' holds points of another sweep: its ", name, " is '",
        i < signature.size() ? signature[i].second : "", "', now '", value,
        "'. Remove it, or write to another file"));
  }
  Statement points(partial_, "SELECT * FROM points");
  while ((result = points.Step()) == SQLITE_ROW) {
    SweepRow row;
    int at = 1;
    for (size_t i = 0; i < schema_.varied.size(); ++i) {
      row.values.push_back(points.Text(at++));
    }
    row.error = points.Text(at++);
    for (size_t i = 0; row.error.empty() && i < schema_.figures.size(); ++i) {
      row.figures.push_back(points.Text(at++));
    }
    rows_.emplace(points.Integer(0), std::move(row));
  }
  return result == SQLITE_DONE ? absl::OkStatus() : SqlError(partial_, path_);
}

absl::Status SweepStore::Put(int64_t point, SweepRow row) {
  const absl::Status status = Insert(partial_, path_, point, row, schema_);
  if (status.ok()) rows_.emplace(point, std::move(row));
  return status;
}

absl::Status SweepStore::Finish() {
  const std::string final_path =
      path_.substr(0, path_.size() - std::string(".partial").size());
  const std::string made = absl::StrCat(final_path, ".new");
  std::error_code ignored;
  std::filesystem::remove(made, ignored);
  sqlite3* db = nullptr;
  absl::Status status = OpenDatabase(made, &db);
  // A file that is renamed when complete needs no journal.
  status.Update(Execute(db, made, "PRAGMA journal_mode=OFF; BEGIN"));
  if (status.ok()) status = MakeTables(db, made, schema_, false);
  for (const auto& [point, row] : rows_) {
    if (status.ok()) status = Insert(db, made, point, row, schema_);
  }
  if (status.ok()) status = Execute(db, made, "COMMIT");
  sqlite3_close(db);
  if (!status.ok()) return status;
  std::error_code error;
  std::filesystem::rename(made, final_path, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", final_path, "': ", error.message()));
  }
  sqlite3_close(partial_);
  partial_ = nullptr;
  std::filesystem::remove(path_, ignored);
  return absl::OkStatus();
}

}  // namespace kvsim
