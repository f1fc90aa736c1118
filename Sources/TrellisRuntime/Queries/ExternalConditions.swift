public import Foundation
public import TrellisStorage

/// Data with `externalStorage` is compared by its bytes, and no file is read for it.
extension AttributePath where Value == ExternalData {
  public static func == (left: AttributePath, right: Data) -> QueryCondition { left == ExternalData(right) }
  public static func != (left: AttributePath, right: Data) -> QueryCondition { left != ExternalData(right) }

  /// Whether the value is one of these.
  public func isIn(_ values: some Sequence<Data>) -> QueryCondition { isIn(values.map(ExternalData.init)) }
}

extension AttributePath where Value == ExternalData? {
  public static func == (left: AttributePath, right: Data) -> QueryCondition { left == ExternalData(right) }
  public static func != (left: AttributePath, right: Data) -> QueryCondition { left != ExternalData(right) }

  /// Whether the value is one of these.
  public func isIn(_ values: some Sequence<Data>) -> QueryCondition { isIn(values.map { ExternalData($0) }) }
}
