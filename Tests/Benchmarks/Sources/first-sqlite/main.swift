// Opens the file of 50 or 200 tables that Trellis has made, and reads one row.
import CSQLite3
import Workload

func firstRow(_ path: String) -> Int {
  var database: OpaquePointer?, statement: OpaquePointer?
  sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
  sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON", nil, nil, nil)
  sqlite3_prepare_v2(database, "SELECT title,amount,weight,isDone FROM Entity020 LIMIT 1", -1, &statement, nil)
  guard sqlite3_step(statement) == SQLITE_ROW, let title = sqlite3_column_text(statement, 0) else { return 0 }
  let sum =
    String(cString: title).utf8.count + Int(sqlite3_column_int64(statement, 1))
    + Int(sqlite3_column_double(statement, 2)) + Int(sqlite3_column_int(statement, 3))
  sqlite3_finalize(statement)
  sqlite3_close(database)
  return sum
}

let settings = Settings()
for workload in settings.firstFetches {
  let path = settings.path(workload.rawValue, isNew: false)
  try Report.run(workload, as: "sqlite", settings) { firstRow(path) }
}
