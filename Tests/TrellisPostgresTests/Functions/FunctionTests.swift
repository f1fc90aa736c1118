import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// `TRELLIS_FUNCTIONS` is the number of random texts and pairs of numbers, `TRELLIS_FUNCTIONS_SEED` the seed.
@Suite("Functions of a store on a server", .enabled(if: TestServer.isThere, "needs a server"))
struct FunctionTests {
  private static let count: Int = TestSettings.number("TRELLIS_FUNCTIONS", or: 1_500)
  private static let seed: UInt64 = TestSettings.number("TRELLIS_FUNCTIONS_SEED", or: .random(in: 0 ... .max))
  private static let options: [TextOptions] = [1, 2, 3, 4, 5, 7].map { TextOptions(rawValue: $0) }

  private let shelf: Shelf
  private let connection: PostgresConnection
  private let functions: ServerFunctions

  init() throws {
    shelf = try Shelf()
    connection = try #require(try shelf.store.connect() as? PostgresConnection)
    functions = try #require(shelf.store.functions)
  }

  // MARK: Texts

  /// The texts that the server folds otherwise than memory does, although it says that it knows them; and the number of
  /// those that it does not know.
  private func differences(_ texts: [String]) throws -> (wrong: [String], unknown: Int) {
    var array = ServerArray(of: .text)
    for text in texts { _ = array.append(.text(text)) }
    var parameters = ServerParameters()
    let list = parameters.add(array)
    let columns = Self.options.map { functions.folded("u.t", $0) } + [functions.isKnown("u.t")]
    var (wrong, unknown): ([String], Int) = ([], 0)
    try connection.readAll(
      ServerStatement(
        "SELECT \(columns.joined(separator: ", ")) FROM unnest(\(list)) WITH ORDINALITY AS u(t, n) ORDER BY u.n",
        parameters)
    ) { result, row in
      guard result.integer(row, columns.count - 1) == 1 else { return unknown += 1 }
      for (place, options) in Self.options.enumerated() {
        let expected = TextFolding.fold(texts[row], options: options)
        guard let found = result.text(row, place), TextBytes.areEqual(found, expected) else {
          let scalars = texts[row].unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
          return wrong.append("\(scalars) by \(options.rawValue): \(result.text(row, place) ?? "-"), not \(expected)")
        }
      }
    }
    return (wrong, unknown)
  }

