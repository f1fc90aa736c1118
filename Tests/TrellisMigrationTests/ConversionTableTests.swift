import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable @_spi(Generated) import TrellisStorage

/// Values and what they become in another type, the same in every store.
@Suite("Conversions in every store") struct ConversionTableTests {
  private struct Entry {
    let from: AttributeType
    let value: StoredValue
    let to: AttributeType
    /// Nil if the value has no counterpart.
    let result: StoredValue?

    init(_ from: AttributeType, _ value: StoredValue, _ to: AttributeType, _ result: StoredValue?) {
      (self.from, self.value, self.to, self.result) = (from, value, to, result)
    }
  }

  /// The double with the value of the float 0.1.
  private static let tenth = StoredValue.real(Double(Float(0.1)))

  private static let table: [Entry] = [
    // A float has the digits of a float.
    Entry(.float, tenth, .string, .text("0.1")), Entry(.float, tenth, .decimal, .text("0.1")),
    Entry(.float, tenth, .double, tenth), Entry(.float, tenth, .int64, nil), Entry(.float, tenth, .bool, nil),
    Entry(.float, tenth, .array(.float), .text("[0.1]")), Entry(.float, tenth, .array(.decimal), .text("[0.1]")),
    Entry(.float, tenth, .array(.string), .text("[\"0.1\"]")),
    Entry(.float, .real(Double(Float(1) / 3)), .string, .text("0.33333334")),
    Entry(.float, .real(Double(Float(1) / 3)), .decimal, .text("0.33333334")),
    Entry(.float, .real(Double(Float(1e10))), .string, .text("1e+10")),
    Entry(.float, .real(Double(Float(1e10))), .decimal, .text("10000000000")),
    Entry(.float, .real(2), .string, .text("2.0")), Entry(.float, .real(2), .int16, .integer(2)),
    Entry(.float, .real(1), .bool, .integer(1)), Entry(.float, .real(-2.5), .decimal, .text("-2.5")),
    Entry(.array(.float), .text("[0.1,2]"), .array(.string), .text("[\"0.1\",\"2.0\"]")),
    Entry(.array(.float), .text("[0.1,2]"), .array(.decimal), .text("[0.1,2]")),
    Entry(.array(.float), .text("[0.1]"), .float, tenth), Entry(.array(.float), .text("[0.1]"), .decimal, .text("0.1")),
    // A double has those of a double.
    Entry(.double, .real(0.1), .string, .text("0.1")), Entry(.double, tenth, .string, .text("0.10000000149011612")),
    Entry(.double, tenth, .decimal, .text("0.10000000149011612")), Entry(.double, tenth, .float, tenth),
    Entry(.double, .real(0.1), .float, nil), Entry(.double, .real(0.1), .array(.string), .text("[\"0.1\"]")),
    Entry(.array(.double), .text("[0.1]"), .array(.string), .text("[\"0.1\"]")),
    // Digits are a float's if the float is written so.
    Entry(.string, .text("0.1"), .float, tenth), Entry(.decimal, .text("0.1"), .float, tenth),
    Entry(.string, .text("0.10000000149011612"), .float, nil), Entry(.decimal, .text("16777217"), .float, nil),
    Entry(.string, .text("1e39"), .float, nil), Entry(.string, .text("0.1"), .double, .real(0.1)),
    Entry(.decimal, .text("0.1"), .string, .text("0.1")), Entry(.decimal, .text("0.1"), .double, .real(0.1)),
    Entry(.decimal, .text("0.1"), .int32, nil), Entry(.decimal, .text("12"), .int32, .integer(12)),
    Entry(.array(.decimal), .text("[0.1]"), .array(.float), .text("[0.1]")),
    // Whole numbers.
    Entry(.int64, .integer(16_777_217), .float, nil), Entry(.int64, .integer(3), .float, .real(3)),
    Entry(.int32, .integer(-7), .string, .text("-7")), Entry(.int16, .integer(7), .decimal, .text("7")),
    Entry(.bool, .integer(1), .string, .text("true")), Entry(.bool, .integer(1), .float, .real(1)),
    Entry(.int16, .integer(7), .array(.float), .text("[7]")),
    // The elements of a list have the form in which `Codable` writes a list of their type.
    Entry(.decimal, .text("-0.5"), .array(.decimal), .text("[-0.5]")),
    Entry(.string, .text("12"), .array(.decimal), .text("[12]")),
    Entry(.array(.string), .text("[\"0.1\"]"), .array(.decimal), .text("[0.1]")),
    Entry(.url, .text("https://a.b/c"), .array(.url), .text("[\"https://a.b/c\"]")),
    Entry(.data, .blob([1, 2, 3]), .array(.data), .text("[\"AQID\"]")),
    Entry(.bool, .integer(1), .array(.bool), .text("[true]")),
    Entry(.array(.decimal), .text("[0.1]"), .decimal, .text("0.1")),
    Entry(.array(.url), .text("[\"https://a.b/c\"]"), .url, .text("https://a.b/c")),
  ]

