import Testing
import TrellisModel
import TrellisStorage

@Suite("Formats that were read before") struct FormatCacheTests {
  private let model: Model
  private let cache = FormatCache()

  init() throws { model = try FormatModel.make() }

  private func predicate(
    _ text: String, _ given: [FormatArgument], _ bindings: [String: FormatArgument] = [:]
  ) throws -> QueryPredicate {
    try cache.predicate(
      FormatCache.Request(text: text, interpolated: [], given: given, bindings: bindings), of: 0, in: model)
  }

  static let shapes: [(String, [[FormatArgument]], isKept: Bool)] = [
    ("content == %@ OR mood CONTAINS[cd] %@", [["a", "b"], ["c", "d"]], true),
    ("emotion == %@ AND emotion CONTAINS %@", [["happy", "a"], ["sad", "x"]], true),
    ("stars > %d AND weight < %d", [[1, 2], [3, 4], [5, .value(.integer(.max), .integer)]], true),
    ("stars > %@", [[.value(.real(1), .real)], [.value(.real(1.5), .real)], [.value(.real(2), .real)]], false),
    ("stars IN %@", [[.list([1, 2])], [.list([3])], [.list([])], [.list([4, 5, 6])]], true),
    ("weight IN %@", [[.list([1, 2])], [.list([3, 4, 5])]], true),
    ("stars IN %@", [[.list([1, .null])], [.list([.null])], [.list([1])]], true),
    ("emotion IN %@", [[.list(["happy"])], [.list(["sad", "angry"])]], true),
    ("content IN[c] %@", [[.list(["A"])], [.list(["B", "c"])]], false),
    ("mood == %@", [[.null], ["a"], [.null], ["b"]], true),
    ("id == %@", [["E621E1F8-C36C-495A-93FC-0C247A3E6E5F"], ["F621E1F8-C36C-495A-93FC-0C247A3E6E5F"]], true),
    ("content MATCHES %@", [["a+"], ["b"]], false),
    ("%K == %@", [["content", "x"], ["mood", "y"]], false),
    ("stars + %d > 3", [[1], [2]], false),
    ("%@ == content AND NOT (ANY images.size > %d)", [["a", 1], ["b", 2]], true),
    ("next == %@", [[.value(.integer(1), .object(0))], [.value(.integer(2), .object(0))]], true),
    ("%@ IN tags", [[.value(.integer(1), .object(2))], [.value(.integer(2), .object(2))]], false),
    ("stars BETWEEN %@", [[.list([1, 2])], [.list([3, 4])]], false),
    ("isDraft == %@", [[1], [0]], false),
    ("SUBQUERY(images, $i, $i.size > %d).@count > %d", [[1, 2], [3, 4]], true),
    ("TERNARY(stars > %d, content, mood) == %@", [[1, "a"], [2, "b"]], true),
    ("abs(SUBQUERY(images, $i, $i.path == %@).@count) IN %@", [["a", .list([2])], ["b", .list([4])]], true),
    ("%@ CONTAINS stars", [[.list([1, 2])], [.list([3])]], false),
    ("ANY %@ == stars", [[.list([1, 2])], [.list([3])]], false),
    ("max(%@) == stars", [[.list([1, 2])], [.list([3])]], false),
    ("entity == %@", [["Diary"], ["Tag"]], true),
  ]

  @Test("each use gives what reading it anew gives", arguments: shapes.indices)
  func same(_ number: Int) throws {
    let (text, uses, isKept) = Self.shapes[number]
    for _ in 0..<2 {
      for arguments in uses {
        let expected = try CheckedFormat(text, of: 0, in: model, arguments: arguments).predicate
        #expect(try predicate(text, arguments) == expected)
      }
    }
    #expect((cache.count > 0) == isKept)
  }

  @Test("a value that does not fit is the same error, whether the format was read before or not")
  func errors() throws {
    for text in ["emotion == %@", "id == %@", "emotion IN %@"] {
      let bad: FormatArgument = text.contains("IN") ? .list(["hapy"]) : "hapy"
      let good: FormatArgument =
        text.contains("id") ? "E621E1F8-C36C-495A-93FC-0C247A3E6E5F" : text.contains("IN") ? .list(["sad"]) : "sad"
      let expected = #expect(throws: PredicateFormatError.self) {
        try CheckedFormat(text, of: 0, in: model, arguments: [bad])
      }
      _ = try predicate(text, [good])
      #expect(cache.count > 0)
      let found = #expect(throws: PredicateFormatError.self) { try predicate(text, [bad]) }
      #expect(found == expected)
    }
  }

  @Test("variables are places too, and one may be used twice")
  func bindings() throws {
    let text = "content == $a OR mood == $a OR stars > $b"
    for (a, b) in [("x", 1), ("y", 2)] as [(FormatArgument, FormatArgument)] {
      let bindings = ["a": a, "b": b]
      let expected = try CheckedFormat(text, of: 0, in: model, bindings: bindings).predicate
      #expect(try predicate(text, [], bindings) == expected)
    }
    #expect(cache.count == 1)
    #expect(throws: PredicateFormatError.self) { try predicate(text, [], ["a": "x"]) }
  }

  @Test("a thousand and some texts are not all kept")
  func bounded() throws {
    for number in 0..<2_500 { _ = try predicate("stars == \(number)", []) }
    #expect(cache.count <= 1_000)
  }
}

extension FormatArgument: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  init(stringLiteral text: String) { self = .value(.text(text), .text) }
  init(integerLiteral integer: Int64) { self = .value(.integer(integer), .integer) }
}
