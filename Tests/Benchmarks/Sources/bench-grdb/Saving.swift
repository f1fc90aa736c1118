import GRDB
import Workload

extension GRDBBench {
  /// One property of every diary, in one transaction.
  func update(_ pool: DatabasePool) throws {
    try report.run("update", items: count) {
      try pool.write { db in
        var all = try Diary.fetchAll(db)
        for index in all.indices { try all[index].updateChanges(db) { $0.intensity += 1 } }
        return all.count
      }
    }
  }

  /// One record fetched, changed and written, each in a transaction of its own.
  func smallSaves(_ workload: String, _ pool: DatabasePool) throws {
    guard settings.wants(workload) else { return }
    let keys = try pool.read { try Int64.fetchAll($0, sql: "SELECT pk FROM diary ORDER BY pk") }
    try report.run(workload, items: settings.smallSaves) {
      var chance = Generator(seed: 9)
      for _ in 0..<settings.smallSaves {
        let key = keys[chance.below(keys.count)]
        try pool.write { db in
          guard var diary = try Diary.fetchOne(db, key: key) else { return }
          try diary.updateChanges(db) { $0.isFavorite.toggle() }
        }
      }
      return settings.smallSaves
    }
  }

  /// One record of many written, each in a transaction of its own.
  func saveOneDirty(_ pool: DatabasePool) throws {
    try saveOneDirty("saveOneDirtyOf100", Diary.limit(100), pool)
    try saveOneDirty("saveOneDirtyOfAll", Diary.all(), pool)
  }

  private func saveOneDirty(
    _ workload: String, _ request: QueryInterfaceRequest<Diary>, _ pool: DatabasePool
  ) throws {
    guard settings.wants(workload) else { return }
    var held = try pool.read(request.fetchAll)
    try report.run(workload, items: 2_000) {
      for turn in 0..<2_000 {
        try pool.write { db in _ = try held[turn % 100].updateChanges(db) { $0.isFavorite.toggle() } }
      }
      return 2_000
    }
  }

  /// One property of every record changed in a copy, and the copy dropped: values need nothing more.
  func rollback(_ pool: DatabasePool) throws {
    for workload in ["rollback", "undo"] where settings.wants(workload) { try rollback(workload, pool) }
  }

  private func rollback(_ workload: String, _ pool: DatabasePool) throws {
    var all = try pool.read { try Diary.fetchAll($0) }
    report.run(workload, items: count) {
      let before = all
      for index in all.indices { all[index].intensity += 1 }
      all = before
      return all.reduce(0) { $0 &+ $1.intensity }
    }
  }

  /// Every diary once more under its unique key with another text, in one transaction.
  func upsert(_ pool: DatabasePool) throws {
    try report.run("upsert", items: count) {
      try pool.write { db in
        try makeDiaries(count) { values, _ in
          var diary = Diary(
            pk: nil, id: values.id, emotion: emotions[values.emotion], content: values.content + "!",
            createdAt: values.createdAt, intensity: values.intensity, isFavorite: values.isFavorite)
          try diary.upsert(db)
        }
      }
      return count
    }
  }
}
