import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Sections by initial") struct InitialTests {
  /// The sections of names: the initial, and the names under it.
  private func index(_ names: [String], _ language: String) throws -> [String] {
    let shelf = try TestContainer(.requests)
    let context = shelf.container.newContext()
    for name in names { Item(in: context).name = name }
    try context.save()
    let live = try context.live(Item.all, sectionedBy: { $0.name.initial(in: Locale(identifier: language)) })
    return live.sections.map { "\($0.value ?? "nil"): \($0.map(\.name).joined(separator: " "))" }
  }

  @Test("each language lists names under the letters of its alphabet") func languages() throws {
    #expect(
      try index(["김", "까치", "나비", "가", "Zoe", "anna", "하늘", "7번", "Иван", "あき", "ㅋㅋ", "Ángel"], "ko") == [
        "#: 7번", "ㄱ: 가 김 까치", "ㄴ: 나비", "ㅋ: ㅋㅋ", "ㅎ: 하늘", "A: Ángel anna", "Z: Zoe", "…: Иван あき",
      ])
    #expect(
      try index(["Åsa", "Anna", "Öl", "Zlatan", "åke", "Ägir"], "sv_SE") == [
        "A: Anna", "Z: Zlatan", "Å: åke Åsa", "Ä: Ägir", "Ö: Öl",
      ])
    #expect(try index(["Åsa", "Anna", "Öl", "Zlatan"], "de") == ["A: Anna Åsa", "O: Öl", "Z: Zlatan"])
    #expect(
      try index(["chata", "cukr", "dům", "had", "čaj", "Chleba"], "cs") == [
        "C: cukr", "Č: čaj", "D: dům", "H: had", "CH: chata Chleba",
      ])
    #expect(
      try index(["İzmir", "ısı", "Isparta", "çay", "Cem", "şal"], "tr") == [
        "C: Cem", "Ç: çay", "I: ısı Isparta", "İ: İzmir", "Ş: şal",
      ])
    #expect(
      try index(["がく", "カメラ", "あき", "やま", "Tom", "日本", "ゃ"], "ja") == [
        "T: Tom", "あ: あき", "か: がく カメラ", "や: ゃ やま", "…: 日本",
      ])
    #expect(try index(["ลม", "เด็ก", "กา", "Som"], "th") == ["ก: กา", "ด: เด็ก", "ล: ลม", "S: Som"])
    #expect(
      try index(["Ёлка", "Елена", "Яна", "Bob", "йод"], "ru") == ["Е: Елена Ёлка", "Й: йод", "Я: Яна", "B: Bob"])
    #expect(try index(["Ñandú", "Nube", "Ola"], "es_MX") == ["N: Nube", "Ñ: Ñandú", "O: Ola"])
    #expect(try index(["", "!", "한"], "en") == ["#:  !", "…: 한"])
  }

  @Test("sections follow changes, in both directions, and nil has a section of its own") func changes() throws {
    let shelf = try TestContainer(.requests)
    let context = shelf.container.newContext()
    let korean = Locale(identifier: "ko")
    let names = ["나", "가", "다"].map { name in
      let item = Item(in: context)
      (item.name, item.code) = (name, name)
      return item
    }
    try context.save()
    let rising = try context.live(Item.all.sorted { $0.count }, sectionedBy: { $0.name.initial(in: korean) })
    let falling = try context.live(
      Item.all.sorted { $0.code.localized(in: korean).descending }, sectionedBy: { $0.code.initial(in: korean) })
    #expect(rising.sections.map(\.value) == ["ㄱ", "ㄴ", "ㄷ"] && falling.sections.map(\.value) == ["ㄷ", "ㄴ", "ㄱ"])
    (names[0].name, names[0].code) = ("라", nil)
    try context.save()
    #expect(rising.sections.map(\.value) == ["ㄱ", "ㄷ", "ㄹ"] && falling.sections.map(\.value) == ["ㄷ", "ㄱ", nil])
    try context.delete(names[1])
    try context.save()
    #expect(rising.sections.map { $0.map(\.name) } == [["다"], ["라"]])
  }

  @Test(
    "whatever the texts, each label has one section",
    arguments: ["ko", "ja", "zh", "sv", "cs", "hu", "tr", "th", "vi", "ru", "ar", "en"])
  func sections(_ language: String) throws {
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    print("initials: seed \(random)")
    // A Thai vowel that precedes its consonant has no place of its own.
    let letters = Array("aAáäzZçčdžnyszßıİ가까각힣ㄱあぁカがー日本阿八北กขมяйёЁאابαωΩ0９-_ 'éê\u{301}ơưđ")
    let names = (0..<300).map { _ in String((0..<random.below(4)).map { _ in letters[random.below(letters.count)] }) }
    let shelf = try TestContainer(.requests)
    let context = shelf.container.newContext()
    for name in names { Item(in: context).name = name }
    try context.save()
    let live = try context.live(Item.all, sectionedBy: { $0.name.initial(in: Locale(identifier: language)) })
    let values = live.sections.map(\.value)
    #expect(live.sections.reduce(0) { $0 + $1.count } == names.count)
    let repeated = values.filter { value in value != "…" && values.count { $0 == value } > 1 }
    #expect(repeated.isEmpty, "\(values)")
    // A name has the same initial alone.
    for section in live.sections.prefix(12) {
      guard let name = section.first?.name else { continue }
      #expect(try index([name], language).first?.hasPrefix("\(section.value ?? "nil"):") == true, "\(name)")
    }
  }
}
