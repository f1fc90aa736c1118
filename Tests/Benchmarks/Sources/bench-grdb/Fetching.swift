import GRDB
import Workload

extension GRDBBench {
  func fetchAll(_ store: GRDBStore) -> Work {
    { try store.pool().read { try Diary.fetchAll($0) }.reduce(0) { $0 &+ $1.sum } }
  }

  func byID(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    var chance = Generator(seed: 7)
    let order = chance.shuffled(below: count)
    return {
      try pool.read { db in
        try order.reduce(0) { $0 &+ (try Diary.fetchOne(db, key: Int64($1 + 1))?.intensity ?? 0) }
      }
    }
  }

  func latestByEmotion(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool(), queries = settings.items(.latestByEmotion)
    return {
      try pool.read { db in
        var chance = Generator(seed: 8)
        return try (0..<queries).reduce(0) { sum, _ in
          let emotion = emotions[chance.below(emotions.count)]
          let request = Diary.filter(Diary.Columns.emotion == emotion).order(Diary.Columns.createdAt.desc)
          return sum &+ Int(try request.fetchOne(db)?.createdAt ?? 0)
        }
      }
    }
  }

  func searchText(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let content = Diary.Columns.content
      let request = Diary.filter(content.like("%\(searchedTexts[0])%") || content.like("%\(searchedTexts[1])%"))
      return try pool.read(request.fetchAll).reduce(0) { $0 &+ $1.intensity &+ 1 }
    }
  }

  func filterSort(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let request = Diary.filter(Diary.Columns.intensity > leastIntensity && Diary.Columns.isFavorite == true)
        .order(Diary.Columns.createdAt.desc, Diary.Columns.pk.desc)
      return orderedSum(try pool.read(request.fetchAll).map { Int($0.createdAt) })
    }
  }

  /// The records are held in an array: GRDB has no identity map, and values need none.
  func bytesPerObject(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    // Fills the caches of SQLite.
    _ = try pool.read { try Diary.fetchAll($0) }
    return {
      let before = bytesInUse()
      let all = try pool.read { try Diary.fetchAll($0) }
      let bytes = bytesInUse() - before
      return withExtendedLifetime(all) { bytes / all.count }
    }
  }

  func peakOfFetch(_ store: GRDBStore) throws -> Work {
    {
      let all = try store.pool().read { try Diary.fetchAll($0) }
      return withExtendedLifetime(all) { peakMegabytes() }
    }
  }
}
