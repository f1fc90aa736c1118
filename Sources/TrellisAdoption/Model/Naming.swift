import Foundation
import TrellisModel

/// The names that entities and properties get from those of tables and columns.
///
/// A name is split into words at signs, spaces, underscores and small letters before capitals. Entities are in the singular,
/// to-manys in the plural, as far as English has a rule for it.
enum Naming {
  /// The longest name, which leaves room for words and a number behind it.
  private static let longest = 100

  /// The name of an entity: `FilmActor` for `film_actor`, `Customer` for `Customers`.
  static func entity(_ table: String) -> String {
    var words = words(of: table)
    if let last = words.popLast() { words.append(singular(last)) }
    return pascal(words, else: "Table")
  }

  /// The name of an entity that is not put into the singular.
  static func plainEntity(_ table: String) -> String { pascal(words(of: table), else: "Table") }

  /// The name of an attribute: `firstName` for `first_name` and for `FirstName`.
  static func property(_ column: String) -> String { camel(words(of: column), else: "column") }

  /// The name of a to-one: that of its column without the ending that names a key, or that of the other entity if
  /// nothing else is left of it.
  static func toOne(_ column: String, to entity: String) -> String {
    var words = words(of: column)
    if words.count > 1, let last = words.last?.lowercased(), keyEndings.contains(last) { words.removeLast() }
    let rest = words.map { $0.lowercased() }
    if rest.count == 1, let only = rest.first, keyEndings.contains(only) { return lowerCamel(entity) }
    return camel(words, else: lowerCamel(entity))
  }

  private static let keyEndings: Set<String> = ["id", "uuid", "guid", "key", "fk", "code", "no", "pk"]

  /// The name of a to-many whose members are of an entity, or are called so one by one: `albums` for `Album`.
  static func toMany(_ name: String) -> String {
    let start = lowerCamel(name)
    return plural(start)
  }

  /// The name of a case: `pg13` for `PG-13`, `value5` for 5.
  static func enumCase(_ value: String) -> String {
    let words = words(of: value)
    let name = camel(words, else: "value")
    return name.first?.isNumber == true || words.isEmpty ? "value" + capitalized(name == "value" ? "" : name) : name
  }

  /// The name with its first word in small letters.
  static func lowerCamel(_ name: String) -> String { camel(words(of: name), else: name.lowercased()) }

  static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  // MARK: Words

