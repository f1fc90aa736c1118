import Testing
import TrellisModel

@testable import TrellisModelFile

@Suite("Reading JSON") struct JSONReaderTests {
  private func read(_ bytes: [UInt8]) -> (node: JSONNode?, diagnostics: [Diagnostic]) {
    let findings = Findings()
    return bytes.withUnsafeBufferPointer { buffer in
      var reader = JSONReader(buffer, findings)
      let node = reader.readFile()
      return (node, findings.diagnostics(in: buffer, path: "f"))
    }
  }

  private func read(_ text: String) -> (node: JSONNode?, diagnostics: [Diagnostic]) { read(Array(text.utf8)) }

  @Test("reads every kind of value")
  func kinds() throws {
    let result = read(#" { "a": [null, true, false, -12.5e+3, 0], "b": "x", "c": {} , "d" : [ ] } "#)
    #expect(result.diagnostics.isEmpty)
    let object = try #require(result.node?.object)
    #expect(object.members.map(\.key) == ["a", "b", "c", "d"])
    #expect(
      object["a"]?.value.array?.map(\.kind) == ["null", "true or false", "true or false", "a number", "a number"])
  }

  @Test("keeps where each key and value begins")
  func offsets() throws {
    let object = try #require(read(#"{ "key": "value" }"#).node?.object)
    #expect(object.members.first?.keyOffset == 2 && object.members.first?.value.offset == 9)
  }

  @Test("columns count characters, not bytes, and a byte order mark counts nothing")
  func columns() {
    let text = "\u{FEFF}{ \"커피\": nil }"
    let diagnostics = read(text).diagnostics
    #expect(diagnostics.map(\.position) == [Diagnostic.Position(line: 1, column: 9)])
  }

  @Test("lines end with a line feed, with or without a carriage return before it")
  func lines() {
    #expect(read("{\r\n\"a\": 1,\n\n\"a\": 2}").diagnostics.map(\.position.line) == [4])
  }

  @Test(
    "reads every escape",
    arguments: [
      (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\uD83D\uDE00x""#, "é😀x"), (#""\u0000""#, "\0"),
    ])
  func escapes(_ json: String, _ expected: String) {
    #expect(read(json).node?.string == expected)
  }

  @Test(
    "refuses what is not JSON",
    arguments: [
      ("", "malformed-json"), ("{", "malformed-json"), ("[1 2]", "malformed-json"), ("{} {}", "malformed-json"),
      ("{\"a\"}", "malformed-json"), ("[1,]", "trailing-comma"), ("{\"a\":1,}", "trailing-comma"),
      ("[,]", "malformed-json"),
      ("# x\n{}", "malformed-json"), ("// x\n{}", "comment"), ("/* x", "comment"), ("'a'", "single-quotes"),
      ("\"a", "unterminated-string"), ("\"a\nb\"", "unterminated-string"), ("\"a\tb\"", "bad-escape"),
      ("\"\\x\"", "bad-escape"), ("\"\\u12\"", "bad-escape"), ("\"\\ud800\"", "bad-escape"),
      ("\"\\ud800\\u0041\"", "bad-escape"), ("01", "bad-number"), ("-", "bad-number"), ("1.", "bad-number"),
      ("1e", "bad-number"), ("1.2.3", "bad-number"), ("0x10", "bad-number"), ("NaN", "malformed-json"),
      ("{\"a\":1,\"a\":2}", "duplicate-key"), ("@", "malformed-json"),
    ])
  func refusals(_ json: String, _ code: String) {
    #expect(read(json).diagnostics.first?.code.rawValue == code, "\(json)")
  }

  @Test("says where text stops being UTF-8")
  func encoding() {
    let result = read(Array("{ \"é\": \"".utf8) + [0xC3, 0x28] + Array("\" }".utf8))
    #expect(result.node == nil)
    #expect(result.diagnostics.map(\.code) == [.badUTF8])
    #expect(result.diagnostics.first?.position == Diagnostic.Position(line: 1, column: 9))
  }

  @Test("goes on after slips, so that one run shows them all")
  func recovery() {
    let codes = read("{ 'a': True, // x\n b: [1, 2,] \"c\": 01, }").diagnostics.map(\.code)
    #expect(
      codes == [
        .singleQuotes, .malformedJSON, .comment, .malformedJSON, .trailingComma, .malformedJSON, .badNumber,
        .trailingComma,
      ])
  }

  @Test("the 64th level may be, the 65th not")
  func depth() {
    let fits = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(read(fits).diagnostics.isEmpty)
    #expect(read("[" + fits + "]").diagnostics.map(\.code) == [.tooDeep])
    #expect(read(String(repeating: "[", count: 1_000_000)).diagnostics.map(\.code) == [.tooDeep])
  }
}
