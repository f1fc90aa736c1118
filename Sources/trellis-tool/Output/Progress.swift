import Foundation

/// Shows how far a long work is, in one line of a terminal. Elsewhere it shows nothing.
final class Progress {
  private let what: String
  private let isShown = Console.isTerminal(.standardError)
  private var last = Date.distantPast
  private var width = 0

  /// - Parameter what: The things that are counted, in the plural.
  init(_ what: String) { self.what = what }

  /// Shows a number, a few times a second at most.
  func show(_ count: Int) {
    guard isShown, count > 0, Date().timeIntervalSince(last) > 0.2 else { return }
    last = Date()
    let text = "\(count.formatted(.number.locale(Locale(identifier: "en_US")))) \(what)"
    Console.complain("\r" + text + String(repeating: " ", count: max(0, width - text.count)))
    width = text.count
  }

  /// Removes the line.
  func end() {
    if width > 0 { Console.complain("\r" + String(repeating: " ", count: width) + "\r") }
    width = 0
  }
}
