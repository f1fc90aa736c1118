import Testing
import TrellisModel

@Suite("Texts of values") struct TextTests {
  @Test(
    "decimals have one canonical text",
    arguments: [
      ("0", "0"), ("-0.00", "0"), ("007", "7"), ("1.50", "1.5"), ("1e3", "1000"), ("1.25e1", "12.5"), ("5e-3", "0.005"),
      ("-12.340E+2", "-1234"), ("100", "100"), ("0.10", "0.1"), ("+3", "3"),
    ])
  func decimals(_ text: String, _ canonical: String) { #expect(DecimalText.canonical(text) == canonical) }

  @Test(
    "what is no decimal, or too long for one, is refused",
    arguments: [
      "", "-", ".5", "1.", "1,5", "e3", "1e", "1e999", "abc", "1 ", "123456789012345678901234567890123456789",
    ])
  func badDecimals(_ text: String) { #expect(DecimalText.canonical(text) == nil) }

  @Test("decimals compare as numbers")
  func comparison() {
    let sorted = [
      "-100", "-99.5", "-1", "-0.5", "-0.05", "0", "0.05", "0.5", "1", "1.05", "1.5", "9", "10", "99.5", "100",
    ]
    for (i, left) in sorted.enumerated() {
      for (j, right) in sorted.enumerated() { #expect(DecimalText.isLess(left, right) == (i < j), "\(left) \(right)") }
    }
  }

  @Test(
    "dates are microseconds since 1970",
    arguments: [
      ("1970-01-01", 0), ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999999Z", -1),
      ("2000-02-29", 951_782_400_000_000),
      ("2026-01-31T09:30:00+09:00", 1_769_819_400_000_000), ("2026-01-31T09:30-00:30", 1_769_853_600_000_000),
      ("1970-01-01T00:00:00.25Z", 250_000),
    ])
  func dates(_ text: String, _ microseconds: Int64) { #expect(DateText.microseconds(text) == microseconds) }

  @Test(
    "what is no date is refused",
    arguments: [
      "", "today", "2026-1-1", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-01T",
      "2026-01-01T10",
      "2026-01-01T24:00:00Z", "2026-01-01T10:00:00", "2026-01-01T10:00:00.1234567Z", "2026-01-01 10:00:00Z",
      "+999999-01-01",
      "2026-01-01T10:00:00Zx",
    ])
  func badDates(_ text: String) { #expect(DateText.microseconds(text) == nil) }

  @Test("every date comes back from its text")
  func dateRoundTrip() {
    for value in [Int64.min, -1, 0, 1, .max]
      + stride(from: -80_000_000_000_000_000, to: 80_000_000_000_000_000, by: 7_777_777_777_777)
    {
      #expect(DateText.microseconds(DateText.text(value)) == value, "\(DateText.text(value))")
    }
  }

  @Test("bytes come back from Base64, and each has one text")
  func base64() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
      #expect(Base64Text.bytes(Base64Text.text(bytes)) == bytes)
    }
    #expect(Base64Text.text(Array("Hello".utf8)) == "SGVsbG8=")
    for bad in ["S", "SG", "SGk", "SGl=", "S===", "SG=k", "SG k", "SGk=\n"] {
      #expect(Base64Text.bytes(bad) == nil, "\(bad)")
    }
  }

  @Test("UUIDs come back from their text, in either case")
  func uuids() throws {
    let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    #expect(UUIDText.text(try #require(UUIDText.bytes(text.lowercased()))) == text)
    for bad in ["", "E621E1F8", text + "0", "G" + text.dropFirst(), text.replacing("-", with: ":")] {
      #expect(UUIDText.bytes(bad) == nil)
    }
  }
}
