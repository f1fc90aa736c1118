import Foundation
import Testing
import TrellisModel
@testable import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@Suite("A document holds what was saved") struct RoundTripTests {
  private let folder: TestFolder
  private let model: Model
  private var path: String { folder.path("library.json") }

  init() throws {
    folder = try TestFolder()
    model = try Library.model()
  }

  private func open() throws -> JSONStore { try JSONStore(path: path, model: model) }

  private static let edges: [(String, [StoredValue])] = [
    (
      "the_string",
      ["", "a", "\u{0}\u{1F}\u{7F}", "\"\\/\n\r\t", "e\u{301}", "é", "커피☕️", "\u{10FFFF}\u{2028}"].map { .text($0) }
    ),
    ("the_bool", [.integer(0), .integer(1)]),
    ("the_int16", [.integer(-32768), .integer(32767)]),
    ("the_int32", [.integer(Int64(Int32.min)), .integer(Int64(Int32.max))]),
    ("the_int64", [.integer(.min), .integer(-1), .integer(0), .integer(9_007_199_254_740_993), .integer(.max)]),
    (
      "the_float",
      [
        0.1, Double(Float(0.1)), Double(Float.greatestFiniteMagnitude), Double(Float.leastNonzeroMagnitude), .infinity,
        1e300, 123_456_789_012, 1.5e-4, Double(Float(0.00012345678)),
      ].map { .real($0) }
    ),
    (
      "the_double",
      [
        0, -0.0, 0.1, 1.0 / 3, 1e22, -1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity,
        9_007_199_254_740_992,
      ].map { .real($0) }
    ),
    ("the_decimal", ["0", "-0.1", "99999999999999999999999999999999999999", "1.5"].map { .text($0) }),
    (
      "the_date",
      // The first and the last that can be kept, and some between.
      [
        -9_222_000_000_000_000_000, -1, 0, 1_700_000_000_123_456, 253_402_300_800_000_000, -62_167_219_200_000_001,
        9_222_000_000_000_000_000,
      ].map { .integer($0) }
    ),
    ("the_data", [[], [0], [1, 2], [UInt8](0...255)].map { .blob($0) }),
    ("the_uuid", [.blob([UInt8](repeating: 0, count: 16)), .blob([UInt8](240...255))]),
    ("the_url", [.text("https://example.org/a?b=c#d")]),
    ("list", ["[]", "[\"a\",\"\\n\"]", "null"].map { .text($0) }),
    ("address", ["{\"city\":\"서울\",\"street\":\"x\"}", "{}", "1e2"].map { .text($0) }),
  ]

  @Test("values of every type come back to the bit, nil included", arguments: edges.indices)
  func values(_ edge: Int) throws {
    let (name, values) = Self.edges[edge]
    var store: JSONStore? = try open()
    for (place, value) in (values + [.null]).enumerated() {
      try store?.insert([Record(model, "Sample", Int64(place + 1), [name: value])])
    }
    let before = try store?.rows(model, "Sample")
    store = nil
    let after = try open().rows(model, "Sample")
    #expect(after == before && after.count == values.count + 1)
    // -0.0 and 0.0 are equal, but not the same bits.
    if case .real(let zero)? = after.dropFirst().first?.dropFirst(2).first(where: { !$0.isNull }), zero == 0 {
      #expect(zero.sign == .minus)
    }
  }

  @Test("random texts, numbers and bytes come back to the bit")
  func randomValues() throws {
    var random = SeededGenerator(seed: TestSettings.seed())
    var store: JSONStore? = try open()
    let records = try (1...300).map { key in
      try Record(
        model, "Sample", key,
        [
          "the_double": .real(Double(bitPattern: random.next()).finite),
          "the_float": .real(Double(Float(bitPattern: UInt32.random(in: 0 ... .max, using: &random)).finite)),
          "the_int64": .integer(Int64(bitPattern: random.next())),
          "the_date": .integer(Int64(bitPattern: random.next()) % 9_222_000_000_000_000_000),
          "the_data": .blob((0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: 0...255) }),
          "the_string": .text(
            String(
              String.UnicodeScalarView((0..<8).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0...0x11_0000)) }))),
        ])
    }
    try store?.insert(records)
    let before = try store?.rows(model, "Sample")
    store = nil
    #expect(try open().rows(model, "Sample") == before)
  }

  @Test("relationships, orders, pairs and versions come back")
  func graph() throws {
    var store: JSONStore? = try open()
    try store?.insertGraph(model)
    let before = try store?.everything(model)
    store = nil
    #expect(try open().everything(model) == before)
  }

  @Test("a document is the same text whenever the same is saved, and the one that is kept as a sample")
  func golden() throws {
    let store = try open()
    try store.insertGraph(model)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/library.json")
    if ProcessInfo.processInfo.environment["TRELLIS_RECORD_GOLDEN"] != nil {
      try text.write(to: golden, atomically: true, encoding: .utf8)
      Issue.record("recorded")
    }
    #expect(try text == String(contentsOf: golden, encoding: .utf8))
  }

  @Test("a key that was used is not used again after the object is deleted and the store opened anew")
  func keys() throws {
    var store: JSONStore? = try open()
    let key = try #require(try store?.reserveKeys(10).lowerBound) + 6
    let record = try Record(model, "Tag", key, ["label": .text("a")])
    try store?.insert([record])
    let request = SaveRequest()
    request.deletes = [SaveRequest.Deletes(entity: record.entity.index, keys: [key], versions: [1])]
    try store?.connect().save(request)
    store = nil
    #expect(try open().reserveKeys(1).lowerBound == key + 1)
  }

  @Test("a value that is none of its type is refused before anything is written")
  func unstorable() throws {
    let store = try open()
    let before = try String(contentsOfFile: path, encoding: .utf8)
    let misfits: [(String, StoredValue)] = [
      ("the_bool", .integer(2)), ("the_int16", .integer(40_000)), ("the_uuid", .blob([1])), ("the_decimal", .text("x")),
      ("list", .text("[1")),
      ("address", .text(String(repeating: "[", count: 500) + String(repeating: "]", count: 500))),
    ]
    for (name, value) in misfits {
      let error = #expect(throws: StoreError.self) { try store.insert([Record(model, "Sample", 1, [name: value])]) }
      #expect(error?.code == .unstorableValue && error?.properties == [name])
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
    #expect(try store.rows(model, "Sample").isEmpty)
  }
}

