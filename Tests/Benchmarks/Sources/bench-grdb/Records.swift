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
    static let createdAt = Column(CodingKeys.createdAt), intensity = Column(CodingKeys.intensity)
    static let isFavorite = Column(CodingKeys.isFavorite), pk = Column(CodingKeys.pk)
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

struct Country: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "country"
  var pk: Int64?
  var name: String
}

struct Label: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "label"
  static let country = belongsTo(Country.self)
  var pk: Int64?
  var name: String
  var countryPk: Int64?
}

struct Artist: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "artist"
  static let label = belongsTo(Label.self)
  var pk: Int64?
  var name: String
  var labelPk: Int64?
}

struct Album: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "album"
  static let artist = belongsTo(Artist.self)
  var pk: Int64?
  var name: String
  var artistPk: Int64?
}

struct Track: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "track"
  static let album = belongsTo(Album.self)
  var pk: Int64?
  var title: String
  var seconds: Int
  var genre: Int
  var albumPk: Int64?

  enum Columns {
    static let seconds = Column(CodingKeys.seconds), genre = Column(CodingKeys.genre)
    static let albumPk = Column(CodingKeys.albumPk)
  }
}

struct Node: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "node"
  var pk: Int64?
  var number: Int
  var parentPk: Int64?

  mutating func didInsert(_ inserted: InsertionSuccess) { pk = inserted.rowID }
}

struct Photo: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "photo"
  var pk: Int64?
  var name: String
  var content: Data
}
