/// Emits writing the columns of some or all properties of a row.
///
/// Columns are in order: a class's attributes, its references, then the order columns of those references.
enum RowWritingEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let columns = Self.columns(of: plan)
    guard !columns.isEmpty else { return }
    writer.blank()
    let parameters = ["of properties: \(TypeName.columnMask)", "to row: \(TypeName.rowWriter)"]
    writer.function("@_spi(Generated) public override func writeColumns", parameters) { writer in
      if !plan.isRoot { writer.line("super.writeColumns(of: properties, to: row)") }
      emitMarked(columns[...], to: &writer)
    }
  }

  private struct Column {
    let number: Int
    let property: Int
    let value: String
  }

  private static func columns(of plan: EntityPlan) -> [Column] {
    var columns: [Column] = []
    for field in plan.ownFields {
      if let column = field.column {
        columns.append(Column(number: column, property: field.number, value: "\(unsafeMark)_row.\(field.name.member)"))
      }
      if let column = field.placeColumn {
        columns.append(Column(number: column, property: field.number, value: unsafeMark + field.storage))
      }
    }
    return columns.sorted { $0.number < $1.number }
  }

  /// Adjacent columns of one property share a test.
  private static func emitMarked(_ columns: ArraySlice<Column>, to writer: inout CodeWriter) {
    var rest = columns
    while let first = rest.first {
      let group = rest.prefix { $0.property == first.property }
      rest = rest.dropFirst(group.count)
      let test = "if properties.contains(\(first.property))"
      if group.count == 1 {
        writer.line("\(test) { \(first.value).write(to: row) }")
      } else {
        writer.block(test) { writer in for column in group { writer.line("\(column.value).write(to: row)") } }
      }
    }
  }
}
