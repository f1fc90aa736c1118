import TrellisQuery
import TrellisSchema
import TrellisStorage

extension PredicateTranslator {
  /// Whether a text has the words of a query. If the column has a full-text table, that table finds candidates, and the
  /// text itself decides.
  mutating func matching(
    _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison
  ) throws(StoreError) -> String {
    let test = search("trellis_search", left, right, comparison)
    guard case .path(let path) = comparison.left, case .value(let number, isNull: false) = right.content,
      let column = try indexedColumn(path)
    else { return test }
    let asked = parameter(number, .searchTerms)
    return "(\(column.key) IN (SELECT rowid FROM \(column.table) WHERE \(column.table) MATCH \(asked) "
      + "UNION ALL SELECT \"key\" FROM \(SearchPlan.marks) WHERE \"entity\" = \(column.entity)) AND \(test))"
  }
}
