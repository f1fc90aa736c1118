public import TrellisModel

/// Sort keys prepared for ordering many objects, in the same way as every store does.
///
/// nil sorts first in ascending order. Ties are broken by the objects' keys, in the direction of the last sort key.
/// Without sort keys, objects sort by their keys in ascending order.
public struct SortOrder: Sendable {
  @usableFromInline let keys: [SortKey]
  @usableFromInline let operands: [PreparedOperand]
  /// The search query of each sort key; nil for keys that sort by values.
  @usableFromInline let queries: [SearchQuery?]

  /// - Throws: ``EvaluationError`` if a path starts at a variable other than 0.
  public init(_ keys: [SortKey]) throws(EvaluationError) {
    guard keys.allSatisfy({ $0.path.variable == 0 }) else {
      throw EvaluationError("A sort key starts at an object other than the one that is fetched.")
    }
    self.keys = keys
    operands = keys.map { key in PreparedPath(key.path).map { .property($0) } ?? .key(variable: 0) }
    queries = keys.map { key in key.query.map { SearchQuery($0) } }
  }

  @usableFromInline static func rank(_ value: StoredValue, _ query: SearchQuery) -> StoredValue {
    if case .text(let text) = value { .real(query.rank(of: text)) } else { .null }
  }

  /// Negative if `left` sorts first, positive if `right` does, zero only for the same key.
  ///
  /// - Throws: errors of the objects' methods.
  @inlinable public func compare<Object: QueryObject>(_ left: Object, _ right: Object) throws -> Int {
    compare(try sortValues(of: left), left.queryKey, try sortValues(of: right), right.queryKey)
  }

  /// The objects, sorted.
  ///
  /// - Throws: errors of the objects' methods.
  /// - Complexity: O(*n* log *n*) comparisons; the values of each object are read once.
  @inlinable public func sorted<Object: QueryObject>(_ objects: [Object]) throws -> [Object] {
    var entries: [SortEntry] = []
    entries.reserveCapacity(objects.count)
    for (place, object) in objects.enumerated() {
      entries.append(SortEntry(place: place, key: object.queryKey, values: try sortValues(of: object)))
    }
    entries.sort { compare($0.values, $0.key, $1.values, $1.key) < 0 }
    return entries.map { objects[$0.place] }
  }

  /// The sort values of an object, folded if a key's options require it.
  @inlinable func sortValues<Object: QueryObject>(of object: Object) throws -> [StoredValue] {
    let scope = EvaluationScope(object)
    var values: [StoredValue] = []
    values.reserveCapacity(keys.count)
    for (key, operand) in zip(keys, operands) {
      let value = try operand.value(in: scope)
      if let query = queries[values.count] {
        values.append(Self.rank(value, query))
        continue
      }
      values.append(key.kind == .text ? PreparedComparison.fold(value, key.options) : value)
    }
    return values
  }

  @usableFromInline func compare(_ a: [StoredValue], _ aKey: Int64, _ b: [StoredValue], _ bKey: Int64) -> Int {
    for (key, values) in zip(keys, zip(a, b)) {
      let order = ValueOrder.compare(values.0, values.1, kind: key.kind)
      if order != 0 { return key.isDescending ? -order : order }
    }
    let order = aKey < bKey ? -1 : aKey > bKey ? 1 : 0
    return keys.last?.isDescending == true ? -order : order
  }
}

/// The index of an object before sorting, with its sort values.
@usableFromInline struct SortEntry {
  @usableFromInline let place: Int
  @usableFromInline let key: Int64
  @usableFromInline let values: [StoredValue]

  @usableFromInline init(place: Int, key: Int64, values: [StoredValue]) {
    self.place = place
    self.key = key
    self.values = values
  }
}

extension SortOrder {
  /// The sort values of an object, one per sort key, to be stored and compared later.
  ///
  /// - Throws: errors of the object's methods.
  package func values<Object: QueryObject>(of object: Object) throws -> [StoredValue] { try sortValues(of: object) }

  /// Negative if the entry with the first values and key sorts before the other.
  package func order(_ a: [StoredValue], _ aKey: Int64, _ b: [StoredValue], _ bKey: Int64) -> Int {
    compare(a, aKey, b, bKey)
  }
}
