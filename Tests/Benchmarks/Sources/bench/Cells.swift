import Foundation

/// A figure, right-aligned.
func cell(_ value: Double?, digits: Int, width: Int, suffix: String = "") -> String {
  cell(value.map { String(format: "%.\(digits)f", $0) + suffix } ?? "-", width: width)
}

func cell(_ text: String, width: Int) -> String {
  String(repeating: " ", count: max(1, width - text.count)) + text
}

/// A name, left-aligned.
func label(_ text: String, width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}
