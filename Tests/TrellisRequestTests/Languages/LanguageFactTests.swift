import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Names in the order that ICU has for a language") struct LanguageFactTests {
  /// Names in order that `make_names.py` beside this file has written. Others by the environment variable TRELLIS_NAMES,
  /// the path of another file of that kind.
  private static let file =
    ProcessInfo.processInfo.environment["TRELLIS_NAMES"].map { URL(filePath: $0) }
    ?? URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Names.json")

  @Test("each language has the order that another library finds", arguments: [StoreKind.memory, .sqlite])
  func all(kind: StoreKind) throws {
    let facts = try read()
    #expect(facts.names.count >= 12)
    #expect(facts.names.values.reduce(0) { $0 + $1.count } >= 1000)
    for (language, names) in facts.names { try check(names, language, kind) }
  }

  @Test("every store has that order", arguments: StoreKind.allCases) func every(kind: StoreKind) throws {
    let facts = try read()
    for language in ["ko", "da"] {
      let names = try #require(facts.names[language])
      try check(names, language, kind)
    }
  }

  private func read() throws -> Facts {
    try JSONDecoder().decode(Facts.self, from: Data(contentsOf: Self.file))
  }

  private func check(_ names: [String], _ language: String, _ kind: StoreKind) throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    let place = "\(language), \(kind), seed \(seed)"
    let locale = Locale(identifier: language)
    let shelf = try TestContainer(.requests, kind)
    let context = shelf.container.newContext()
    for name in names.shuffled(using: &random) { Item(in: context).name = name }
    let ascending = Item.all.sorted { $0.name.localized(in: locale) }
    let descending = Item.all.sorted { $0.name.localized(in: locale).descending }
    let reversed = Array(names.reversed())

    let unsaved = try context.values(of: ascending) { $0.name }
    #expect(difference(unsaved, names[...]) == nil, "unsaved, \(place)")
    try context.save()
    let saved = try context.values(of: ascending) { $0.name }
    #expect(difference(saved, names[...]) == nil, "\(place)")
    let backward = try context.values(of: descending) { $0.name }
    #expect(difference(backward, reversed[...]) == nil, "descending, \(place)")
    let objects = try context.fetch(ascending).map(\.name)
    #expect(difference(objects, names[...]) == nil, "objects, \(place)")

    let first = try context.values(of: ascending.limit(40)) { $0.name }
    #expect(difference(first, names.prefix(40)) == nil, "first, \(place)")
    let last = try context.values(of: descending.limit(40)) { $0.name }
    #expect(difference(last, reversed.prefix(40)) == nil, "last, \(place)")
    for start in stride(from: 0, to: names.count, by: 90) {
      let page = try context.values(of: ascending.offset(start).limit(90)) { $0.name }
      #expect(difference(page, names.dropFirst(start).prefix(90)) == nil, "from \(start), \(place)")
    }
    let start = random.below(names.count)
    let some = try context.fetch(descending.offset(start).limit(25)).map(\.name)
    #expect(difference(some, reversed.dropFirst(start).prefix(25)) == nil, "descending from \(start), \(place)")
  }

  /// The first place where two lists differ, by bytes.
  private func difference(_ found: [String], _ expected: ArraySlice<String>) -> String? {
    if found.count != expected.count { return "\(found.count) names instead of \(expected.count)" }
    for (one, other) in zip(found, expected) where !one.utf8.elementsEqual(other.utf8) {
      return "\(one.debugDescription) instead of \(other.debugDescription)"
    }
    return nil
  }
}

private struct Facts: Decodable {
  /// By language, in order.
  let names: [String: [String]]
}