  @Test("each value becomes the same in every store", arguments: ReopenedStore.Kind.present)
  func everyStore(_ kind: ReopenedStore.Kind) throws {
    func model(_ attribute: (Entry, String) -> AttributeDescription) throws -> Model {
      let attributes = Self.table.enumerated().map { attribute($1, "v\($0)") }
      return try Model(ModelDescription(name: "M", entities: [EntityDescription("A", attributes: attributes)]))
    }
    let stored = try model { AttributeDescription($1, $0.from, optional: true) }
    let current = try model { AttributeDescription($1, $0.to, optional: true, lossy: true) }
    let store = try ReopenedStore(kind)
    try store.open(stored) { entity in [PlainRecord(entity, key: 1, Self.table.map(\.value))] }
    let values = try store.open(current).rows[1]?.values ?? [:]
    for (number, entry) in Self.table.enumerated() {
      #expect(
        values["v\(number)"] == entry.result ?? .null, "\(entry.from) \(entry.value) → \(entry.to), in a \(kind)")
    }
  }

  @Test("a list that a conversion or a default makes is what a list of the type writes")
  func lists() throws {
    let url = try #require(URL(string: "https://a.b/c"))
    let (date, uuid) = (Date(storedMicroseconds: 1_700_000_000_000_000), UUID())
    #expect(StoredValue.text(ListText.text([.text("0.5")], of: .decimal) ?? "") == [Decimal(0.5)].storedValue)
    #expect(StoredValue.text(ListText.text([url.storedValue], of: .url) ?? "") == [url].storedValue)
    #expect(StoredValue.text(ListText.text([.blob([1, 2])], of: .data) ?? "") == [Data([1, 2])].storedValue)
    #expect(StoredValue.text(ListText.text([date.storedValue], of: .date) ?? "") == [date].storedValue)
    #expect(StoredValue.text(ListText.text([uuid.storedValue], of: .uuid) ?? "") == [uuid].storedValue)
    #expect(StoredValue.text(ListText.text([Self.tenth], of: .float) ?? "") == [Float(0.1)].storedValue)
    #expect(StoredValue.text(ListText.text([.real(0.1)], of: .double) ?? "") == [0.1].storedValue)
  }

  @Test("a float that a backfill reads has the digits of a float", arguments: ReopenedStore.Kind.present)
  func backfills(_ kind: ReopenedStore.Kind) throws {
    let weight = AttributeDescription("weight", .float, optional: true)
    func model(_ more: [AttributeDescription]) throws -> Model {
      try Model(ModelDescription(name: "M", entities: [EntityDescription("A", attributes: [weight] + more)]))
    }
    let store = try ReopenedStore(kind)
    try store.open(model([])) { entity in [PlainRecord(entity, key: 1, [Self.tenth])] }
    let current = try model([
      AttributeDescription("text", .string, optional: true, backfill: .expression("weight")),
      AttributeDescription("price", .decimal, optional: true, backfill: .expression("weight")),
      AttributeDescription("other", .float, optional: true, backfill: .expression("weight")),
      AttributeDescription("double", .double, optional: true, backfill: .expression("weight")),
    ])
    let values = try store.open(current).rows[1]?.values ?? [:]
    #expect(values["text"] == .text("0.1") && values["price"] == .text("0.1"))
    #expect(values["other"] == Self.tenth && values["double"] == Self.tenth)
  }
}
