import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Comparisons of data in external storage. The row contains either a blob, or a text that refers to a file by its
/// content. So bytes are compared with both, and no file is read.
extension PredicateTranslator {
  /// Whether external data is equal to a value. Nil if neither side is external data, or if the value is nil.
  mutating func externalEquality(
    _ left: TranslatedOperand, _ right: TranslatedOperand, isEqual: Bool
  ) throws(StoreError) -> String? {
    switch (left.content, right.content) {
    case (.column(let column), .value(let number, isNull: false)) where column.isExternal,
      (.value(let number, isNull: false), .column(let column)) where column.isExternal:
      let row = parameter(number, .plain)
      let file = parameter(number, .reference)
      return isEqual
        ? "(\(column.sql) = \(row) OR \(column.sql) = \(file))"
        : "(\(column.sql) IS NOT \(row) AND \(column.sql) IS NOT \(file))"
    case (.column(let left), .column(let right)) where left.isExternal || right.isExternal:
      throw StoreError(
        .unsupported, "SQLite cannot compare data that may lie in files with another attribute.",
        remedy: "Compare it with a value, or compare the objects' data.")
    default: return nil
    }
  }

  /// Whether external data is in a list of values.
  mutating func isIn(external sql: String, _ list: Int, _ values: [StoredValue]) -> String {
    let rows = ListParameter.values(parameter(list, .plain))
    let files = ListParameter.values(parameter(list, .reference))
    let isListed = "\(sql) IN \(rows) OR \(sql) IN \(files)"
    return values.hasNull ? "(\(isListed) OR \(sql) IS NULL)" : "(\(isListed))"
  }

  /// The number of bytes, which is part of the text in the row.
  static func externalLength(_ sql: String) -> String {
    let size = "CAST(substr(\(sql), \(ExternalFile.placeOfSize)) AS INTEGER)"
    return "CASE typeof(\(sql)) WHEN 'text' THEN \(size) ELSE length(\(sql)) END"
  }
}
