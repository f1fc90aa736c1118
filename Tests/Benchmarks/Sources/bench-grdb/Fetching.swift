import GRDB
import Workload

extension GRDBBench {
  func fetch(_ pool: DatabasePool) throws {
    try fetchAll(pool)
    try byID(pool)
    try latestByEmotion(pool)
    try searchText(pool)
  }

  /// Records are values and nobody keeps them by key: a second fetch reads them again, and a record is its own snapshot.
  private func fetchAll(_ pool: DatabasePool) throws {
    for workload in ["fetchAll", "fetchAllAgain", "snapshots"] {
      try report.run(workload, items: count) {
        try pool.read { try Diary.fetchAll($0) }.reduce(0) { $0 &+ $1.sum }
      }
      try fast.run(workload, items: count) {
        try pool.read { try FastDiary.fetchAll($0) }.reduce(0) { $0 &+ $1.sum }
      }
    }
  }

  private func byID(_ pool: DatabasePool) throws {
    var chance = Generator(seed: 7)
    let order = chance.shuffled(below: count)
    for workload in ["byID", "byIDRegistered"] {
      try report.run(workload, items: count) {
        try pool.read { db in
          try order.reduce(0) { $0 &+ (try Diary.fetchOne(db, key: Int64($1 + 1))?.intensity ?? 0) }
        }
      }
    }
  }

  private func latestByEmotion(_ pool: DatabasePool) throws {
    try report.run("latestByEmotion", items: settings.latestQueries) {
      try pool.read { db in
        var chance = Generator(seed: 8)
        return try (0..<settings.latestQueries).reduce(0) { sum, _ in
          let emotion = emotions[chance.below(emotions.count)]
          let request = Diary.filter(Diary.Columns.emotion == emotion).order(Diary.Columns.createdAt.desc)
          return sum &+ Int(try request.fetchOne(db)?.createdAt ?? 0)
        }
      }
    }
  }

  private func searchText(_ pool: DatabasePool) throws {
    try report.run("searchText", items: count) {
      let content = Diary.Columns.content
      let request = Diary.filter(content.like("%\(searchedTexts[0])%") || content.like("%\(searchedTexts[1])%"))
      return try pool.read(request.fetchAll).reduce(0) { $0 &+ $1.intensity &+ 1 }
    }
  }
}
