import Foundation
import GRDB

struct Diary: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "diary"
  static let images = hasMany(Image.self)
  var pk: Int64?
  var id: UUID
  var emotion: String
  var content: String
  var createdAt: Double
  var intensity: Int
  var isFavorite: Bool

  enum Columns {
    static let emotion = Column(CodingKeys.emotion), content = Column(CodingKeys.content)
    static let createdAt = Column(CodingKeys.createdAt)
  }

  mutating func didInsert(_ inserted: InsertionSuccess) { pk = inserted.rowID }

  /// Every value, so that none can be left unread.
  var sum: Int {
    content.utf8.count &+ emotion.utf8.count &+ Int(createdAt) &+ intensity &+ (isFavorite ? 1 : 0) &+ Int(id.uuid.0)
  }
}

struct Image: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "image"
  static let diary = belongsTo(Diary.self)
  var pk: Int64?
  var id: UUID
  var imagePath: String
  var byteCount: Int
  var position: Int
  var diaryPk: Int64

  mutating func didInsert(_ inserted: InsertionSuccess) { pk = inserted.rowID }
}

struct Tag: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "tag"
  static let pairs = hasMany(DiaryTag.self)
  static let diaries = hasMany(Diary.self, through: pairs, using: DiaryTag.diary)
  var pk: Int64?
  var name: String

  mutating func didInsert(_ inserted: InsertionSuccess) { pk = inserted.rowID }
}

struct DiaryTag: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "diaryTag"
  static let diary = belongsTo(Diary.self)
  var diaryPk: Int64
  var tagPk: Int64
}

/// A record that reads its columns by number.
struct FastDiary: FetchableRecord, TableRecord {
  static let databaseTableName = "diary"
  let pk: Int64, id: UUID, emotion: String, content: String, createdAt: Double, intensity: Int, isFavorite: Bool

  init(row: Row) {
    pk = row[0]
    id = row[1]
    emotion = row[2]
    content = row[3]
    createdAt = row[4]
    intensity = row[5]
    isFavorite = row[6]
  }

  var sum: Int {
    content.utf8.count &+ emotion.utf8.count &+ Int(createdAt) &+ intensity &+ (isFavorite ? 1 : 0) &+ Int(id.uuid.0)
  }
}