  /// The words of a name, of the letters A–Z and digits.
  private static func words(of name: String) -> [String] {
    var words: [String] = []
    var word = ""
    let letters = Array(latin(name).unicodeScalars)
    for (place, scalar) in letters.enumerated() {
      guard scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) else {
        // A letter other than these 26 does not end a word.
        if scalar != "'", scalar.isASCII || !scalar.properties.isAlphabetic { flush(&word, into: &words) }
        continue
      }
      if isCapital(scalar), let last = word.unicodeScalars.last {
        let next = place + 1 < letters.count ? letters[place + 1] : " "
        let startsWord = !isCapital(last) || ("a"..."z").contains(next) && !isPlural(letters, place)
        if startsWord { flush(&word, into: &words) }
      }
      word.unicodeScalars.append(scalar)
    }
    flush(&word, into: &words)
    return words
  }

  /// Whether a capital with a small s behind it ends the word: `IDs`.
  private static func isPlural(_ letters: [Unicode.Scalar], _ place: Int) -> Bool {
    guard letters[place + 1] == "s" else { return false }
    return place + 2 >= letters.count || !("a"..."z").contains(letters[place + 2])
  }

  private static func isCapital(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }

  private static func flush(_ word: inout String, into words: inout [String]) {
    if !word.isEmpty { words.append(word) }
    word = ""
  }

  /// The name in letters of Latin, without accents.
  private static func latin(_ name: String) -> String {
    if name.unicodeScalars.allSatisfy(\.isASCII) { return name }
    let latin = name.applyingTransform(.toLatin, reverse: false) ?? name
    return latin.folding(options: .diacriticInsensitive, locale: nil)
  }

  private static func pascal(_ words: [String], else other: String) -> String {
    let name = words.map { word in
      // A word in capitals alone stays one among others: `URLTable`, but `FILM_ACTOR` is `FilmActor`.
      let isShouted = word.count > 3 && word.allSatisfy { !$0.isLowercase }
      return capitalized(isShouted || words.count > 1 && isShort(word) ? word.lowercased() : word)
    }.joined()
    guard let first = name.first else { return other }
    return String((first.isNumber ? other + name : name).prefix(longest))
  }

  private static func isShort(_ word: String) -> Bool { word.count == 1 }

  private static func camel(_ words: [String], else other: String) -> String {
    guard let first = words.first else { return other }
    let rest = words.dropFirst().map { word in
      // What names a key is in capitals in Swift.
      ["id", "url", "uuid"].contains(word.lowercased())
        ? word.uppercased()
        : capitalized(word.count > 3 && word.allSatisfy { !$0.isLowercase } ? word.lowercased() : word)
    }
    let name = first.lowercased() + rest.joined()
    return String((name.first?.isNumber == true ? other + name : name).prefix(longest))
  }

  // MARK: Numbers of words

  private static let unchanged: Set<String> = ["series", "species", "news", "data", "media", "info"]

  private static func singular(_ word: String) -> String {
    let small = word.lowercased()
    guard small.count > 3, !unchanged.contains(small), !small.hasSuffix("ss"), !small.hasSuffix("us"),
      !small.hasSuffix("is")
    else { return word }
    if small.hasSuffix("ies") { return String(word.dropLast(3)) + (word.last?.isUppercase == true ? "Y" : "y") }
    for ending in ["sses", "xes", "ches", "shes", "zes"] where small.hasSuffix(ending) {
      return String(word.dropLast(2))
    }
    return small.hasSuffix("s") ? String(word.dropLast()) : word
  }

  private static func plural(_ name: String) -> String {
    let small = name.lowercased()
    if unchanged.contains(where: small.hasSuffix) { return name }
    if small.hasSuffix("y"), let before = small.dropLast().last, !"aeiou".contains(before) {
      return String(name.dropLast()) + "ies"
    }
    for ending in ["ss", "x", "ch", "sh", "us", "is"] where small.hasSuffix(ending) { return name + "es" }
    return small.hasSuffix("s") ? name : name + "s"
  }

  // MARK: Reserved

  /// Whether every generated class has a member, or Swift a word, of this name.
  static func isReservedMember(_ name: String) -> Bool {
    ReservedNames.swiftWords.contains(name) || ReservedNames.members.contains(name)
  }

  /// Whether a class of this name would hide a type of Swift, or be hidden.
  static func isReservedType(_ name: String) -> Bool {
    ReservedNames.swiftWords.contains(name) || ReservedNames.types.contains(name)
      || ReservedNames.shadowedTypes.contains(name)
  }

  static func isReservedCase(_ name: String) -> Bool {
    ReservedNames.swiftWords.contains(name) || ReservedNames.cases.contains(name)
      || ReservedNames.optionalCases.contains(name)
  }
}

extension String {
  /// The name of a type or a member in a sentence: `an int64`, `a uuid`, `data`.
  var withArticle: String {
    if self == "data" || self == "all" { return self }
    let hasVowel = first.map { "aeiouAEIOU".contains($0) } == true
    return ["uu", "ur", "uni", "use"].contains { hasPrefix($0) } || !hasVowel ? "a \(self)" : "an \(self)"
  }
}

/// The names of one scope, which differ from each other by more than case.
struct NameScope {
  private var names: Set<String> = []
  private var numbers: [String: Int] = [:]

  func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }

  mutating func take(_ name: String) { names.insert(name.lowercased()) }

  /// The first of some names that is free, or the last one with the least number from 2 on behind it.
  mutating func takeUnused(_ candidates: String...) -> String {
    for candidate in candidates where !contains(candidate) {
      take(candidate)
      return candidate
    }
    let last = candidates.last ?? ""
    var number = numbers[last.lowercased()] ?? 2
    while contains(last + String(number)) { number += 1 }
    numbers[last.lowercased()] = number + 1
    take(last + String(number))
    return last + String(number)
  }
}
