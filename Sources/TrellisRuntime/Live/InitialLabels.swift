import TrellisModel
import TrellisStorage

/// The initials under which a language lists texts: the letters of its alphabet, those of the Latin one if that is another,
/// and `…` for other scripts. What comes before all letters, such as digits, is under `#`.
///
/// A text has the last label that is not after it in the order of the language, so the labels of sorted texts are sorted.
struct InitialLabels {
  static let other = "…"
  static let symbols = "#"

  private let order: LanguageOrder
  private let isDescending: Bool
  /// The first text of each label, in the order of the language.
  private let labels: [(start: String, shown: String)]

  init(_ language: String, isDescending: Bool) {
    self.isDescending = isDescending
    let order = LanguageOrder(language)
    self.order = order
    let own = Alphabets.letters(of: language)
    let latin = own.contains { $0.start == "a" } || Alphabets.sortsLatinApart(language) ? [] : Alphabets.latin
    let known = own + latin
    let scripts = Alphabets.scripts.filter { script in !known.contains { $0.start == script } }
    let all = (known + scripts.map { ($0, Self.other) }).sorted { order.compare($0.start, $1.start) < 0 }
    // Labels of unknown scripts that follow each other are one.
    labels = all.enumerated().filter { $0.offset == 0 || all[$0.offset - 1].shown != $0.element.shown }.map(\.element)
  }

  /// The label of each text, nil for nil.
  ///
  /// - Parameter texts: texts in the order of the language.
  /// - Complexity: O(*m* log *n*) comparisons for *m* labels and *n* texts.
  func values(_ texts: ArraySlice<StoredValue>) -> [StoredValue] {
    let sorted = isDescending ? Array(texts.reversed()) : Array(texts)
    let start = sorted.firstIndex { !$0.isNull } ?? sorted.count
    var values = [StoredValue](repeating: .null, count: start)
    var shown = Self.symbols
    var place = start
    for label in labels {
      let next = firstPlace(notBefore: label.start, in: sorted, from: place)
      values += repeatElement(.text(shown), count: next - place)
      (shown, place) = (label.shown, next)
    }
    values += repeatElement(.text(shown), count: sorted.count - place)
    return isDescending ? values.reversed() : values
  }

  private func firstPlace(notBefore start: String, in texts: [StoredValue], from place: Int) -> Int {
    var (low, high) = (place, texts.count)
    while low < high {
      let middle = (low + high) / 2
      if case .text(let text) = texts[middle], order.compare(text, start) < 0 {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }
}

/// The alphabets that index labels come from, after the exemplar characters for indexes in Unicode's CLDR. A letter that a
/// language sorts among the forms of another one has no label of its own.
private enum Alphabets {
  typealias Letter = (start: String, shown: String)

  /// The first letters of scripts, the forms that are sorted first.
  static let scripts = ["a", "α", "а", "ა", "ա", "א", "ا", "अ", "ก", "ㄱ", "ぁ", "一"]

  static let latin = letters("a b c d e f g h i j k l m n o p q r s t u v w x y z")

  /// Whether Latin texts come before an own alphabet with the same labels.
  static func sortsLatinApart(_ language: String) -> Bool { code(of: language) == "zh" }

  static func letters(of language: String) -> [Letter] {
    switch code(of: language) {
    case "ko": letters("ㄱ ㄴ ㄷ ㄹ ㅁ ㅂ ㅅ ㅇ ㅈ ㅊ ㅋ ㅌ ㅍ ㅎ")
    case "ja": pairs("あ ぁ か か さ さ た た な な は は ま ま や ゃ ら ら わ ゎ")
    case "zh":
      pairs(
        "A 阿 B 八 C 嚓 D 咑 E 妸 F 发 G 旮 H 哈 J 丌 K 咔 L 垃 M 妈 N 拏 O 噢 "
          + "P 妑 Q 七 R 呥 S 仨 T 他 W 屲 X 夕 Y 丫 Z 帀")
    case "sv", "fi": letters("a b c d e f g h i j k l m n o p q r s t u v w x y z å ä ö")
    case "da", "nb", "nn", "no": letters("a b c d e f g h i j k l m n o p q r s t u v w x y z æ ø å")
    case "es": letters("a b c d e f g h i j k l m n ñ o p q r s t u v w x y z")
    case "cs": letters("a b c č d e f g h ch i j k l m n o p q r ř s š t u v w x y z ž")
    case "sk": letters("a ä b c č d e f g h ch i j k l m n o ô p q r s š t u v w x y z ž")
    case "pl": letters("a ą b c ć d e ę f g h i j k l ł m n ń o ó p q r s ś t u v w x y z ź ż")
    case "hu":
      letters("a b c cs d dz dzs e f g gy h i j k l ly m n ny o ö p q r s sz t ty u ü v w x y z zs")
    case "hr", "bs", "sl": letters("a b c č ć d dž đ e f g h i j k l lj m n nj o p q r s š t u v w x y z ž")
    case "ro": letters("a ă â b c d e f g h i î j k l m n o p q r s ș t ț u v w x y z")
    case "tr", "az":
      // The small letters of I and İ are those of no other language.
      letters("a b c ç d e f g ğ h") + pairs("I ı İ i") + letters("j k l m n o ö p q r s ş t u ü v w x y z")
    case "vi": letters("a ă â b c d đ e ê f g h i j k l m n o ô ơ p q r s t u ư v w x y z")
    case "et": letters("a b c d e f g h i j k l m n o p q r s š z ž t u v õ ä ö ü x y")
    case "lt": letters("a b c č d e f g h i j k l m n o p q r s š t u v w x z ž")
    case "lv": letters("a b c č d e f g ģ h i j k ķ l ļ m n ņ o p q r s š t u v w x z ž")
    case "is": letters("a á b c d ð e é f g h i í j k l m n o ó p q r s t u ú v w x y ý z þ æ ö å")
    case "ru", "bg", "be": letters("а б в г д е ж з и й к л м н о п р с т у ф х ц ч ш щ ы э ю я")
    case "uk": letters("а б в г ґ д е є ж з и і ї й к л м н о п р с т у ф х ц ч ш щ ю я")
    case "el": letters("α β γ δ ε ζ η θ ι κ λ μ ν ξ ο π ρ σ τ υ φ χ ψ ω")
    case "he": letters("א ב ג ד ה ו ז ח ט י כ ל מ נ ס ע פ צ ק ר ש ת")
    case "ar", "fa": letters("ا ب ت ث ج ح خ د ذ ر ز س ش ص ض ط ظ ع غ ف ق ك ل م ن ه و ي")
    case "th":
      letters("ก ข ฃ ค ฅ ฆ ง จ ฉ ช ซ ฌ ญ ฎ ฏ ฐ ฑ ฒ ณ ด ต ถ ท ธ น บ ป ผ ฝ พ ฟ ภ ม ย ร ฤ ล ฦ ว ศ ษ ส ห ฬ อ ฮ")
    default: latin
    }
  }

  private static func code(of language: String) -> String {
    String(language.prefix { $0 != "_" && $0 != "-" && $0 != "@" }).lowercased()
  }

  /// Letters that begin with their small form, which comes first, and are shown in capitals.
  private static func letters(_ list: String) -> [Letter] {
    list.split(separator: " ").map { (String($0), $0.uppercased()) }
  }

  /// Labels, each with the first text of it.
  private static func pairs(_ list: String) -> [Letter] {
    let words = list.split(separator: " ").map(String.init)
    return stride(from: 0, to: words.count - 1, by: 2).map { (words[$0 + 1], words[$0]) }
  }
}
