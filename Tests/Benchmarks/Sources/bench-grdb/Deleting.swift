import GRDB
import Workload

extension GRDBBench {
  /// A tenth of the diaries; SQLite deletes their images and pairs by itself.
  func deleteCascade(_ pool: DatabasePool) throws {
    try report.run("deleteCascade", items: count / 10) {
      try pool.write { db in for key in 1...count / 10 { _ = try Diary.deleteOne(db, key: Int64(key)) } }
      return count / 10
    }
  }
}
