import Testing
import TrellisModelFile

@Suite("Places inside strings") struct PlacesInTextTests {
  /// The column of the mistake in a predicate that is written into a file like this, where `^` stands before the mistake.
  private func found(_ marked: String) -> (found: Int?, expected: Int) {
    let predicate = marked.replacing("^", with: "")
    let before =
      #"{ "model": "M", "entities": { "E": { "attributes": { "a": "int64", "b": "string" }, "fetchRequests": { "r": { "predicate": ""#
    let result = ModelFile.parse(Array("\(before)\(predicate)\" } } } } }".utf8), path: "f")
    let ahead = marked.prefix { $0 != "^" }.unicodeScalars.count
    return (result.diagnostics.first?.position.column, before.unicodeScalars.count + ahead + 1)
  }

  @Test(
    "an escape is as long as it is written",
    arguments: [
      "^x == 1", "a == 1 AND ^x == 1", #"b == \"q\" AND ^x == 1"#, #"b == '\u00e9' AND ^x == 1"#,
      #"b == '\u0041\u00E9\uAC00\uD83D\uDE00' AND ^x == 1"#, "b == 'é커피😀e\u{301}' AND ^x == 1",
      #"b == '\n\t\/\b\\\\' AND ^x == 1"#, #"b MATCHES '\\d+' AND ^x == 1"#, "a ==^", #"a == 1 \u0041ND ^x == 1"#,
      #"a == 1 AND ^\u0078 == 1"#, "a > ^'x'", #"a > ^\"x\""#, #"b MATCHES ^'[\u0061'"#,
    ])
  func places(_ marked: String) {
    let (found, expected) = found(marked)
    #expect(found == expected)
  }
}
