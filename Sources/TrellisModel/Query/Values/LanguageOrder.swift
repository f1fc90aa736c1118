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
    let order = Self.decomposed(left).compare(
      Self.decomposed(right), options: .numeric, range: nil, locale: locale)
    return order == .orderedSame ? TextBytes.compare(left, right) : order.rawValue
  }

  /// Foundation's comparison contradicts itself for composed texts on Linux: 각 would follow 가각, and 가각 would follow 각.
  private static func decomposed(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0x80 } ? text : text.decomposedStringWithCanonicalMapping
  }
}
