import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Random formats") struct FormatRandomTests {
  @Test("what is printed reads back as the same tree, and prints the same")
  func roundTrip() throws {
    let count = TestSettings.number("TRELLIS_PREDICATES", or: 2_000)
    let seed = TestSettings.seed()
    print("round trip, seed \(seed), \(count) formats")
    let bench = try FormatBench()
    var random = RandomFormats(seed)
    for _ in 0..<count {
      let format = random.condition(3)
      let tree = try bench.read(format)
      let text = try tree.formatText(of: 0, in: bench.model)
      let again = try bench.read(text)
      #expect(again == tree, "\(format) became \(text), seed \(seed)")
      #expect(try again.formatText(of: 0, in: bench.model) == text, "seed \(seed)")
    }
  }

  @Test("no mutation of a format makes the reader trap or hang")
  func fuzz() throws {
    let count = TestSettings.number("TRELLIS_FUZZ", or: 20_000)
    let seed = TestSettings.seed()
    print("fuzz, seed \(seed), \(count) strings")
    let bench = try FormatBench()
    var random = RandomFormats(seed)
    var accepted = 0
    for place in 0..<count {
      let base = place % 2 == 0 ? random.condition(3) : random.pick(FormatReadingTests.accepted).0
      let text = random.mutated(base)
      let arguments = text.contains("%@") ? [FormatArgument.value(.integer(1), .integer)] : []
      do {
        let tree = try bench.read(text, arguments)
        accepted += 1
        // What is accepted prints as something that is accepted.
        let printed = try tree.formatText(of: 0, in: bench.model)
        _ = try bench.read(printed)
      } catch let error as PredicateFormatError {
        #expect(error.offset <= text.utf8.count)
        if place % 64 == 0 { _ = error.description }
        // The second reading may only fail for its depth: what is printed has more parentheses.
        if error.text != text { #expect(error.code == .tooDeep, "\(text): \(error), seed \(seed)") }
      }
    }
    print("fuzz: \(accepted) of \(count) accepted")
  }
}

/// Grows formats that fit ``FormatModel``, and breaks them.
struct RandomFormats {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func below(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(max(1, bound)))
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  mutating func condition(_ depth: Int, prefix: String = "", variable: Int = 1) -> String {
    guard depth > 0 else { return leaf(prefix, variable) }
    switch below(8) {
    case 0: return "NOT (\(condition(depth - 1, prefix: prefix, variable: variable)))"
    case 1:
      let terms = (0...below(3) + 1).map { _ in "(\(condition(depth - 1, prefix: prefix, variable: variable)))" }
      return terms.joined(separator: pick([" AND ", " and ", " && "]))
    case 2:
      let terms = (0...below(3) + 1).map { _ in condition(depth - 1, prefix: prefix, variable: variable) }
      return "(" + terms.joined(separator: pick([" OR ", " or ", " || "])) + ")"
    case 3:
      // Through the tags back to diaries, so that inside all properties are there again.
      let inner = condition(depth - 1, prefix: "$x\(variable + 1).", variable: variable + 2)
      let quantifiers = ["ANY", "ALL", "NONE", "some"]
      return "\(pick(quantifiers))(\(prefix)tags, $x\(variable), "
        + "\(pick(quantifiers))($x\(variable).diaries, $x\(variable + 1), \(inner)))"
    default: return leaf(prefix, variable)
    }
  }

