import GRDB
import Workload

extension GRDBBench {
  /// One property of every diary, in one transaction.
  func update(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in
        var all = try Diary.fetchAll(db)
        for index in all.indices { try all[index].updateChanges(db) { $0.intensity += 1 } }
        return all.count
      }
    }
  }

  /// One record fetched, changed and written, each in a transaction of its own.
  func smallSaves(_ workload: Workload, _ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    let keys = try pool.read { try Int64.fetchAll($0, sql: "SELECT pk FROM diary ORDER BY pk") }
    return {
      var chance = Generator(seed: 9)
      for _ in 0..<settings.items(workload) {
        let key = keys[chance.below(keys.count)]
        try pool.write { db in
          guard var diary = try Diary.fetchOne(db, key: key) else { return }
          try diary.updateChanges(db) { $0.isFavorite.toggle() }
        }
      }
      return settings.items(workload)
    }
  }

  /// One record of many written, each in a transaction of its own.
  func saveOneDirty(_ request: QueryInterfaceRequest<Diary>, _ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    let all = try pool.read(request.fetchAll)
    return {
      var held = all
      for turn in 0..<2_000 {
        try pool.write { db in _ = try held[turn % 100].updateChanges(db) { $0.isFavorite.toggle() } }
      }
      return 2_000
    }
  }

  /// One property of every record changed in a copy, and the copy dropped: values need nothing more.
  func rollback(_ store: GRDBStore) throws -> Work {
    let fetched = try store.pool().read { try Diary.fetchAll($0) }
    return {
      var all = fetched
      for index in all.indices { all[index].intensity += 1 }
      all = fetched
      return all.reduce(0) { $0 &+ $1.intensity }
    }
  }
}
