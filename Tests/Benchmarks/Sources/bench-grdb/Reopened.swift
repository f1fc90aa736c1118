import GRDB
import Workload

extension GRDBBench {
  /// What needs a process of its own, on the file that an earlier run has left.
  func runReopened() throws {
    try report.run("fetchAllCold", items: count) {
      try open().read { try Diary.fetchAll($0) }.reduce(0) { $0 &+ $1.sum }
    }
    let pool = try open()
    try bytesPerObject(pool)
    try smallSaves("smallSavesDurable", pool)
  }

  /// The records are held in an array: GRDB has no identity map, and values need none.
  private func bytesPerObject(_ pool: DatabasePool) throws {
    try report.bytesPerObject {
      _ = try pool.read { try FastDiary.fetchAll($0) }
    } hold: { isHeld in
      let all = try pool.read { try Diary.fetchAll($0) }
      isHeld(all.count)
      withExtendedLifetime(all) {}
    }
  }
}
