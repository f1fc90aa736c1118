import GRDB
import Workload

extension GRDBBench {
  /// Every diary with its images, in one transaction.
  func insert(_ pool: DatabasePool) throws {
    try report.run("insert", items: count * 4, buildsData: true) {
      try pool.write { db in try makeDiaries(count) { try insert($0, $1, db) } }
      return count * 4
    }
  }

  private func insert(_ values: DiaryData, _ images: [ImageData], _ db: Database) throws {
    var diary = Diary(
      pk: nil, id: values.id, emotion: emotions[values.emotion], content: values.content, createdAt: values.createdAt,
      intensity: values.intensity, isFavorite: values.isFavorite)
    try diary.insert(db)
    for values in images {
      var image = Image(
        pk: nil, id: values.id, imagePath: values.imagePath, byteCount: values.byteCount, position: values.position,
        diaryPk: diary.pk!)
      try image.insert(db)
    }
  }

  /// One or two tags for every diary, in one transaction.
  func tagAll(_ pool: DatabasePool) throws {
    try report.run("tagAll", items: count, buildsData: true) {
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
}
