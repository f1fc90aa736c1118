public import Foundation
public import TrellisStorage

/// Comparisons of data with `externalStorage`, by its bytes. No file is read for them.
extension AttributePath where Value == ExternalData {
  /// Whether the values are equal.
  public static func == (left: AttributePath, right: Data) -> QueryCondition { left == ExternalData(right) }
  /// Whether the values differ.
  public static func != (left: AttributePath, right: Data) -> QueryCondition { left != ExternalData(right) }

  /// Whether the value equals one of these values.
  public func isIn(_ values: some Sequence<Data>) -> QueryCondition { isIn(values.map(ExternalData.init)) }
}

extension AttributePath where Value == ExternalData? {
  /// Whether the values are equal.
  public static func == (left: AttributePath, right: Data) -> QueryCondition { left == ExternalData(right) }
  /// Whether the values differ.
  public static func != (left: AttributePath, right: Data) -> QueryCondition { left != ExternalData(right) }

  /// Whether the value equals one of these values.
  public func isIn(_ values: some Sequence<Data>) -> QueryCondition { isIn(values.map { ExternalData($0) }) }
}
