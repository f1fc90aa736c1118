import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@Suite("Values that another program has stored") struct ForeignValueTests {
  private static let misfits: [(column: String, value: StoredValue)] = [
    ("small", .integer(32768)), ("small", .integer(-32769)), ("medium", .integer(1 << 31)), ("single", .real(1e300)),
    ("amount", .text("12abc")), ("amount", .text("")), ("amount", .text("NaN")), ("amount", .text("1 2")),
    ("amount", .text("1.2345678901234567890123456789012345678901234567890")), ("token", .blob([1, 2, 3])),
    ("link", .text("")), ("strict", .text("three")), ("words", .text("")), ("words", .text("null")),
    ("words", .text("[1]")), ("words", .text("{\"a\":1}")), ("words", .text("[\"a\"")), ("numbers", .text("[\"a\"]")),
    ("numbers", .text("[1e999]")), ("point", .text("[]")), ("point", .text("{\"x\":1}")),
    ("point", .text("{\"x\":\"1\",\"y\":2}")), ("text", .null), ("large", .null), ("kept", .null),
  ]

  @Test(
    "a stored value that does not fit is an error that names the place", arguments: StoreKind.inPlace,
    misfits.indices)
  func unreadable(kind: StoreKind, number: Int) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    _ = Sample(in: context)
    try context.save()
    let (column, value) = Self.misfits[number]
    place.interference.plant(value, in: column)
    let fresh = place.container.newContext()
    let error = #expect(throws: StoreError.self, "\(value)") { try fresh.fetch(Sample.all) }
    #expect(error?.code == .unreadableValue && error?.properties == [column])
  }

  @Test(
    "a text is a case only if it has every byte of the case's text", arguments: StoreKind.inPlace,
    ["one", "two", "on", "ones", "onf", "One", "", "o\u{301}ne", "one\u{0}"])
  func textsOfCases(kind: StoreKind, text: String) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    _ = Sample(in: context)
    try context.save()
    for column in ["kept", "tolerant"] { place.interference.plant(.text(text), in: column) }
    let sample = try #require(try place.container.newContext().first(Sample.all))
    #expect(sample.kept.rawValue.utf8.elementsEqual(text.utf8) && sample.tolerant == (text == "one" ? .one : .two))
    if case .unknown = sample.kept { #expect(text != "one" && text != "two") }
  }

  @Test("unknown cases are equal if their raw values are, and an enum takes one word")
  func equality() throws {
    #expect(MemoryLayout<Kept>.size == MemoryLayout<Int>.size)
    let cases = try ["three", "three", "four"].map { try #require(Kept(stored: $0)) }
    #expect(cases[0] == cases[1] && cases[0] != cases[2] && Set(cases).count == 2)
  }

  @Test("an unknown case is an error, itself or the default, as the model says", arguments: StoreKind.inPlace)
  func unknownCases(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    _ = Sample(in: context)
    try context.save()
    for column in ["kept", "tolerant"] { place.interference.plant(.text("three"), in: column) }
    place.interference.plant(.integer(7), in: "level")
    let fresh = place.container.newContext()
    let sample = try #require(try fresh.first(Sample.all))
    #expect(sample.kept.rawValue == "three" && sample.tolerant == .two && sample.level.rawValue == 7)
    if case .unknown(let value) = sample.kept { #expect(value.rawValue == "three") } else { Issue.record("known") }
    #expect(!fresh.hasChanges && sample.snapshot.kept == sample.kept)
    let copy = Sample(in: fresh)
    (copy.kept, copy.level) = (sample.kept, sample.level)
    // What was not set is not written: the store keeps what the other program has stored.
    sample.text = "changed"
    #expect(sample.changedProperties == ["text"])
    try fresh.save()
    for column in ["kept", "tolerant", "level"] { place.interference.plant(nil, in: column) }
    let last = place.container.newContext()
    let stored = try last.fetch(Sample.all)
    #expect(stored.map(\.kept.rawValue) == ["one", "three"] && stored.map(\.level.rawValue) == [0, 7])
    #expect(stored[0].tolerant == .one && stored[0].text == "changed")
    #expect(try last.count(Sample.where { $0.kept == stored[1].kept }) == 1)
  }
}
