import DiaryModel
import DiaryScreens
import Foundation
import StubSwiftUI
import Testing
import Trellis
import TrellisUI

@MainActor @Suite("Whatever happens, the screen shows what a new one would") struct RandomScreenTests {
  /// Deterministic numbers, so that a printed seed plays a failure again: splitmix64.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
  }

  /// What the list shows, without what a new screen has not: news, and what is being edited.
  private func list(_ stage: Stage) -> [String] {
    let lines = stage.lines.drop { !$0.hasPrefix("Search") }
    return Array(lines.prefix { !$0.hasPrefix("Detail") && !$0.hasPrefix("Content") && $0 != "This entry is gone." })
      .filter { !$0.hasSuffix(" new]") }
  }

  @Test("after each of many saves, searches, pages and forms, with at most one evaluation of the list") func steps()
    async throws
  {
    // As in the tests of the library: always the same, unless the environment says another one.
    let seed = ProcessInfo.processInfo.environment["TRELLIS_SEED"].flatMap(UInt64.init) ?? 2026
    var numbers = Numbers(state: seed)
    let container = try PersistentContainer(previewing: .diary, SampleEntries.seed)
    let stage = Stage(DiaryScreen().trellisContainer(container))
    _ = stage.evaluations()
    var (word, pages) = ("", 0)
    var evaluated = 0
    for step in 1...250 {
      let before = list(stage)
      var saved: [String: Int] = [:]
      let place: Comment = "seed \(seed), step \(step)"
      switch numbers.below(8) {
      case 0:
        let next = ["", "a", "b", "ab"][numbers.below(4)]
        if next != word { pages = 0 }
        word = next
        stage.type(word, into: "Search")
      case 1:
        if stage.tap("More") { pages += 1 }
      case 2:
        // A form for one of the entries, which is saved or not.
        let rows = list(stage).filter { $0.hasPrefix("[") && $0 != "[More]" }.map { String($0.dropFirst().dropLast()) }
        guard let row = rows.randomElement(using: &numbers), !row.hasSuffix("gone.") else { continue }
        stage.tap(row)
        try #require(stage.evaluations()["EntryList"] == nil, place)
        stage.type(["", "ab", "b"][numbers.below(3)], into: "Content")
        _ = stage.evaluations()
        stage.tap("Save")
        saved = stage.evaluations()
        stage.tap("Cancel")
      case 3:
        try await container.perform { context in
          _ = Tag(in: context, name: "tag \(step)")
          try context.save()
        }
        try #require(stage.evaluations() == [:], place)
      default:
        let (kind, choice, day) = (numbers.below(4), numbers.below(1000), Double(numbers.below(90)))
        let text = ["a", "b", "ab", "c"][numbers.below(4)]
        try await container.perform { context in
          let known = try context.fetch(EmotionDiary.all)
          let entry = known.isEmpty ? nil : known[choice % known.count]
          switch kind {
          case 0 where known.count > 6: if let entry { try context.delete(entry) }
          case 1: entry?.content = text
          case 2: entry?.createdAt = Date(timeIntervalSince1970: day * 86400)
          default:
            let made = EmotionDiary(in: context, emotion: .calm, content: text)
            made.createdAt = Date(timeIntervalSince1970: day * 86400)
          }
          try context.save()
        }
      }
      let counts = stage.evaluations().merging(saved) { $0 + $1 }
      evaluated += counts["EntryList", default: 0]
      try #require(counts["EntryList", default: 0] <= 1 && counts["endless"] == nil, place)
      try #require(
        counts["EntryList"] != nil || counts["EntryRow"] != nil || counts["EntryForm"] != nil || list(stage) == before,
        place)
      let new = Stage(DiaryScreen().trellisContainer(container))
      new.type(word, into: "Search")
      _ = new.evaluations()
      for _ in 0..<pages {
        new.tap("More")
        _ = new.evaluations()
      }
      try #require(list(stage) == list(new), place)
    }
    #expect(evaluated > 50, "seed \(seed)")
  }
}
