import Testing
import Trellis
import TrellisTestSupport

@Suite("Transient values") struct TransientTests {
  @Test("they are tracked, taken back and undone, and never stored", arguments: StoreKind.inPlace)
  func tracked(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let sample = Sample(in: context, note: "first")
    try context.save()
    context.undo.enable()
    sample.note = "second"
    sample.draft = Point(x: 1, y: .nan)
    #expect(!context.hasChanges && !sample.hasChanges && sample.changedProperties.isEmpty)
    try context.save()
    #expect(sample.note == "second")
    #expect(try place.container.newContext().fetch(Sample.all).map(\.note) == [""])
    try context.undo.undo()
    #expect(sample.note == "first" && sample.draft == nil)
    sample.note = "third"
    try sample.rollback(\.note)
    // That is what it was at the last save.
    #expect(sample.note == "second")
    context.refreshAll()
    #expect(sample.text == "" && sample.note == "second")
  }
}
