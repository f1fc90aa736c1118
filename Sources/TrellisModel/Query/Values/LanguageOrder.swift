import Foundation

/// The order of texts in a language, with numbers in texts by their size: `file 9` comes before `file 10`.
///
/// The order is that of Foundation, in every store. Texts that it takes for equal, such as composed and decomposed
/// spellings, are ordered by their UTF-8 bytes, so that only the same bytes are equal.
package final class LanguageOrder: Sendable {
  private let locale: Locale

  /// - Parameter identifier: the identifier of a locale, such as `ko` or `de_AT`. An unknown one has the root order.
  package init(_ identifier: String) { locale = Locale(identifier: identifier) }

  /// Negative if the left text comes first, positive if the right one does, zero for the same bytes.
  ///
  /// - Complexity: linear in the length of the texts, about a hundred times as much as a comparison of bytes.
  package func compare(_ left: String, _ right: String) -> Int {
    if TextBytes.areEqual(left, right) { return 0 }
    let order = order(Self.decomposed(left), Self.decomposed(right))
    return order == .orderedSame ? TextBytes.compare(left, right) : order.rawValue
  }

  /// Foundation compares what follows the common beginning of two texts, although letters of it may belong to a letter of
  /// several: in Hungarian, `egészség` would be before `egésztől`, and after it. The same letter before both texts, small
  /// before one and a capital before the other, leaves them no common beginning. If the result is the same the other way
  /// round, it is not that of the two letters.
  private func order(_ left: String, _ right: String) -> ComparisonResult {
    guard let first = left.utf16.first, first == right.utf16.first else { return plainOrder(left, right) }
    let order = plainOrder(Self.small + left, Self.capital + right)
    return order == plainOrder(Self.capital + left, Self.small + right) ? order : plainOrder(left, right)
  }

  private func plainOrder(_ left: String, _ right: String) -> ComparisonResult {
    left.compare(right, options: .numeric, range: nil, locale: locale)
  }

  /// The two forms of a letter that no language has in words.
  private static let small = "\u{10428}"
  private static let capital = "\u{10400}"

  /// Foundation's comparison contradicts itself for composed texts on Linux: 각 would follow 가각, and 가각 would follow 각.
  private static func decomposed(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0x80 } ? text : text.decomposedStringWithCanonicalMapping
  }
}
