import Testing
import Trellis
import TrellisTestSupport

/// What the hooks of steps do, for the test that is running.
private enum Script {
  @TaskLocal static var current = Sheet()

  final class Sheet: @unchecked Sendable {  // used by one test at a time
    var onInsert: (Step) -> Void = { _ in }
    var onFetch: (Step) -> Void = { _ in }
    var onSave: (Step) throws -> Void = { _ in }
    var onDelete: (Step) -> Void = { _ in }
    var calls = 0
  }

  static func with(_ body: (Sheet) throws -> Void) rethrows {
    let sheet = Sheet()
    try $current.withValue(sheet) { try body(sheet) }
  }
}

extension Step {
  static func didInsert(_ step: Step) { Script.current.onInsert(step) }
  static func didFetch(_ step: Step) { Script.current.onFetch(step) }
  static func willSave(_ step: Step) throws { try Script.current.onSave(step) }
  static func willDelete(_ step: Step) { Script.current.onDelete(step) }
}

@Suite("Hooks that call each other end") struct EndlessHookTests {
  /// Runs hooks too deep; what they swallow, the next save throws.
  private func expectBound(_ hook: String, _ place: TestContainer, _ context: ManagedObjectContext) throws {
    #expect(Set(place.errors.codes) == [.endlessHooks])
    let thrown = try #require(throws: ContextError.self) { try context.save() }
    #expect(thrown.code == .endlessHooks && thrown.message.contains("Step.\(hook) "), "\(thrown.message)")
    context.rollback()
    try context.save()
  }

  @Test("willDelete may delete its own object", arguments: [false, true])
  func deletingItself(_ isSaved: Bool) throws {
    try Script.with { sheet in
      let context = try TestContainer(.steps).container.newContext()
      let step = Step(in: context)
      if isSaved { try context.save() }
      sheet.onDelete = { step in
        sheet.calls += 1
        try? step.managedObjectContext?.delete(step)
      }
      try context.delete(step)
      #expect(sheet.calls == 1 && step.isDeleted && context.deletedObjects.count == (isSaved ? 1 : 0))
      try context.save()
      #expect(try context.count(Step.all) == 0)
    }
  }

  @Test("two objects may delete each other in willDelete, and come back together")
  func deletingEachOther() throws {
    try Script.with { sheet in
      let context = try TestContainer(.steps).container.newContext()
      let (a, b) = (Step(in: context, number: 1), Step(in: context, number: 2))
      a.next = b
      try context.save()
      sheet.onDelete = { step in
        sheet.calls += 1
        try? context.delete(step === a ? b : a)
      }
      try context.delete(a)
      #expect(sheet.calls == 2 && a.isDeleted && b.isDeleted && context.deletedObjects.count == 2)
      context.undelete(a)
      #expect(!a.isDeleted)
      try context.delete(a)
      try context.save()
      #expect(try context.count(Step.all) == 0 && context.deletedObjects.isEmpty)
    }
  }

  @Test("a delete that willDelete leads to without end is refused by name", .ends)
  func deletingForEver() throws {
    try Script.with { sheet in
      let place = try TestContainer(.steps)
      let context = place.container.newContext()
      let steps = (0..<200).map { Step(in: context, number: Int64($0)) }
      sheet.onDelete = { step in try? context.delete(steps[Int(step.number) + 1]) }
      let thrown = try #require(throws: ContextError.self) { try context.delete(steps[0]) }
      #expect(thrown.code == .endlessHooks && thrown.message.contains("Step.willDelete "), "\(thrown.message)")
      #expect(place.errors.codes == [.endlessHooks])
      try context.save()
    }
  }

  @Test("didFetch may refresh its own object, and read it", .ends, arguments: StoreKind.allCases)
  func refreshing(_ kind: StoreKind) throws {
    try Script.with { sheet in
      let place = try TestContainer(.steps, kind)
      let context = place.container.newContext()
      let step = Step(in: context, number: 4)
      try context.save()
      sheet.onFetch = { step in
        sheet.calls += 1
        try? context.refresh(step)
        step.sum = step.number * 2
        try? context.refresh(step)
      }
      context.refreshAll()
      #expect(step.number == 4 && step.number == 4 && sheet.calls == 1)
      #expect(place.errors.messages == [])
    }
  }

  @Test("two objects may refresh and read each other in didFetch", .ends)
  func refreshingEachOther() throws {
    try Script.with { sheet in
      let context = try TestContainer(.steps).container.newContext()
      let (a, b) = (Step(in: context, number: 1), Step(in: context, number: 2))
      try context.save()
      sheet.onFetch = { step in
        sheet.calls += 1
        let other = step === a ? b : a
        try? context.refresh(other)
        step.sum = step.number + other.number
      }
      context.refreshAll()
      #expect(a.sum == 3 && b.sum == 3 && sheet.calls <= 4)
    }
  }

  @Test("didFetch that reads object after object is cut off by name; the rest is called later", .ends)
  func readingOn() throws {
    try Script.with { sheet in
      let place = try TestContainer(.steps, .sqlite)
      let context = place.container.newContext()
      var last: Step?
      for number in 0..<5000 { last = Step(in: context, number: Int64(number), previous: last) }
      try context.save()
      sheet.onFetch = { step in step.sum = step.number + (step.next?.sum ?? 0) }
      let other = place.container.newContext()
      let first = try #require(try other.first(Step.where { $0.number == 0 }))
      #expect(first.sum >= 63 * 62 / 2)
      try expectBound("didFetch", place, other)
    }
  }

  @Test("willSave that inserts objects of its own kind is refused by name, and nothing stays of them", .ends)
  func inserting() throws {
    try Script.with { sheet in
      let place = try TestContainer(.steps)
      let context = place.container.newContext()
      let step = Step(in: context, number: 1)
      sheet.onSave = { step in _ = Step(in: context, number: step.number + 1) }
      let thrown = try #require(throws: ContextError.self) { try context.save() }
      #expect(thrown.code == .endlessHooks && thrown.message.contains("Step.willSave "))
      #expect(context.insertedObjects == [step])
      // A number of objects from one hook is no chain.
      sheet.onSave = { step in
        if step.number == 1 { for number in 2..<500 { _ = Step(in: context, number: Int64(number)) } }
      }
      try context.save()
      #expect(try context.count(Step.all) == 499)
    }
  }

  @Test("didInsert that makes objects of its own kind is cut off by name", .ends)
  func makingMore() throws {
    try Script.with { sheet in
      let place = try TestContainer(.steps)
      let context = place.container.newContext()
      sheet.onInsert = { step in _ = Step(in: context, number: step.number + 1) }
      _ = Step(in: context)
      sheet.onInsert = { _ in }
      #expect(context.insertedObjects.count < 100)
      try expectBound("didInsert", place, context)
    }
  }
}
