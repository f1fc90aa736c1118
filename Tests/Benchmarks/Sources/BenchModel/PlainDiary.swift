public import Foundation

/// A diary as one would write it by hand, to compare the access to properties with.
public final class PlainDiary {
  public var id: UUID
  public var emotion: Emotion
  public var content: String
  public var createdAt: Double
  public var intensity: Int64
  public var isFavorite: Bool

  public init(_ values: Diary.Snapshot) {
    id = values.id
    emotion = values.emotion
    content = values.content
    createdAt = values.createdAt
    intensity = values.intensity
    isFavorite = values.isFavorite
  }

  /// Every value, so that none can be left unread.
  public var sum: Int {
    content.utf8.count &+ emotion.rawValue.utf8.count &+ Int(createdAt) &+ Int(intensity) &+ (isFavorite ? 1 : 0)
      &+ Int(id.uuid.0)
  }
}
