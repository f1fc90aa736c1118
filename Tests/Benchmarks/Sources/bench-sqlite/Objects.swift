import Foundation

private let noID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

final class Diary {
  var key: Int64 = 0, version: Int64 = 0
  var id = noID
  var emotion = "", content = ""
  var createdAt = 0.0
  var intensity = 0
  var isFavorite = false

  /// Every value, so that none can be left unread.
  var sum: Int {
    content.utf8.count &+ emotion.utf8.count &+ Int(createdAt) &+ intensity &+ (isFavorite ? 1 : 0) &+ Int(id.uuid.0)
  }
}

final class Image {
  var key: Int64 = 0, version: Int64 = 0
  var id = noID
  var imagePath = ""
  var byteCount = 0, position = 0
  var diary: Diary?
}

/// A diary as a value: a snapshot, and what documents and arrays consist of.
struct DiaryRow: Codable {
  var key: Int64
  var id: UUID
  var emotion, content: String
  var createdAt: Double
  var intensity: Int
  var isFavorite: Bool

  var sum: Int {
    content.utf8.count &+ emotion.utf8.count &+ Int(createdAt) &+ intensity &+ (isFavorite ? 1 : 0) &+ Int(id.uuid.0)
  }
}

final class Track {
  let key: Int64
  var title: String
  var seconds, genre: Int
  var place: Int

  init(key: Int64, title: String, seconds: Int, genre: Int, place: Int) {
    self.key = key
    self.title = title
    self.seconds = seconds
    self.genre = genre
    self.place = place
  }
}

final class Node {
  let key: Int64
  let number: Int

  init(key: Int64, number: Int) {
    self.key = key
    self.number = number
  }
}