  @Test("each letter that folding or normalization changes is folded as in memory, alone and between others")
  func letters() throws {
    var texts: [String] = []
    for value in UInt32(1)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(scalar)
      let isPlain =
        Self.options.allSatisfy { TextBytes.areEqual(TextFolding.fold(text, options: $0), text) }
        && scalar.properties.canonicalCombiningClass == .notReordered
      if isPlain && value % 61 != 0 { continue }
      texts += [text, "a\(text)\u{301}", "\(text)\u{323}\u{308}x"]
    }
    let found = try differences(texts)
    #expect(found.wrong == [], "\(found.wrong.count) of \(texts.count)")
    #expect(found.unknown * 3 < texts.count, "\(found.unknown) of \(texts.count)")
  }

  // MARK: Searches

  private static let scripts: [ClosedRange<UInt32>] = [
    0x20...0x7E, 0x61...0x7A, 0x61...0x66, 0xA0...0x24F, 0x300...0x36F, 0x370...0x3FF, 0x400...0x45F, 0x5D0...0x5EA,
    0x627...0x652, 0x904...0x94D, 0xE01...0xE4E, 0x1000...0x109F, 0x1161...0x1175, 0x1780...0x17D3, 0x2000...0x206F,
    0x2100...0x21FF, 0x3041...0x30FF, 0x4E00...0x4E10, 0xAC00...0xAC20, 0xFF21...0xFF9F, 0x10400...0x1044F,
    0x1F600...0x1F64F, 0x20000...0x20010, 0x378...0x37A, 0x1100...0x1112,
  ]

  private static func text(_ random: inout SeededGenerator, _ length: Int) -> String {
    var text = String.UnicodeScalarView()
    var script = scripts[random.below(scripts.count)]
    for _ in 0..<length {
      switch random.below(8) {
      case 0: text.append(" ")
      case 1: script = scripts[random.below(scripts.count)]
      default: break
      }
      if let scalar = Unicode.Scalar(UInt32.random(in: script, using: &random)) { text.append(scalar) }
    }
    return String(text)
  }

  /// A space and a mark are one character, so the scalars are split.
  private static func tokens(_ text: String) -> Set<[UInt32]> {
    Set(text.unicodeScalars.split(separator: " ").map { $0.map(\.value) })
  }

  @Test("an index has the tokens of each text, and a search finds each text that memory finds") func searches() throws {
    var random = SeededGenerator(seed: Self.seed)
    var (texts, queries, lists): ([String], [String], [ServerArray]) =
      ([], [], [ServerArray(of: .text), ServerArray(of: .text)])
    for _ in 0..<Self.count {
      let text = Self.text(&random, random.below(40))
      // Mostly a piece of the text, in another spelling.
      let scalars = Array(text.unicodeScalars)
      let start = random.below(scalars.count + 1)
      var piece = String.UnicodeScalarView()
      piece.append(contentsOf: scalars[start..<min(scalars.count, start + 1 + random.below(8))])
      var query = random.below(8) == 0 ? Self.text(&random, random.below(4)) : String(piece)
      if random.below(3) == 0 { query = query.uppercased() }
      guard let asked = ServerFunctions.query(query) else { continue }
      texts.append(text)
      queries.append(query)
      _ = lists[0].append(.text(text))
      _ = lists[1].append(.text(asked))
    }
    var parameters = ServerParameters()
    let markers = lists.map { parameters.add($0) }
    var (found, unknown) = (0, 0)
    try connection.readAll(
      ServerStatement(
        "SELECT array_to_string(tsvector_to_array(\(functions.tokens("u.t"))), ' '), \(functions.tokens("u.t")) @@ u.q::tsquery "
          + "FROM unnest(\(markers[0]), \(markers[1])) WITH ORDINALITY AS u(t, q, n) ORDER BY u.n", parameters)
    ) { result, row in
      let tokens = Self.tokens(result.text(row, 0) ?? "")
      let matches = SearchQuery(queries[row]).matches(texts[row])
      if matches { found += 1 }
      let scalars = texts[row].unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
      #expect(!matches || result.integer(row, 1) == 1, "\(queries[row]) in \(scalars), seed \(Self.seed)")
      if tokens == [[0x3F]] { return unknown += 1 }
      let missing = Self.tokens(SearchTokens.kept(of: texts[row])).subtracting(tokens)
      #expect(missing.isEmpty, "\(missing) of \(scalars), seed \(Self.seed)")
    }
    #expect(found * 3 > texts.count && unknown * 2 < texts.count, "\(found) and \(unknown) of \(texts.count)")
  }

  @Test("random texts of many scripts are folded as in memory") func texts() throws {
    var random = SeededGenerator(seed: Self.seed)
    let ranges: [ClosedRange<UInt32>] = [
      0x20...0x7E, 0xA0...0x24F, 0x300...0x36F, 0x370...0x52F, 0x531...0x587, 0x5D0...0x5EA, 0x627...0x652,
      0x904...0x94D,
      0xE01...0xE4E, 0x10A0...0x10FF, 0x1100...0x1112, 0x1161...0x1175, 0x11A8...0x11C2, 0x13A0...0x13FF,
      0x1E00...0x1FFF,
      0x2160...0x2188, 0x3041...0x30FF, 0x4E00...0x4E80, 0xAC00...0xAD00, 0xFB00...0xFB06, 0xFF21...0xFF9F,
      0x10400...0x1044F, 0x1F600...0x1F64F,
    ]
    let texts = (0..<Self.count).map { _ -> String in
      var text = String.UnicodeScalarView()
      var range = ranges[random.below(ranges.count)]
      for _ in 0..<random.below(24) {
        if random.below(4) == 0 { range = ranges[random.below(ranges.count)] }
        let value = range.lowerBound + UInt32(random.below(Int(range.upperBound - range.lowerBound) + 1))
        if let scalar = Unicode.Scalar(value) { text.append(scalar) }
      }
      return String(text)
    }
    let found = try differences(texts)
    #expect(found.wrong == [], "seed \(Self.seed)")
    #expect(found.unknown < texts.count / 2, "seed \(Self.seed): \(found.unknown)")
  }

  // MARK: Numbers

  private static func integer(_ random: inout SeededGenerator) -> Int64 {
    let value = Int64(bitPattern: random.next())
    return [value, value >> 32, value % 10, .max, .min, 0, 1, -1, value >> 1, 3_037_000_500][random.below(10)]
  }

  private static func real(_ random: inout SeededGenerator) -> Double {
    let bits = Double(bitPattern: random.next())
    let price = Double(Int64(random.below(2_000_000)) - 1_000_000) / 100
    let all = [
      bits.isNaN ? 0 : bits, price, price, 0, -0.0, 1e308, -1e308, .leastNonzeroMagnitude, 0.1,
      .greatestFiniteMagnitude,
      -3.5,
      Double(random.below(1_000)), price * 1e-200, price * 1e150,
    ]
    return all[random.below(all.count)]
  }

  private static func decimal(_ random: inout SeededGenerator) -> String {
    let digits = (0..<(1 + random.below(30))).map { _ in String(random.below(10)) }.joined()
    let point = random.below(digits.count + 1)
    let text = "\(random.below(2) == 0 ? "-" : "")0\(digits.prefix(point)).\(digits.dropFirst(point))0"
    return DecimalText.canonical(text) ?? "1"
  }

  private static let signs: [(ArithmeticOperator, String)] = [
    (.add, "add"), (.subtract, "subtract"), (.multiply, "multiply"), (.divide, "divide"), (.remainder, "remainder"),
    (.power, "power"),
  ]

  private func check(
    _ kind: String, _ type: ServerType, _ signs: [(ArithmeticOperator, String)],
    _ value: (inout SeededGenerator) -> StoredValue
  ) throws {
    var random = SeededGenerator(seed: Self.seed)
    let pairs = (0..<Self.count).map { _ in (value(&random), value(&random)) }
    var (first, second) = (ServerArray(of: type), ServerArray(of: type))
    for pair in pairs {
      let areTaken = first.append(pair.0) && second.append(pair.1)
      #expect(areTaken)
    }
    var parameters = ServerParameters()
    let lists = "\(parameters.add(first)), \(parameters.add(second))"
    let columns = signs.map { functions.call("\(kind)_\($0.1)", "u.a", "u.b") }
    var wrong: [String] = []
    try connection.readAll(
      ServerStatement(
        "SELECT \(columns.joined(separator: ", ")) FROM unnest(\(lists)) WITH ORDINALITY AS u(a, b, n) ORDER BY u.n",
        parameters)
    ) { result, row in
      for (place, sign) in signs.enumerated() {
        let expected = ValueArithmetic.compute(sign.0, pairs[row].0, pairs[row].1)
        let found = result.value(row, place)
        if found != expected { wrong.append("\(pairs[row]) \(sign.1): \(found), not \(expected)") }
      }
    }
    #expect(wrong.prefix(5) == [], "seed \(Self.seed): \(wrong.count) of \(pairs.count)")
  }

  @Test("arithmetic has the results of memory") func arithmetic() throws {
    try check("integer", .bigint, Self.signs) { .integer(Self.integer(&$0)) }
    try check("real", .double, Array(Self.signs.prefix(4))) { .real(Self.real(&$0)) }
    try check("decimal", .numeric, Array(Self.signs.prefix(5))) { .text(Self.decimal(&$0)) }
  }

  @Test("sums and averages have the results of memory, whatever their order") func sums() throws {
    var random = SeededGenerator(seed: Self.seed)
    let kinds: [(ServerType, ValueKind, (inout SeededGenerator) -> StoredValue)] = [
      (.bigint, .integer, { .integer(Self.integer(&$0)) }), (.double, .real, { .real(Self.real(&$0)) }),
      (.numeric, .decimal, { .text(Self.decimal(&$0)) }),
    ]
    for (type, kind, value) in kinds {
      for _ in 0..<max(20, Self.count / 100) {
        let values = (0..<random.below(40)).map { _ in value(&random) }
        var array = ServerArray(of: type)
        for value in values { _ = array.append(value) }
        var parameters = ServerParameters()
        let list = parameters.add(array)
        let columns = try [AggregateFunction.sum, .average].map {
          try #require(functions.aggregate($0, "u.v", type)).sql
        }
        try connection.readAll(
          ServerStatement("SELECT \(columns.joined(separator: ", ")) FROM unnest(\(list)) AS u(v)", parameters)
        ) { result, row in
          for (place, function) in [AggregateFunction.sum, .average].enumerated() {
            let expected = ValueArithmetic.aggregate(function, values, kind: kind)
            #expect(result.value(row, place) == expected, "seed \(Self.seed): \(function) of \(values)")
          }
        }
      }
    }
  }
}
