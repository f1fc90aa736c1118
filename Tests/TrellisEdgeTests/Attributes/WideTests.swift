import Testing
import Trellis

@Suite("More properties than a word has bits") struct WideTests {
  @Test("a rollback of one property beyond the last bit leaves the others that share it", arguments: StoreKind.allCases)
  func sharedBit(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let (wide, other) = (Wide(in: context), Wide(in: context))
    try context.save()
    (wide.value62, wide.value63, wide.value64, wide.value65) = (-62, -63, -64, -65)
    (wide.note, wide.remark, wide.owner, wide.before) = ("note", "remark", other, other)
    try wide.rollback(\.value64)
    #expect([wide.value62, wide.value63, wide.value64, wide.value65] == [-62, -63, 64, -65])
    #expect(wide.note == "note" && wide.remark == "remark" && wide.owner === other && wide.before === other)
    #expect(wide.hasChanges(\.value63) && !wide.hasChanges(\.value64) && wide.hasChanges(\.owner))
    try wide.rollback(\.note)
    #expect(wide.note == "" && wide.remark == "remark" && wide.value65 == -65)
    try wide.rollback(\.owner)
    #expect(wide.owner == nil && wide.before === other && other.parts.isEmpty && wide.value65 == -65)
    try context.save()
    let fresh = place.container.newContext()
    let back = try #require(try fresh.object(with: wide.objectID))
    #expect([back.value62, back.value63, back.value64, back.value65] == [-62, -63, 64, -65])
    #expect(back.before?.objectID == other.objectID && back.owner == nil)
  }

  @Test("undo, rollback and refresh know the properties beyond the last bit apart")
  func undo() throws {
    let place = try Place(.memory)
    let context = place.container.newContext()
    let wide = Wide(in: context)
    try context.save()
    context.undo.enable()
    wide.value63 = 1
    context.undo.endStep()
    wide.value65 = 2
    try context.undo.undo()
    #expect(wide.value63 == 1 && wide.value65 == 65)
    let other = place.container.newContext()
    try #require(try other.first(Wide.all)).value64 = 3
    try other.save()
    try context.refresh(wide)
    #expect(wide.value63 == 1 && wide.value64 == 3 && wide.value65 == 65)
    try context.save()
    #expect(try other.fetch(Wide.all).map { [$0.value63, $0.value64, $0.value65] } == [[1, 3, 65]])
  }
}
