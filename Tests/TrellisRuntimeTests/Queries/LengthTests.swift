import Testing
import Trellis

@Suite("Lengths of texts") struct LengthTests {
  /// A ledger's name has one to five scalars.
  @Test(
    "are counted in Unicode scalars, however many bytes each takes",
    arguments: [
      ("", false), ("a", true), ("abcde", true), ("abcdef", false), ("가나다라마", true), ("가나다라마바", false), ("😀😀😀😀😀", true),
      ("😀😀😀😀😀😀", false), ("e\u{301}e\u{301}e", true), ("e\u{301}e\u{301}e\u{301}", false),
    ])
  func scalars(text: String, fits: Bool) throws {
    let context = try PersistentContainer(model: .rules, store: .memory).newContext()
    let ledger = Ledger(in: context, name: text)
    var rules: [ValidationFailure.Rule] = []
    do { try ledger.validate() } catch let error as ValidationError { rules = error.failures.map(\.rule) }
    #expect(!rules.contains { $0 == .minimumLength || $0 == .maximumLength } == fits)
  }
}
