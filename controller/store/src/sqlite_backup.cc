#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "controller/store/src/files.h"
#include "controller/store/src/sqlite_database.h"
#include "controller/store/src/sqlite_schema.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {
namespace {

using internal::Contents;
using internal::MetaRow;
using internal::RowWriter;

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// All of the database as it is in one instant; a controller that writes meanwhile is not disturbed.
absl::Status Copy(const std::string& from, const std::string& to) {
  const absl::StatusOr<SqliteDatabase> source = SqliteDatabase::Open(from);
  if (!source.ok()) return source.status();
  const absl::StatusOr<Contents> contents = internal::Inspect(*source, from);
  if (!contents.ok()) return contents.status();
  if (*contents != Contents::kCurrent) {
    return absl::FailedPreconditionError(absl::StrCat(
        "store: '", from, "' was written by an older version: start this version with it first"));
  }
  // If this was the last connection, no log is left that another user could not read.
  source->FoldLogOnClose();
  return source->Execute(
      absl::StrCat("VACUUM INTO '", absl::StrReplaceAll(to, {{"'", "''"}}), "'"));
}

// Whatever a copy knows of grants is old as soon as it is made.
absl::Status DeclareLost(const std::string& path, const std::string& why) {
  const absl::StatusOr<SqliteDatabase> copy = SqliteDatabase::Open(path);
  if (!copy.ok()) return copy.status();
  absl::Status done = internal::SetDurability(*copy);
  if (!done.ok()) return done;
  absl::StatusOr<MetaRow> meta = internal::ReadMeta(*copy);
  if (!meta.ok()) return meta.status();
  absl::StatusOr<RowWriter> writer = RowWriter::Make(*copy);
  if (!writer.ok()) return writer.status();
  const absl::StatusOr<std::vector<Document>> readable = internal::ReadDocuments(*copy);
  if (!readable.ok()) return readable.status();
  meta->lost = why;
  done = internal::InTransaction(*copy, [&] {
    const absl::Status erased = writer->EraseAll();
    return erased.ok() ? writer->Update(*meta) : erased;
  });
  if (done.ok()) done = copy->CheckIntegrity();
  copy->FoldLogOnClose();
  return done;
}

}  // namespace

absl::Status BackUpSqliteStore(const std::string& directory, const std::string& target,
                               const std::string& why) {
  const std::string source = directory + "/plimsoll.db";
  if (!internal::FileExists(source)) {
    return absl::NotFoundError(
        absl::StrCat("store: there is no '", source, "' to make a copy of; see state.dir"));
  }
  absl::Status done = internal::MakePrivateFile(target);
  if (!done.ok()) return done;
  // Under the name that was asked for, a copy never stands that could be taken for current.
  const std::string part = target + ".part";
  done = internal::MakePrivateFile(part);
  if (done.ok()) {
    done = Copy(source, part);
    if (done.ok()) done = DeclareLost(part, why);
    if (done.ok()) done = internal::RenameFile(part, target);
    if (!done.ok()) ::unlink(part.c_str());
  }
  if (done.ok()) done = internal::SyncDirectory(FolderOf(target));
  if (!done.ok()) ::unlink(target.c_str());
  return done;
}

}  // namespace plimsoll
