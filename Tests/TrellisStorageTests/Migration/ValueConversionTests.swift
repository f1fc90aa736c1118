import Testing
import TrellisModel

@testable import TrellisStorage

@Suite("Conversion of stored values") struct ValueConversionTests {
  private func conversion(_ old: AttributeType, _ new: AttributeType) throws -> ValueConversion {
    let enums = [
      EnumDescription("Mood", rawType: .string, cases: [.init("sad", .text("SAD")), .init("glad", .text("GLAD"))]),
      EnumDescription("Grade", rawType: .integer, cases: [.init("sad", .integer(1)), .init("good", .integer(2))]),
    ]
    func model(_ type: AttributeType) throws -> Model {
      try Model(
        ModelDescription(
          name: "M", enums: enums, entities: [EntityDescription("E", attributes: [.init("a", type, optional: true)])]))
    }
    let (first, second) = (try model(old), try model(new))
    let from = try #require(first.entities[0].properties[0].attribute)
    let to = try #require(second.entities[0].properties[0].attribute)
    return ValueConversion(from: from, in: first, to: to, in: second)
  }

  /// Values at the edges of each scalar type, in stored form.
  private static let edges: [(AttributeType, [StoredValue])] = [
    (.string, [.text(""), .text("12"), .text("-0.5"), .text("true"), .text("2026-01-31T00:00:00Z"), .text("가")]),
    (.bool, [.integer(0), .integer(1)]),
    (.int16, [.integer(-32_768), .integer(0), .integer(32_767)]),
    (.int32, [.integer(Int64(Int32.min)), .integer(Int64(Int32.max))]),
    (.int64, [.integer(.min), .integer(1 << 53 + 1), .integer(.max)]),
    (.float, [.real(0), .real(-1.5), .real(Double(Float.greatestFiniteMagnitude))]),
    (.double, [.real(0.1), .real(-2), .real(1e300), .real(9.3e18)]),
    (.decimal, [.text("0"), .text("0.1"), .text("-12345678901234567890.123456789")]),
    (.date, [.integer(0), .integer(1_700_000_000_000_000)]), (.data, [.blob([]), .blob(Array(0..<16))]),
    (.uuid, [.blob(Array(0..<16))]), (.url, [.text("https://example.org/a")]),
    (.enumeration("Mood"), [.text("SAD"), .text("GLAD")]), (.enumeration("Grade"), [.integer(2)]),
  ]

  @Test("where every value has a counterpart each edge has one, and where none has no edge has one")
  func reach() throws {
    for (old, values) in Self.edges {
      for (new, _) in Self.edges {
        let conversion = try conversion(old, new)
        for value in values {
          let result = conversion.convert(value)
          switch conversion.reach {
          case .sameForm: #expect(result == value, "\(old) to \(new): \(value)")
          case .always: #expect(result != nil, "\(old) to \(new): \(value)")
          case .never: #expect(result == nil, "\(old) to \(new): \(value)")
          case .counted: break
          }
          // A value of the new type has the new type's storage class.
          if let result, conversion.reach != .sameForm || old == new {
            let kind = new.storageClass { $0 == "Grade" ? .integer : .string }
            #expect(Self.storageClass(of: result) == kind, "\(old) to \(new): \(value) became \(result)")
          }
        }
      }
    }
  }

  private static func storageClass(of value: StoredValue) -> StorageClass? {
    switch value {
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob: .blob
    case .null, .file: nil
    }
  }

  @Test("what was widened and is narrowed again is the same value")
  func roundTrip() throws {
    for (old, values) in Self.edges {
      for (new, _) in Self.edges {
        let (there, back) = (try conversion(old, new), try conversion(new, old))
        guard there.reach == .always || there.reach == .sameForm, back.reach != .never else { continue }
        for value in values {
          let result = there.convert(value).flatMap { back.convert($0) }
          #expect(result == value, "\(old) to \(new) and back: \(value) became \(String(describing: result))")
        }
      }
    }
  }

  @Test("a value that does not fit has no counterpart, and is not cut off")
  func misfits() throws {
    #expect(try conversion(.int64, .int16).convert(.integer(32_768)) == nil)
    #expect(try conversion(.int64, .int16).convert(.integer(32_767)) == .integer(32_767))
    #expect(try conversion(.double, .int64).convert(.real(1.5)) == nil)
    #expect(try conversion(.double, .int64).convert(.real(9.3e18)) == nil)
    #expect(try conversion(.int64, .double).convert(.integer(1 << 53 + 1)) == nil)
    #expect(try conversion(.double, .float).convert(.real(0.1)) == nil)
    #expect(try conversion(.decimal, .double).convert(.text("12345678901234567890.123456789")) == nil)
    #expect(try conversion(.decimal, .double).convert(.text("0.1")) == .real(0.1))
    #expect(try conversion(.string, .double).convert(.text("1e+300")) == .real(1e300))
    #expect(try conversion(.string, .double).convert(.text("1e+999")) == nil)
    #expect(try conversion(.string, .float).convert(.text("1e+300")) == nil)
    #expect(try conversion(.string, .bool).convert(.text("maybe")) == nil)
    #expect(try conversion(.string, .date).convert(.text("2026-01-31T00:00:00Z")) == .integer(1_769_817_600_000_000))
    #expect(try conversion(.data, .uuid).convert(.blob([1])) == nil)
    #expect(try conversion(.bool, .string).convert(.integer(1)) == .text("true"))
  }

  @Test("cases of enums are found by their names when the raw type changes")
  func enums() throws {
    #expect(try conversion(.enumeration("Mood"), .enumeration("Grade")).convert(.text("SAD")) == .integer(1))
    #expect(try conversion(.enumeration("Mood"), .enumeration("Grade")).convert(.text("GLAD")) == nil)
    #expect(try conversion(.enumeration("Grade"), .enumeration("Mood")).convert(.integer(1)) == .text("SAD"))
    #expect(try conversion(.enumeration("Mood"), .string).convert(.text("SAD")) == .text("SAD"))
    #expect(try conversion(.enumeration("Grade"), .string).convert(.integer(2)) == .text("2"))
    #expect(try conversion(.string, .enumeration("Grade")).convert(.text("2")) == .integer(2))
    #expect(try conversion(.string, .enumeration("Grade")).convert(.text("sad")) == .integer(1))
    #expect(try conversion(.string, .enumeration("Grade")).convert(.text("SAD")) == nil)
  }
}
