import Foundation
import Testing
import Trellis
@testable import TrellisRuntime
import TrellisDiaryModel

@Suite("What nothing holds is released") struct ReleaseTests {
  /// What a context is used for before it is let go of.
  enum Use: CaseIterable {
    case nothing, save, merge, conflict, failure, child, observing, undo, delete, retry, liveResults
  }

  private func use(_ use: Use, _ container: PersistentContainer) throws -> (
    () -> ManagedObjectContext?, () -> EmotionDiary?
  ) {
    let context = container.newContext()
    let diary = EmotionDiary(in: context, emotion: .happy, content: "산책")
    switch use {
    case .nothing: break
    case .save: try context.save()
    case .merge:
      try context.save()
      let other = container.newContext()
      try other.first(EmotionDiary.all)?.content = "other"
      diary.emotion = .sad
      try other.save()
      context.mergeChanges()
    case .conflict, .failure:
      try context.save()
      let other = container.newContext()
      try other.first(EmotionDiary.all)?.content = "other"
      diary.content = "here"
      try other.save()
      do { try context.save(mergePolicy: use == .conflict ? .objectTrump : .error) } catch is SaveConflict {}
    case .child:
      try context.save()
      let child = context.newChildContext()
      try child.first(EmotionDiary.all)?.content = "child"
      try child.save()
      try context.save()
    case .observing:
      context.isObserving = true
      diary.content = "seen"
      try context.save()
    case .undo:
      context.undo.enable()
      diary.content = "new"
      context.undo.endStep()
      try context.undo.undo()
    case .delete:
      try context.save()
      try context.delete(diary)
      context.undelete(diary)
    case .retry:
      try context.save()
      try context.saveRetrying { diary.content = "again" }
    case .liveResults:
      let results = try context.live(EmotionDiary.all)
      _ = EmotionDiary(in: context, emotion: .happy, content: "more")
      try context.save()
      _ = results
    }
    return ({ [weak context] in context }, { [weak diary] in diary })
  }

  @Test("a context and its objects go with the last reference to the context", arguments: Use.allCases)
  func releases(kind: Use) throws {
    weak var core: ContainerCore?
    do {
      let container = try PersistentContainer(model: .diary, store: .memory(named: UUID().uuidString))
      core = container.core
      let (context, diary) = try use(kind, container)
      #expect(context() == nil)
      #expect(diary() == nil)
      container.close()
    }
    #expect(core == nil)
  }
}