  private mutating func leaf(_ p: String, _ variable: Int) -> String {
    switch below(19) {
    case 14:
      return "\(pick(["ANY", "ALL", "NONE", "SOME"])) {1, 2, \(below(9))} \(relation()) \(number(1, p, variable))"
    case 15:
      return pick([
        "\(p)entity == 'Diary'", "\(p)next.entity.name != 'Tag'", "ANY \(p)images.entity.name IN {'Image', 'Tag'}",
        "NONE \(p)next.stars > 3", "{1, 2, 3} CONTAINS \(p)stars",
      ])
    case 16:
      let choice = "TERNARY(\(p)stars \(relation()) 3, \(text(p)), \(pick(["'b'", "nil", text(p)])))"
      return "\(choice) \(textRelation()) \(literal())"
    case 17:
      let place = pick(["FIRST", "LAST", "\(below(3))"])
      return pick([
        "\(p)pages[\(place)].number \(relation()) \(number(1, p, variable))", "\(p)pages[\(place)] != nil",
        "\(p)pages[\(place)].diary.pages[LAST].number > 2", "\(p)pages[\(place)].diary.images.@count > 1",
        "\(p)pages[\(place)].entity == 'Page'",
      ])
    case 18:
      let function = pick(["sqrt", "ln", "log", "exp", "-", "abs"])
      return
        "\(function)(\(pick(["\(p)weight", "\(p)stars", "\(p)price"]))) \(relation()) \(pick(["0.5", "\(p)weight"]))"
    case 0: return "\(number(2, p, variable)) \(relation()) \(number(1, p, variable))"
    case 1: return "\(p)weight \(relation()) \(pick(["1", "2.5", "-0.0", "1e300", "\(p)stars"]))"
    case 2: return "\(p)price \(relation()) \(pick(["1", "2.50", "\(p)stars", "\(p)price * 2"]))"
    case 3: return "\(text(p)) \(textRelation()) \(literal())"
    case 4: return "\(p)emotion IN {'happy', 'sad'}"
    case 5: return "\(p)level == \(pick(["'low'", "9", "nil"]))"
    case 6: return "\(p)createdAt \(relation()) \(pick(["now()", "now() - 5", "CAST('2026-01-31', 'NSDate') + 2.5"]))"
    case 7: return "\(p)isDraft \(pick(["", "== yes", "!= NO", "= 1"]))"
    case 8: return "\(p)stars BETWEEN {\(below(5)), \(below(9))}"
    case 9: return "\(number(1, p, variable)) IN {1, 2, \(below(9))}"
    case 10: return "\(pick(["ANY", "ALL", "NONE"])) \(p)images.size \(relation()) \(number(1, p, variable))"
    case 11: return "\(literal()) IN \(p)tags.name"
    case 12:
      return pick([
        "TRUEPREDICATE", "FALSEPREDICATE", "\(p)next == nil", "\(p)link == 'http://a'",
        "\(p.isEmpty ? "#" : p)in != nil",
      ])
    default: return "\(p)id == '00112233-4455-6677-8899-AABBCCDDEEFF'"
    }
  }

  private mutating func number(_ depth: Int, _ p: String, _ variable: Int) -> String {
    switch depth > 0 ? below(12) : 0 {
    case 0, 1: return pick(["\(p)stars", "\(p)stars", "3", "-7", "0x1F"])
    case 2: return "length(\(text(p)))"
    case 3: return "\(p)images.@count"
    case 4: return "\(p)images.@\(pick(["sum", "min", "max"])).size"
    case 5:
      return "SUBQUERY(\(p)images, $s\(variable), $s\(variable).size > \(number(depth - 1, p, variable + 1))).@count"
    case 8: return "~\(number(0, p, variable))"
    case 9: return "\(pick(["max", "min", "sum"]))({\(number(depth - 1, p, variable)), \(number(0, p, variable)), 4})"
    case 10: return "modulus:by:(\(number(depth - 1, p, variable)), \(number(0, p, variable)))"
    case 11: return "TERNARY(\(p)isDraft, \(number(depth - 1, p, variable)), \(number(0, p, variable)))"
    case 6: return "\(pick(["abs", "floor", "round"]))(\(number(depth - 1, p, variable)))"
    default:
      return
        "(\(number(depth - 1, p, variable)) \(pick(["+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>"])) \(number(depth - 1, p, variable)))"
    }
  }

  private mutating func text(_ p: String) -> String {
    pick(["\(p)content", "\(p)mood", "lowercase(\(p)content)", "uppercase:(\(p)mood)", "CAST(\(p)stars, 'NSString')"])
  }

  private mutating func literal() -> String {
    pick(["'a'", "\"b'c\"", "'커피'", "'100%% \\\\ \\n'", "''", "'\\u{1F600}'", "'*a?'"])
  }

  private mutating func relation() -> String { pick(["=", "==", "!=", "<>", "<", "<=", "=<", ">", ">=", "=>"]) }

  private mutating func textRelation() -> String {
    let relation = pick(["==", "!=", "<", "BEGINSWITH", "contains", "ENDSWITH", "LIKE", "MATCHING"])
    return relation == "MATCHING" ? relation : relation + pick(["", "", "[c]", "[cd]", "[n]", "[dc]"])
  }

  /// A few places changed, left out, doubled or moved.
  mutating func mutated(_ text: String) -> String {
    var scalars = Array(text.unicodeScalars)
    let noise = Array("'\"\\(){}[].,@#%$&|^~!=<>*+-/ 0x9eE_aZ커\u{301}\u{0}\n".unicodeScalars)
    for _ in 0...below(2) {
      let place = below(scalars.count + 1)
      switch below(5) {
      case 0: scalars.insert(pick(noise), at: place)
      case 1: if place < scalars.count { scalars.remove(at: place) }
      case 2: if place < scalars.count { scalars[place] = pick(noise) }
      case 3:
        let end = min(scalars.count, place + below(12))
        scalars.insert(contentsOf: scalars[min(place, end)..<end], at: below(scalars.count + 1))
      default: scalars.removeSubrange(min(place, scalars.count)..<min(scalars.count, place + below(8)))
      }
    }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars)
    return String(result)
  }
}
