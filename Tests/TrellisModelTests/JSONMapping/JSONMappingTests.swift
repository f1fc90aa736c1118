import Testing
import TrellisModel
import TrellisTestSupport

@Suite("Names and dates in JSON documents") struct JSONMappingTests {
  @Test(
    "names are spelled in each style",
    arguments: [
      ("id", "id", "id", "Id"), ("bornAt", "born_at", "born-at", "BornAt"),
      ("imageURL", "image_url", "image-url", "ImageURL"), ("URLPath", "url_path", "url-path", "URLPath"),
      ("aURLPath", "a_url_path", "a-url-path", "AURLPath"), ("line2Text", "line2_text", "line2-text", "Line2Text"),
      ("base_stat", "base_stat", "base-stat", "Base_stat"), ("x", "x", "x", "X"),
    ])
  func styles(_ name: String, _ snake: String, _ kebab: String, _ pascal: String) {
    #expect(EntityJSON.Style.camelCase.spelling(of: name) == name)
    #expect(EntityJSON.Style.snakeCase.spelling(of: name) == snake)
    #expect(EntityJSON.Style.kebabCase.spelling(of: name) == kebab)
    #expect(EntityJSON.Style.pascalCase.spelling(of: name) == pascal)
  }

  @Test("formats of dates are read")
  func formats() throws {
    #expect(try JSONDateFormat("iso8601") == .iso8601)
    #expect(try JSONDateFormat("seconds") == .seconds)
    #expect(try JSONDateFormat("milliseconds") == .milliseconds)
    #expect(
      try JSONDateFormat("yyyy-MM-dd")
        == .pattern([.field(.year), .literal("-"), .field(.month), .literal("-"), .field(.day)]))
    #expect(
      try JSONDateFormat("ddMMyyyy 'o''clock'T''HH:mm:ss.SSSZ")
        == .pattern([
          .field(.day), .field(.month), .field(.year), .literal(" o'clockT'"), .field(.hour), .literal(":"),
          .field(.minute), .literal(":"), .field(.second), .literal("."), .field(.millisecond), .field(.zone),
        ]))
  }

  @Test(
    "what is no format of dates is refused with the way to write it",
    arguments: [
      ("", "not empty"), ("yyyy-M-dd", "'M' is written 'MM'"), ("yyyy-MM-dd h", "'h' is none of"),
      ("yyyy'", "a single quote is not closed"), ("yyyy yyyy", "is there twice"), ("HH:mm", "at least a year"),
      ("yyyy-dd", "'dd' has no meaning without 'MM'"), ("yyyy-MM-dd mm", "'mm' has no meaning without 'HH'"),
      ("yyyy Z", "'Z' has no meaning without 'HH'"), ("yyyy-MM-dd at HH", "in single quotes"),
    ])
  func faults(_ text: String, _ message: String) throws {
    let fault = try #require(throws: JSONDateFault.self) { try JSONDateFormat(text) }
    #expect(fault.message.contains(message), "\(text): \(fault.message)")
  }

  @Test("random formats of dates are read or refused")
  func random() {
    var random = SeededGenerator(seed: TestSettings.seed("TRELLIS_FUZZ_SEED"))
    let parts = JSONDateFormat.Field.allCases.map(\.rawValue) + ["'", "-", " ", "T", "x", "y", "\u{301}", "커", "''"]
    for _ in 0..<2_000 {
      let count = random.below(12)
      _ = try? JSONDateFormat((0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined())
    }
  }
}
