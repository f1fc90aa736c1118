import GRDB
import Workload

extension GRDBBench {
  /// Every diary with its images, in one transaction.
  func insert(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in try makeDiaries(count) { try insert($0, $1, db) } }
      return count * 4
    }
  }

  /// Every diary, each thousand of them in a transaction.
  func importInSaves(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      var batch: [DiaryData] = []
      var inserted = 0
      try makeDiaries(count) { diary, _ in
        batch.append(diary)
        inserted += 1
        guard inserted % importedAtOnce == 0 || inserted == count else { return }
        try pool.write { db in for diary in batch { _ = try insert(diary, db) } }
        batch = []
      }
      return inserted
    }
  }

  private func insert(_ values: DiaryData, _ db: Database) throws -> Diary {
    var diary = Diary(values)
    try diary.insert(db)
    return diary
  }

  private func insert(_ values: DiaryData, _ images: [ImageData], _ db: Database) throws {
    let diary = try insert(values, db)
    for values in images {
      var image = Image(
        pk: nil, id: values.id, imagePath: values.imagePath, byteCount: values.byteCount, position: values.position,
        diaryPk: diary.pk!)
      try image.insert(db)
    }
  }

  /// One or two tags for every diary, in one transaction.
  func tagAll(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in
        let all = try (0..<tagCount).map { try Tag(pk: nil, name: "tag\($0)").inserted(db) }
        for number in 0..<count {
          for tag in tags(of: number) {
            try DiaryTag(diaryPk: Int64(number + 1), tagPk: all[tag].pk!).insert(db)
          }
        }
      }
      return count
    }
  }

  /// Every diary once more under its unique key with another text, in one transaction.
  func upsert(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in
        try makeDiaries(count) { values, _ in
          var diary = Diary(values)
          diary.content += "!"
          try diary.upsert(db)
        }
      }
      return count
    }
  }
}

extension Diary {
  fileprivate init(_ values: DiaryData) {
    self.init(
      pk: nil, id: values.id, emotion: emotions[values.emotion], content: values.content, createdAt: values.createdAt,
      intensity: values.intensity, isFavorite: values.isFavorite)
  }
}
