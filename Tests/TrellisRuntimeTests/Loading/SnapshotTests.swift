import Foundation
import Testing
import Trellis
import TrellisDiaryModel

@Suite("Snapshots") struct SnapshotTests {
  private func makeImage() throws -> DiaryImage.Snapshot {
    let context = try PersistentContainer(model: .diary, store: .memory).newContext()
    let diary = EmotionDiary(in: context, emotion: .happy, content: "산책")
    let image = DiaryImage(in: context, imagePath: "1.png", data: Data([1, 2]), diary: diary)
    return image.snapshot
  }

  @Test("a snapshot comes back from JSON as it was")
  func roundTrip() throws {
    let image = try makeImage()
    let json = try JSONEncoder().encode(image)
    #expect(try JSONDecoder().decode(DiaryImage.Snapshot.self, from: json) == image)
  }

  @Test("JSON has the properties' names, dates as the encoder is told, and leaves out what is nil")
  func keys() throws {
    let context = try PersistentContainer(model: .diary, store: .memory).newContext()
    let when = Date(timeIntervalSince1970: 1_000_000)
    let diary = EmotionDiary(in: context, emotion: .calm, content: "rain", createdAt: when)
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let json = try JSONSerialization.jsonObject(with: encoder.encode(diary.snapshot)) as? [String: Any]
    #expect(json?["content"] as? String == "rain")
    #expect(json?["emotion"] as? String == "calm")
    #expect(json?["createdAt"] as? String == "1970-01-12T13:46:40Z")
    #expect(json?.keys.contains("mood") == false)
  }

  @Test("JSON that lacks a property or has it with another type is refused, and says which")
  func refused() throws {
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(DiaryImage.Snapshot.self, from: Data(#"{"objectID": 1, "imagePath": 5}"#.utf8))
    }
    #expect("\(try #require(error))".contains("imagePath"))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(DiaryImage.Snapshot.self, from: Data(#"{"objectID": 1}"#.utf8))
    }
  }

  @Test("snapshots are equal when every value is, texts byte by byte")
  func equality() throws {
    var image = try makeImage()
    var other = image
    #expect(image == other && image.hashValue == other.hashValue)
    other.data = nil
    #expect(image != other)
    image.imagePath = "\u{AC00}"
    other = image
    other.imagePath = "\u{1100}\u{1161}"
    #expect(image != other)
  }
}
