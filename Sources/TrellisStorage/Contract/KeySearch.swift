package import TrellisModel

/// A search for the rows that have one of some values in a unique key, by requests: for stores without an index that
/// they can search for many values at once.
struct KeySearch {
  private let key: UniqueKey
  private let values: [[StoredValue]]
  private let entity: Entity
  /// The number of the values in the lists, by the values.
  private let numbers: [KeyValues: Int]

  /// A request has at most this many values, because it must not grow without bound.
  private static let mostValues = 10_000

  init(_ key: UniqueKey, _ values: [[StoredValue]], _ entity: Entity) {
    self.key = key
    self.values = values
    self.entity = entity
    var numbers: [KeyValues: Int] = [:]
    for number in 0..<(values.map(\.count).min() ?? 0) { numbers[KeyValues(values.map { $0[number] })] = number }
    self.numbers = numbers
  }

  /// The requests for the rows. They may also find rows with other values.
  var requests: [StoreRequest] {
    let paths = key.properties.map { PropertyPath(variable: 0).appending($0) }
    if paths.count == 1, let list = values.first {
      return stride(from: 0, to: list.count, by: Self.mostValues).map { start in
        let part = Array(list[start..<min(start + Self.mostValues, list.count)])
        return StoreRequest(entity: entity.index, predicate: .isIn(.path(paths[0]), part, part[0].exactKind))
      }
    }
    return (0..<(values.map(\.count).min() ?? 0)).map { number in
      let terms = zip(paths, values).map { path, list in
        QueryPredicate.comparison(
          Comparison(.path(path), .equal, .value(list[number]), kind: list[number].exactKind))
      }
      return StoreRequest(entity: entity.index, predicate: .and(terms))
    }
  }

  /// The number of the values that a row has; nil if it has others.
  func number(of row: RowReader) -> Int? {
    let found = key.properties.map { property in
      entity.properties[property].column.map { row.value($0, entity.columns[$0].storageClass) } ?? .null
    }
    return numbers[KeyValues(found)]
  }
}

/// The values of a unique key's properties. Most keys have one property, whose value needs no array.
package struct KeyValues: Hashable, Sendable {
  private let first: StoredValue
  private let others: [StoredValue]

  package init(_ values: [StoredValue]) {
    first = values.first ?? .null
    others = Array(values.dropFirst())
  }

  package init(_ value: StoredValue) {
    first = value
    others = []
  }

  /// The values, in the order of the key's properties.
  package var all: [StoredValue] { [first] + others }
}

extension StoredValue {
  /// The kind of a comparison bit by bit, as unique keys compare.
  fileprivate var exactKind: ValueKind {
    switch self {
    case .null, .integer: .integer
    case .real: .real
    case .text: .text
    case .blob, .file: .blob
    }
  }
}
