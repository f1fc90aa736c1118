import Testing
import Trellis
import TrellisTestSupport

@Suite("More properties than a word has bits") struct WideTests {
  @Test("a rollback of one property beyond the last bit leaves the others that share it", arguments: StoreKind.inPlace)
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

  @Test("two writers of different properties beyond the last bit are merged", arguments: StoreKind.inPlace)
  func merging(kind: StoreKind) throws {
    let place = try Place(kind)
    let (first, second) = (place.container.newContext(), place.container.newContext())
    let wide = Wide(in: first)
    try first.save()
    let theirs = try #require(try second.object(with: wide.objectID))
    (theirs.value64, theirs.value62) = (-64, -62)
    try second.save()
    (wide.value63, wide.value65) = (-63, -65)
    wide.owner = wide
    try first.save()
    let fresh = place.container.newContext()
    let back = try #require(try fresh.first(Wide.all))
    #expect([back.value62, back.value63, back.value64, back.value65] == [-62, -63, -64, -65] && back.owner === back)
    #expect([wide.value62, wide.value63, wide.value64, wide.value65] == [-62, -63, -64, -65])
  }

  @Test("two writers of one property beyond the last bit are in conflict about that one, as the policy says")
  func conflict() throws {
    let place = try Place(.memory)
    let (first, second) = (place.container.newContext(), place.container.newContext())
    let wide = Wide(in: first)
    try first.save()
    (wide.value63, wide.value64) = (1, 1)
    let theirs = try #require(try second.object(with: wide.objectID))
    (theirs.value64, theirs.value65) = (2, 2)
    try second.save()
    let rows = #expect(throws: SaveConflict.self) { try first.save() }?.rows ?? []
    #expect(rows.map(\.properties) == [["value64"]])
    try first.save(mergePolicy: .storeTrump)
    #expect([wide.value63, wide.value64, wide.value65] == [1, 2, 2])
    let back = try #require(try place.container.newContext().first(Wide.all))
    #expect([back.value63, back.value64, back.value65] == [1, 2, 2])
  }

  @Test("an object with a known key gives all properties beyond the last bit, or none")
  func givenTogether() throws {
    let place = try Place(.memory)
    let context = place.container.newContext()
    let known = WideTag(in: context, code: "a", extra: 1)
    (known.value62, known.value65) = (-62, -65)
    try context.save()
    _ = WideTag(in: context, code: "a")
    try context.save(mergePolicy: .objectTrump)
    #expect(known.value62 == -62 && known.value65 == 65 && known.extra == 7)
    _ = WideTag(in: context, value62: 1, code: "a", extra: 2)
    try context.save(mergePolicy: .storeTrump)
    #expect(known.value62 == -62 && known.extra == 7)
  }
}
