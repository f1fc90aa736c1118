import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@Suite("Texts in the order of a language") struct LanguageOrderTests {
  private static let names = [
    "Öl", "Ol", "Zebra", "Oz", "öl", "a", "B", "Ähre", "Affe", "äffin", "x9", "x10", "x09", "각", "가각", "가", "나",
    "ㄱ", "abc", "Abc", "123", "45", "", "é", "e\u{301}", "e", "ch", "cz", "d", "c", "ı", "i", "I", "İ", "j", "h",
  ]

  private static let expected = [
    "de": ["a", "Affe", "äffin", "Ähre", "B", "Ol", "öl", "Öl", "Oz", "x9", "x10", "Zebra"],
    "sv": ["a", "Affe", "B", "Ol", "Oz", "x9", "x10", "Zebra", "äffin", "Ähre", "öl", "Öl"],
    "ko": ["45", "123", "가", "가각", "각", "나", "abc", "Abc"],
    "cs": ["c", "cz", "d", "h", "ch", "i"],
    "tr": ["h", "ı", "I", "i", "İ", "j"],
  ]

  @Test("each language has its own order, with numbers by their size, saved or not", arguments: StoreKind.allCases)
  func orders(kind: StoreKind) throws {
    let shelf = try TestContainer(.requests, kind)
    let context = shelf.container.newContext()
    for name in Self.names.shuffled() { Item(in: context).name = name }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      for (language, expected) in Self.expected {
        let locale = Locale(identifier: language)
        let found = try context.values(of: Item.all.sorted { $0.name.localized(in: locale) }) { $0.name }
        #expect(found.filter(expected.contains) == expected, "\(language), saved: \(isSaved)")
        let reversed = try context.values(of: Item.all.sorted { $0.name.localized(in: locale).descending }) { $0.name }
        #expect(reversed.map { Array($0.utf8) } == found.reversed().map { Array($0.utf8) })
        let page = Item.all.sorted { $0.name.localized(in: locale) }.offset(5).limit(7)
        #expect(try context.values(of: page) { $0.name }.map { Array($0.utf8) } == found[5..<12].map { Array($0.utf8) })
        let groups = try context.grouped(Item.all, by: { $0.name }) {
          $0.count
        } sorted: {
          $0.name.localized(in: locale)
        }
        #expect(groups.map { Array($0.key.utf8) } == found.map { Array($0.utf8) })
      }
    }
  }

  @Test("a limit picks the first of many rows", arguments: StoreKind.inPlace) func many(kind: StoreKind) throws {
    let shelf = try TestContainer(.requests, kind)
    let context = shelf.container.newContext()
    for number in 0..<5_000 { Item(in: context).name = "n\(number * 7_919 % 5_000)" }
    try context.save()
    let order = Item.all.sorted { $0.name.localized(in: Locale(identifier: "de")) }
    #expect(try context.values(of: order.limit(3)) { $0.name } == ["n0", "n1", "n2"])
    let window = order.offset(1_990).limit(20)
    #expect(try context.values(of: window) { $0.name } == (1_990..<2_010).map { "n\($0)" })
    #expect(try context.fetch(window).map(\.name) == (1_990..<2_010).map { "n\($0)" })
    #expect(try context.values(of: order) { $0.name }.count == 5_000)
  }

  @Test("a live list follows saves in the order of the language") func live() throws {
    let shelf = try TestContainer(.requests)
    let context = shelf.container.newContext()
    for name in ["Zebra", "Ähre", "Affe"] { Item(in: context).name = name }
    try context.save()
    let live = try context.live(Item.all.sorted { $0.name.localized(in: Locale(identifier: "sv")) })
    #expect(live.map(\.name) == ["Affe", "Zebra", "Ähre"])
    Item(in: context).name = "öl"
    live[0].name = "ä"
    try context.save()
    #expect(live.map(\.name) == ["Zebra", "ä", "Ähre", "öl"])
  }

  @Test("the order is total: no comparison contradicts another") func total() {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    let scalars = Array(
      "abAB äÄöÖßéE019-_.가나각ㄱ한글뷁あアさサ桜がガ🎉İıIchł\u{301}\u{200d}\u{1100}\u{1161}\u{0}".unicodeScalars)
    for language in ["ko", "ja", "de", "sv", "tr", "th", "cs", "lt", "zh", "en", "nonsense"] {
      let order = LanguageOrder(language)
      let texts = (0..<60).map { _ in
        var text = ""
        for _ in 0..<random.below(5) { text.unicodeScalars.append(scalars[random.below(scalars.count)]) }
        return text
      }
      for a in texts {
        for b in texts {
          #expect(order.compare(a, b).signum() == -order.compare(b, a).signum(), "\(language) \(seed)")
          #expect((order.compare(a, b) == 0) == a.utf8.elementsEqual(b.utf8))
          let c = texts[random.below(texts.count)]
          if order.compare(a, b) <= 0 && order.compare(b, c) <= 0 {
            #expect(order.compare(a, c) <= 0, "\(language) \(seed): \(a.debugDescription) \(b) \(c)")
          }
        }
      }
    }
  }
}
