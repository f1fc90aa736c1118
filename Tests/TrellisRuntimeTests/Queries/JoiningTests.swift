import Foundation
import Testing
import Trellis
import TrellisDiaryModel

@Suite("Conditions and formats joined by or") struct JoiningTests {
  private let context: ManagedObjectContext

  init() throws {
    context = try PersistentContainer(model: .diary, store: .memory).newContext()
    for (number, emotion) in [Emotion.happy, .sad, .angry, .calm].enumerated() {
      _ = EmotionDiary(in: context, emotion: emotion, content: "day \(number)", mood: number % 2 == 0 ? "even" : nil)
    }
    try context.save()
  }

  private func contents(_ request: FetchRequest<EmotionDiary.Columns>) throws -> [String] {
    try context.fetch(request).map(\.content)
  }

  @Test("what was said before is one side, whatever it was written in")
  func sides() throws {
    let happy = EmotionDiary.where { $0.emotion == .happy }
    #expect(try contents(happy.or { $0.emotion == .sad }) == ["day 0", "day 1"])
    #expect(try contents(happy.or("emotion == %@", "sad")) == ["day 0", "day 1"])
    let sad = EmotionDiary.where("emotion == 'sad'")
    #expect(try contents(sad.or { $0.emotion == .happy }) == ["day 0", "day 1"])
    #expect(try contents(sad.or("emotion == %@", Emotion.calm)) == ["day 1", "day 3"])
    #expect(try contents(happy.where("mood == nil").or("content ENDSWITH '3'")) == ["day 3"])
    #expect(try contents(happy.or { $0.emotion == .sad }.or("emotion == 'calm'").or { $0.mood == "even" }).count == 4)
  }

  @Test("what is said after must hold beside it")
  func after() throws {
    let request = EmotionDiary.where("emotion == 'sad'").or { $0.emotion == .happy }
    #expect(try contents(request.where { $0.mood == "even" }) == ["day 0"])
    #expect(try contents(request.where("mood == nil")) == ["day 1"])
    #expect(try contents(request.where { $0.mood == "even" }.or("emotion == 'calm'")) == ["day 0", "day 3"])
  }

  @Test("a request for every object stays one")
  func everything() throws {
    #expect(try contents(EmotionDiary.all.or { $0.emotion == .sad }).count == 4)
    #expect(try contents(EmotionDiary.all.or("emotion == 'sad'")).count == 4)
  }

  @Test("a mistake in a joined format is thrown by the fetch")
  func mistake() {
    let error = #expect(throws: PredicateFormatError.self) {
      try contents(EmotionDiary.where { $0.emotion == .sad }.or("emotoin == 'sad'"))
    }
    #expect(error?.suggestion == "emotion")
  }
}
