import TrellisForeignFiles
import TrellisModel
import TrellisStorage

/// Reads the rows of a table as those of its entity.
struct EntityReader {
  let table: String
  let query: RowQuery
  let references: [AdoptedEntity.Reference]
  private let attributes: [AdoptedEntity.Attribute]
  private let rules: [CheckedAttribute?]
  private let types: [AttributeType]
  /// The places of the columns of each reference among the values.
  private let ends: [[Int]]
  /// Where the value of each column of the entity comes from.
  private let sources: [Source]

  private enum Source { case attribute(Int), reference(Int), none }

  /// Something of a row that has no place.
  struct Fault {
    let column: String
    let message: String
    /// Whether the row cannot be without it.
    let isRequired: Bool
  }

  init(_ adopted: AdoptedEntity, _ entity: Entity) {
    table = adopted.table
    attributes = adopted.attributes
    references = adopted.references
    var columns = adopted.attributes.map(\.column)
    ends = adopted.references.map { reference in
      reference.key.columns.map { column in
        if let place = columns.firstIndex(of: column) { return place }
        columns.append(column)
        return columns.count - 1
      }
    }
    query = RowQuery(adopted.table, columns: columns, references: adopted.references.map(\.key))
    let resolved = adopted.attributes.map { entity.property(named: $0.name)?.attribute }
    rules = resolved.map { $0.flatMap { CheckedAttribute($0) } }
    types = resolved.map { $0?.type ?? .string }
    sources = entity.columns.map { column in
      let name = entity.properties[column.property].name
      switch column.content {
      case .attribute: return adopted.attributes.firstIndex { $0.name == name }.map { .attribute($0) } ?? .none
      case .reference: return adopted.references.firstIndex { $0.name == name }.map { .reference($0) } ?? .none
      case .order: return .none
      }
    }
  }

  // MARK: Checking

  /// What of a row has no place; empty for most rows.
  func faults(of row: SourceRow) -> [Fault] {
    var faults: [Fault] = []
    for (place, attribute) in attributes.enumerated() {
      if let message = fault(row.values[place], place) {
        faults.append(Fault(column: attribute.column, message: message, isRequired: attribute.isRequired))
      }
    }
    for (place, reference) in references.enumerated() where row.targets[place] == nil {
      let isNull = ends[place].contains { row.values[$0].isNull }
      if isNull, !reference.isRequired { continue }
      faults.append(
        Fault(
          column: reference.key.columns.joined(separator: ", "),
          message: isNull ? "is null, and required" : "leads to no row of \(reference.key.target)",
          isRequired: reference.isRequired))
    }
    return faults
  }

  private func fault(_ value: ForeignValue, _ place: Int) -> String? {
    let attribute = attributes[place]
    if value.isNull { return attribute.isRequired ? "is null, and required" : nil }
    guard let stored = attribute.form.stored(value) else {
      return switch attribute.form {
      case .among: "has a value that is no case of its enum"
      case .date(let form): "has \(value.kind) that is no date as the others are, which are \(form.phrase)"
      case .integer, .double, .float, .decimal: "has \(value.kind) that is no \(types[place].spelling)"
      default: "has \(value.kind), and is \(types[place].spelling.withArticle)"
      }
    }
    return rules[place]?.failures(of: stored).first.map { "breaks a rule: it \($0.message)" }
  }

  /// The values of a unique key; nil for a row that has none of them, or one that has no place.
  func values(of key: UniqueKeyCheck, in row: SourceRow) -> [UniqueKeyCheck.Value]? {
    var values: [UniqueKeyCheck.Value] = []
    for part in key.parts {
      switch part {
      case .attribute(let place):
        let value = stored(row.values[place], place)
        if value.isNull { return nil }
        values.append(.stored(value))
      case .reference(let place):
        guard let target = row.targets[place] else { return nil }
        values.append(.row(target))
      }
    }
    return values
  }

  /// The finding for a row whose values of a unique key are those of another one.
  func finding(_ key: UniqueKeyCheck, _ row: RowIdentity, _ holder: RowIdentity, allowsLoss: Bool) -> AdoptionFinding {
    var kinds: [String] = []
    for case .attribute(let place) in key.parts { kinds.append(types[place].spelling.withArticle) }
    let form = kinds.isEmpty ? "" : ", as \(kinds.joined(separator: " and ")),"
    let end =
      !allowsLoss
      ? "" : key.optionalPart == nil ? ", so the row is left out" : key.parts.count > 1 ? lostColumn(of: key) : ""
    return AdoptionFinding(
      table: table, row: row.description, column: key.columns,
      message: "has to be unique, and is\(form) the same as in \(table)\(holder)\(end)")
  }

  private func lostColumn(of key: UniqueKeyCheck) -> String {
    switch key.optionalPart {
    case .attribute(let place): ", so \(attributes[place].column) is left out"
    case .reference(let place): ", so \(references[place].key.columns.joined(separator: ", ")) is left out"
    case nil: ""
    }
  }

  func finding(_ fault: Fault, _ row: SourceRow, allowsLoss: Bool) -> AdoptionFinding {
    let end = allowsLoss && fault.isRequired ? ", so the row is left out" : ""
    return AdoptionFinding(
      table: table, row: row.identity.description, column: fault.column, message: fault.message + end)
  }

  // MARK: Values

  /// The values of a row, by the columns of its entity. What has no place is null.
  ///
  /// - Parameters:
  ///   - lost: What is left out of the row.
  ///   - target: gives the value for a reference, by its place among the references.
  func stored(
    _ row: SourceRow, without lost: Set<UniqueKeyCheck.Part>,
    _ target: (_ place: Int, _ identity: RowIdentity) -> StoredValue
  ) -> [StoredValue] {
    sources.map { source in
      switch source {
      case .none: return .null
      case .attribute(let place): return lost.contains(.attribute(place)) ? .null : stored(row.values[place], place)
      case .reference(let place):
        if lost.contains(.reference(place)) { return .null }
        return row.targets[place].map { target(place, $0) } ?? .null
      }
    }
  }

  /// The stored form of the value of an attribute; null for one that has no place.
  private func stored(_ value: ForeignValue, _ place: Int) -> StoredValue {
    guard let stored = attributes[place].form.stored(value) else { return .null }
    return rules[place]?.failures(of: stored).isEmpty ?? true ? stored : .null
  }
}
