import GRDB
import Workload

extension GRDBBench {
  /// A tenth of the diaries; SQLite deletes their images and pairs by itself.
  func deleteCascade(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      _ = try pool.write { try Diary.deleteAll($0, keys: Array(1...Int64(count / 10))) }
      return count / 10
    }
  }
}
