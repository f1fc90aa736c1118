import Foundation
import TrellisModel

/// Turns the names of a Core Data model into names that a model file may have.
enum NameTranslation {
  /// The longest name, which leaves room for a number behind it.
  private static let longest = 240

  /// The name of a type: letters A–Z and a–z, digits and underscores, with a capital letter first.
  static func typeName(_ name: String) -> String {
    let plain = letters(of: name)
    guard let first = plain.first else { return "Entity" }
    let capital = first.uppercased() + plain.dropFirst()
    return capital.lowercased().hasPrefix("sqlite_") ? "X" + capital : capital
  }

  /// The name of a property: as that of a type, with a small letter first.
  static func propertyName(_ name: String) -> String {
    let plain = letters(of: name)
    guard let first = plain.first else { return "property" }
    return first.isUppercase ? lowerCamel(plain) : plain
  }

  /// The letters, digits and underscores of a name from the first letter on. Accents go.
  private static func letters(of name: String) -> String {
    let folded =
      name.unicodeScalars.allSatisfy(\.isASCII) ? name : name.folding(options: .diacriticInsensitive, locale: nil)
    let word = folded.unicodeScalars.filter { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_"
    }
    let start = word.firstIndex { ("a"..."z").contains($0) || ("A"..."Z").contains($0) }
    guard let start else {
      return word.isEmpty ? "" : "n" + String(String.UnicodeScalarView(word.filter { $0 != "_" }))
    }
    return String(String(String.UnicodeScalarView(word[start...])).prefix(longest))
  }

  /// The name with its first word in small letters: `URLString` gives `urlString`, `ID` gives `id`.
  static func lowerCamel(_ name: String) -> String {
    let characters = Array(name)
    let capitals = characters.prefix { $0.isUppercase }.count
    let startsWord = capitals > 1 && capitals < characters.count && characters[capitals].isLowercase
    let count = startsWord ? capitals - 1 : capitals
    return String(characters[..<count]).lowercased() + String(characters[count...])
  }

  /// Whether a name can be that of a class as it is.
  static func isTypeName(_ name: String) -> Bool { name == typeName(name) && name.utf8.count <= 255 }

  /// Whether generated code has a type, or Swift a word, of this name.
  static func isReservedType(_ name: String) -> Bool {
    ReservedNames.swiftWords.contains(name) || ReservedNames.types.contains(name)
  }

  /// Whether every generated class has a member, or Swift a word, of this name.
  static func isReservedMember(_ name: String) -> Bool {
    ReservedNames.swiftWords.contains(name) || ReservedNames.members.contains(name)
  }
}

/// The names of one scope, which differ from each other by more than case.
struct TakenNames {
  private var names: Set<String> = []
  /// The last number behind each name that was taken before, so that many equal names need no search from the start.
  private var numbers: [String: Int] = [:]

  mutating func take(_ name: String) { names.insert(name.lowercased()) }

  func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }

  /// The name, with the least number from 2 on behind it that makes it differ from the taken ones.
  mutating func unused(_ name: String) -> String {
    guard contains(name) else { return name }
    var number = numbers[name.lowercased()] ?? 2
    while contains(name + String(number)) { number += 1 }
    numbers[name.lowercased()] = number
    return name + String(number)
  }
}
