import Testing
import TrellisModel
import TrellisTestSupport

@Suite("Paths into JSON documents") struct JSONPathTests {
  static let forms: [(text: String, steps: [JSONPath.Step], isPlural: Bool)] = [
    ("id", [.name("id")], false),
    ("sprites.other.front_default", [.name("sprites"), .name("other"), .name("front_default")], false),
    (#"a."b.c".d"#, [.name("a"), .name("b.c"), .name("d")], false),
    (#""""#, [.name("")], false),
    (#""a\"b\\c.""#, [.name(#"a"b\c."#)], false),
    ("official-artwork.한글", [.name("official-artwork"), .name("한글")], false),
    ("stats[stat.name=hp].base_stat", [.name("stats"), .matching(["stat", "name"], "hp"), .name("base_stat")], false),
    (#"a["b.c".d="x]y"]"#, [.name("a"), .matching(["b.c", "d"], "x]y")], false),
    ("a[b=]", [.name("a"), .matching(["b"], "")], false),
    ("types[*].type.name", [.name("types"), .elements, .name("type"), .name("name")], true),
    ("moves[0][12].move", [.name("moves"), .element(0), .element(12), .name("move")], false),
    ("[3].a", [.element(3), .name("a")], false),
    ("[*]", [.elements], true),
    ("sprites.*", [.name("sprites"), .entries], true),
    ("*.a", [.entries, .name("a")], true),
    ("$key", [.key], false), ("$value", [.value], false),
    ("^.id", [.enclosing, .name("id")], false),
    ("^.^.a[*]", [.enclosing, .enclosing, .name("a"), .elements], true),
  ]

  @Test("are read, and written as they were", arguments: forms.indices)
  func form(_ number: Int) throws {
    let form = Self.forms[number]
    let path = try JSONPath(form.text)
    #expect(path.steps == form.steps)
    #expect(path.isPlural == form.isPlural)
    #expect(path.text == form.text)
  }

  @Test("are written in one way, however they were spelled")
  func spellings() throws {
    for (text, canonical) in [(#""a".b"#, "a.b"), ("a[007]", "a[7]"), (#"a["b"="c"]"#, "a[b=c]")] {
      #expect(try JSONPath(text).text == canonical)
    }
  }

  @Test(
    "that are none are refused with the way to write them",
    arguments: [
      ("", "a path is not empty"), ("a..b", "a key is expected where '.' is"), ("a.", "a key is expected at the end"),
      (".a", "a key is expected where"), ("a]", "']' is not expected here"), ("a b\"c", "is not expected here"),
      ("a[", "a key is expected at the end"), ("a[*", "'[*' is not closed"), ("a[b]", "brackets hold '*', a position"),
      ("a[b=c", "a bracket is not closed"), ("a[\"b", "a double quote is not closed"), ("\"a", "a double quote is not"),
      ("a[99999999999]", "a position in a list is at most"), ("a[4294967296]", "a position in a list is at most"),
      ("$id", "'$id' is none of"), ("a.$key", "stand alone"), ("$value.a", "stand alone"), ("$", "a key is expected"),
      ("a.^", "'^' stands at the beginning"), ("^", "a path goes on after '^'"), ("^.^", "a path goes on after '^'"),
      ("a=b", "'=' is not expected here"),
      (String(repeating: "a.", count: 32) + "a", "a path has at most 32 steps"),
    ])
  func fault(_ text: String, _ message: String) throws {
    let fault = try #require(throws: JSONPathFault.self) { try JSONPath(text) }
    #expect(fault.message.contains(message), "\(text): \(fault.message)")
  }

  @Test("of random letters are read or refused; what is read and written is read again")
  func random() throws {
    let seed = TestSettings.seed("TRELLIS_FUZZ_SEED")
    let rounds = TestSettings.number("TRELLIS_FUZZ", or: 5_000)
    var random = SeededGenerator(seed: seed)
    let parts = [
      "a", "b", ".", ".", "[", "]", "[*]", "[0]", "=", "\"", "\\", "^", "^.", "*", "$", "$key", "$value", "커",
      "\u{301}",
      "\r", "\n", "\u{600}", "\u{1F1E6}", "\u{200D}", " ", "-", "[a.b=c]", "\"a.b\"", "9999999999", "",
    ]
    var read = 0
    for _ in 0..<rounds {
      let count = random.below(9)
      let text = (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      guard let path = try? JSONPath(text) else { continue }
      read += 1
      #expect((try? JSONPath(path.text)) == path, "TRELLIS_FUZZ_SEED=\(seed): \(text.debugDescription)")
      #expect((try? JSONPath(path.text))?.text == path.text, "TRELLIS_FUZZ_SEED=\(seed): \(text.debugDescription)")
    }
    #expect(read > rounds / 50)
  }
}
