public import Foundation

public let emotions = ["happy", "sad", "angry", "calm", "anxious", "grateful", "tired", "excited"]
public let tagCount = 200
public let imagesOfADiary = 3
/// What the search looks for; the first is in no diary.
public let searchedTexts = ["coffee", "커피 산책"]

private let words = [
  "오늘은", "아침", "커피", "산책", "friend", "늦잠", "비가", "회의", "lunch", "맑음", "영화", "책을", "읽었다", "run", "기분이", "좋았다", "조금",
  "피곤", "coding", "저녁",
]

public struct DiaryData {
  /// The emotion by its number, for a participant to take its own value.
  public var id: UUID, emotion: Int, content: String, createdAt: Double, intensity: Int, isFavorite: Bool
}

public struct ImageData {
  public var id: UUID, imagePath: String, byteCount: Int, position: Int
}

/// `count` diaries, each with its images. The clock stands still while they are made.
public func makeDiaries(_ count: Int, _ body: (DiaryData, [ImageData]) throws -> Void) rethrows {
  var chance = Generator(seed: 42)
  for first in stride(from: 0, to: count, by: 1_000) {
    var batch: [(DiaryData, [ImageData])] = []
    unmeasured { batch = (first..<min(first + 1_000, count)).map { makeDiary($0, &chance) } }
    for (diary, images) in batch { try body(diary, images) }
  }
}

private func makeDiary(_ number: Int, _ chance: inout Generator) -> (DiaryData, [ImageData]) {
  let emotion = chance.below(emotions.count)
  let content = (0..<12).map { _ in words[chance.below(words.count)] }.joined(separator: " ")
  let diary = DiaryData(
    id: chance.uuid(), emotion: emotion, content: content, createdAt: 700_000_000 + Double(chance.below(100_000_000)),
    intensity: chance.below(10), isFavorite: chance.below(5) == 0)
  return (diary, (0..<imagesOfADiary).map { makeImage($0, of: number, &chance) })
}

private func makeImage(_ position: Int, of diary: Int, _ chance: inout Generator) -> ImageData {
  ImageData(
    id: chance.uuid(), imagePath: "images/\(diary)/\(position).png", byteCount: 1000 + chance.below(1_000_000),
    position: position)
}

/// The tags of a diary, by number: one or two.
public func tags(of diary: Int) -> [Int] {
  let first = diary % tagCount, second = (diary / 3 + 7) % tagCount
  return first == second ? [first] : [first, second]
}
