import Foundation
import Testing
import Trellis
@testable import TrellisRuntime
import TrellisDiaryModel

@Suite("The table of legal states is checked") struct GraphInvariantTests {
  private func saved() throws -> (ManagedObjectContext, EmotionDiary) {
    let context = try PersistentContainer(model: .diary, store: .memory(named: UUID().uuidString)).newContext()
    let diary = EmotionDiary(in: context, emotion: .happy, content: "산책")
    try context.save()
    return (context, diary)
  }

  @Test("objects in every phase are in order") func legal() throws {
    let (context, diary) = try saved()
    _ = EmotionDiary(in: context, emotion: .happy, content: "new")
    diary.content = "edited"
    #expect(context.graph.stateViolations() == [])
    try context.delete(diary)
    #expect(context.graph.stateViolations() == [])
    context.rollback()
    #expect(context.graph.stateViolations() == [])
  }

  @Test("an object that is marked and not listed is found") func marked() throws {
    let (context, diary) = try saved()
    diary.state.setInChangedList(true)
    #expect(context.graph.stateViolations().count == 1)
  }

  @Test("set properties without a committed row are found") func unkept() throws {
    let (context, diary) = try saved()
    diary.state.markAssigned(1)
    #expect(context.graph.stateViolations().count == 2)
  }

  @Test("an object that left its context and stays in the map is found") func left() throws {
    let (context, diary) = try saved()
    diary.state.detach()
    #expect(context.graph.stateViolations().count == 1)
  }
}