extension BinaryFloatingPoint {
  fileprivate var finite: Self { isFinite ? self : 1 }
}

extension JSONStore {
  /// Two authors who are friends, two books in order, a tag, and one update.
  func insertGraph(_ model: Model) throws {
    let writer = try Record(model, "Author", 1, ["name": .text("한강"), "mood": .text("calm")])
    let other = try Record(model, "Author", 2, ["name": .text("Ursula \"U\""), "mood": .text("wild")])
    let books = try [(3, "Second", 2048), (4, "First", 1024)].map { key, title, place in
      try Record(
        model, "Book", Int64(key),
        ["title": .text(title), "author": .integer(1), "_author_order": .integer(Int64(place)), "pages": .integer(7)])
    }
    let tag = try Record(model, "Tag", 5, ["label": .text("novel")])
    let sample = try Record(
      model, "Sample", 6,
      [
        "the_double": .real(0.1), "the_date": .integer(1_769_000_000_250_000), "the_data": .blob([1, 2, 3]),
        "the_decimal": .text("9.95"), "list": .text("[\"a\",\"b\"]"),
      ])
    let tables = Dictionary(uniqueKeysWithValues: model.joinTables.map { ($0.name, $0.index) })
    var friends = SaveRequest.Pairs(table: tables["_Author_friends"] ?? -1)
    friends.added = [.init(first: 1, partner: 2), .init(first: 2, partner: 1)]
    var tags = SaveRequest.Pairs(table: tables["_Book_tags"] ?? -1)
    tags.added = [.init(first: 3, partner: 5, place: 1024)]
    try insert([writer, other] + books + [tag, sample], pairs: [friends, tags])
    try update(other)
  }
}
