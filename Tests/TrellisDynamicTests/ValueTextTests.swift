import Foundation
import Testing
import TrellisDynamic
import TrellisModel
import TrellisStorage
@testable import TrellisStoreTesting
import TrellisTestSupport

@Suite("Texts of values") struct ValueTextTests {
  private static func attribute(_ type: AttributeType, optional: Bool = true) throws -> Attribute {
    let weather = EnumDescription(
      "Weather", rawType: .string,
      cases: [.init("sunny", .text("SUN")), .init("nil", .text("none")), .init("rain", .text("sunny"))],
      unknown: .preserve)
    let level = EnumDescription("Level", caseNames: ["low", "high"], numbers: [-1, 5], unknown: .preserve)
    let model = try Model(
      ModelDescription(
        name: "M", enums: [weather, level], codableTypes: ["Address"],
        entities: [EntityDescription("E", attributes: [AttributeDescription("a", type, optional: optional)])]))
    return try #require(model.entities[0].properties[0].attribute)
  }

  private static let types =
    AttributeType.scalars + [
      .enumeration("Weather"), .enumeration("Level"), .array(.string), .array(.date), .array(.enumeration("Level")),
      .codable("Address"),
    ]

  private static func edges(_ type: AttributeType) -> [StoredValue] {
    let texts = ["", "nil", "\\nil", "\\\\nil", "nil ", "NIL", "null", "=", " a ", "\n", "'\"\\"].map(StoredValue.text)
    return switch type {
    case .string: texts
    case .url: [.text("https://example.org/%EC%BB%A4?a=b#c"), .text("nil"), .text("mailto:a@example.org")]
    case .enumeration("Weather"): texts + ["SUN", "none", "sunny", "=SUN"].map(StoredValue.text)
    case .enumeration: [-1, 5, 0, .min, .max].map(StoredValue.integer)
    case .array(.string): ["[]", #"["nil",""]"#].map(StoredValue.text)
    case .array(.date): ["[]", "[0,1.5]"].map(StoredValue.text)
    case .array: ["[]", "[5,-1]"].map(StoredValue.text)
    case .codable: ["{}", "null", #""nil""#, "[1,2]"].map(StoredValue.text)
    case .date: [0, -1, 1, 9_222_000_000_000_000_000, -9_222_000_000_000_000_000].map(StoredValue.integer)
    case .double:
      [0, -0.0, 0.1, -1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity].map(
        StoredValue.real)
    case .float:
      [0, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.infinity].map { .real(Double($0 as Float)) }
    default: []
    }
  }

  @Test("each value has a text of its own, which gives the same value again", arguments: types)
  func roundTrip(_ type: AttributeType) throws {
    let attribute = try Self.attribute(type)
    let text = ValueText(attribute)
    let known = ValueCases.edges.first { $0.0 == "the_\(type.spelling)" }?.1 ?? []
    var random = RandomNumbers(seed: TestSettings.seed())
    var values = [.null] + Self.edges(type) + known + (0..<200).map { _ in RandomValues.value(attribute, &random) }
    // What an attribute cannot have needs no text.
    values = values.compactMap { try? attribute.checked($0) }
    #expect(values.count > 2)
    // By bytes, since equal strings may have different ones.
    var byText: [[UInt8]: StoredValue] = [:]
    for value in values {
      let written = try text.text(value)
      #expect(try text.value(written) == value, "\(written)")
      let former = byText.updateValue(value, forKey: Array(written.utf8))
      #expect(former == nil || former == value, "\(written)")
    }
  }

  @Test("random reals and floats keep every bit")
  func reals() throws {
    let (double, float) = (ValueText(try Self.attribute(.double)), ValueText(try Self.attribute(.float)))
    var random = SeededGenerator(seed: TestSettings.seed())
    for _ in 0..<1_000 {
      let number = Double(bitPattern: random.next())
      if !number.isNaN { #expect(try double.value(double.text(.real(number))) == .real(number)) }
      let small = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      if !small.isNaN { #expect(try float.value(float.text(.real(Double(small)))) == .real(Double(small))) }
    }
  }

  @Test(
    "values are written as people write them",
    arguments: [
      (AttributeType.bool, StoredValue.integer(1), "true"), (.date, .integer(0), "1970-01-01T00:00:00Z"),
      (.data, .blob([72, 105]), "SGk="), (.enumeration("Weather"), .text("SUN"), "sunny"),
      (.enumeration("Weather"), .text("none"), "\\nil"), (.enumeration("Weather"), .text("fog"), "=fog"),
      (.enumeration("Level"), .integer(7), "=7"), (.string, .null, "nil"), (.string, .text("nil"), "\\nil"),
      (.double, .real(.infinity), "Infinity"), (.float, .real(Double(Float(0.1))), "0.1"),
      (.decimal, .text("1.5"), "1.5"),
      (.uuid, .blob([UInt8](0..<16)), "00010203-0405-0607-0809-0A0B0C0D0E0F"),
    ])
  func spelling(_ type: AttributeType, _ value: StoredValue, _ text: String) throws {
    #expect(try ValueText(Self.attribute(type)).text(value) == text)
  }

  @Test(
    "a text that is no value says what is expected",
    arguments: [
      (AttributeType.bool, "yes"), (.int16, "32768"), (.int64, "1.5"), (.double, "nan"), (.double, "0x1p3"),
      (.double, "1e400"), (.float, "1e39"), (.decimal, "1,5"), (.date, "31.1.2026"), (.data, "SGk"), (.uuid, "1"),
      (.enumeration("Weather"), "cloudy"), (.enumeration("Level"), "=x"), (.array(.string), "[1]"),
      (.codable("Address"), "{"),
    ])
  func refused(_ type: AttributeType, _ text: String) throws {
    let attribute = try Self.attribute(type)
    let misfit = #expect(throws: ValueMisfit.self) { try ValueText(attribute).value(text) }
    #expect(misfit?.expected == attribute.expectation)
  }

  @Test("nil is only for optional attributes, and an empty text is nil where it is no value")
  func null() throws {
    #expect(try ValueText(Self.attribute(.int64)).value("") == .null)
    #expect(try ValueText(Self.attribute(.string)).value("") == .text(""))
    #expect(throws: ValueMisfit.self) { try ValueText(Self.attribute(.int64, optional: false)).value("nil") }
    #expect(throws: ValueMisfit.self) { try ValueText(Self.attribute(.int64, optional: false)).value("") }
  }

  @Test("now and new are the present time and a new UUID")
  func words() throws {
    let uuid = ValueText(try Self.attribute(.uuid))
    #expect(try uuid.value("new") != uuid.value("new"))
    #expect(try ValueText(Self.attribute(.date)).value("now").isNull == false)
  }

  @Test("a short text is one line without control characters, and data is its size")
  func short() throws {
    let text = ValueText(try Self.attribute(.string))
    #expect(text.shortText(.text("a\nb\u{7}c"), length: 10) == "a⏎b\u{FFFD}c")
    #expect(text.shortText(.text("abcdef"), length: 4) == "abc…")
    #expect(text.shortText(.text("abcd"), length: 4) == "abcd")
    #expect(ValueText(try Self.attribute(.data)).shortText(.blob([1, 2]), length: 4) == "2 bytes")
  }
}
