import TrellisModel
import TrellisStorage
import TrellisTestSupport

/// Random objects and random questions about them, from a seed.
struct RandomRequests {
  let model: Model
  var generator: SeededGenerator

  init(model: Model, seed: UInt64) {
    self.model = model
    generator = SeededGenerator(seed: seed)
  }

  static let texts = ["", "a", "ab", "b", "Äb", "a\u{0}b", "커피", "커피".decomposed, "ÀB", "ba", "a\u{10FFFF}", "A"]
  static let decimals = ["0", "-1", "1", "1.5", "10", "2", "-0.25", "1000000000000000000000000000001"]

  mutating func value(_ storage: StorageClass, isDecimal: Bool = false) -> StoredValue {
    switch storage {
    case .integer: .integer([0, 1, 2, -3, .max, .min].randomElement(using: &generator) ?? 0)
    case .real: .real([0, 1, -1.5, 2.25, .infinity, 1e300].randomElement(using: &generator) ?? 0)
    case .text: .text((isDecimal ? Self.decimals : Self.texts).randomElement(using: &generator) ?? "")
    case .blob: .blob([[], [0], [0, 1], [1], [255]].randomElement(using: &generator) ?? [])
    }
  }

  // MARK: Predicates

  mutating func predicate(_ scopes: [(variable: Int, entity: Int)], depth: Int) -> QueryPredicate {
    switch Int.random(in: 0..<(depth > 0 ? 12 : 6), using: &generator) {
    case 0..<4: return comparison(scopes)
    case 4: return isIn(scopes)
    case 5: return Bool.random(using: &generator) ? .constant(Bool.random(using: &generator)) : countComparison(scopes)
    case 6, 7: return .not(predicate(scopes, depth: depth - 1))
    case 8: return .and(terms(scopes, depth))
    case 9: return .or(terms(scopes, depth))
    default: return quantified(scopes, depth)
    }
  }

  private mutating func terms(_ scopes: [(variable: Int, entity: Int)], _ depth: Int) -> [QueryPredicate] {
    (0..<Int.random(in: 0...3, using: &generator)).map { _ in predicate(scopes, depth: depth - 1) }
  }

  private mutating func quantified(_ scopes: [(variable: Int, entity: Int)], _ depth: Int) -> QueryPredicate {
    guard let (path, relationship) = path(scopes, toMany: true), let relationship else { return comparison(scopes) }
    let variable = scopes.count
    let inner = predicate(scopes + [(variable, relationship.destination)], depth: depth - 1)
    let quantifier: Quantifier = [.any, .all, .none].randomElement(using: &generator) ?? .any
    return .quantified(quantifier, path, variable: variable, inner)
  }

  private mutating func countComparison(_ scopes: [(variable: Int, entity: Int)]) -> QueryPredicate {
    guard let (path, _) = path(scopes, toMany: true) else { return .constant(true) }
    return .comparison(
      Comparison(
        .count(path), [.equal, .less, .greaterOrEqual, .notEqual].randomElement(using: &generator) ?? .equal,
        .value(.integer(Int64.random(in: 0...2, using: &generator))), kind: .integer))
  }

  private mutating func isIn(_ scopes: [(variable: Int, entity: Int)]) -> QueryPredicate {
    guard let operand = operand(scopes) else { return .constant(false) }
    var values = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
      value(operand.storage, isDecimal: operand.kind == .decimal)
    }
    if Int.random(in: 0..<3, using: &generator) == 0 { values.append(.null) }
    return .isIn(.path(operand.path), values, operand.kind)
  }

  private mutating func comparison(_ scopes: [(variable: Int, entity: Int)]) -> QueryPredicate {
    guard let left = operand(scopes) else { return .constant(true) }
    var relations: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
    if left.kind == .text { relations += [.contains, .hasPrefix, .hasSuffix] }
    let relation = relations.randomElement(using: &generator) ?? .equal
    var right = Operand.value(value(left.storage, isDecimal: left.kind == .decimal))
    if Int.random(in: 0..<6, using: &generator) == 0 { right = .value(.null) }
    if Int.random(in: 0..<5, using: &generator) == 0, let other = operand(scopes), other.kind == left.kind {
      right = .path(other.path)
    }
    var options: TextOptions = []
    if left.kind == .text && Bool.random(using: &generator) {
      options = TextOptions(rawValue: UInt8.random(in: 0...7, using: &generator))
    }
    return .comparison(Comparison(.path(left.path), relation, right, kind: left.kind, options: options))
  }

  // MARK: Paths

  typealias FoundOperand = (path: PropertyPath, kind: ValueKind, storage: StorageClass)

  private mutating func operand(_ scopes: [(variable: Int, entity: Int)]) -> FoundOperand? {
    guard let (path, relationship) = path(scopes, toMany: false) else { return nil }
    if relationship != nil || path.count == 0 { return (path, .integer, .integer) }
    guard let attribute = lastAttribute else { return nil }
    let kind: ValueKind =
      attribute.type == .decimal
      ? .decimal
      : [.integer: .integer, .real: .real, .text: .text, .blob: .blob][attribute.storageClass] ?? .text
    return (path, kind, attribute.storageClass)
  }

  private var lastAttribute: Attribute?

  /// A path to a to-many, or to an attribute or a to-one.
  private mutating func path(
    _ scopes: [(variable: Int, entity: Int)], toMany: Bool
  ) -> (PropertyPath, Relationship?)? {
    guard let scope = scopes.randomElement(using: &generator) else { return nil }
    var path = PropertyPath(variable: scope.variable)
    var entity = model.entities[scope.entity]
    for _ in 0..<3 {
      if !toMany && Int.random(in: 0..<15, using: &generator) == 0 && path.count == 0 { return (path, nil) }
      guard let property = entity.properties.randomElement(using: &generator) else { return nil }
      if let attribute = property.attribute {
        if toMany { continue }
        lastAttribute = attribute
        return (path.appending(property.index), nil)
      }
      guard let relationship = property.relationship else { continue }
      if relationship.isToMany != toMany && relationship.isToMany { continue }
      if relationship.isToMany { return (path.appending(property.index), relationship) }
      if !toMany && Int.random(in: 0..<3, using: &generator) == 0 {
        return (path.appending(property.index), relationship)
      }
      path = path.appending(property.index)
      entity = model.entities[relationship.destination]
    }
    return nil
  }

  mutating func sort(_ entity: Int) -> [SortKey] {
    var keys: [SortKey] = []
    for _ in 0..<Int.random(in: 0...2, using: &generator) {
      guard let operand = operand([(0, entity)]) else { continue }
      let options: TextOptions = operand.kind == .text && Bool.random(using: &generator) ? .caseInsensitive : []
      keys.append(
        SortKey(
          operand.path, descending: Bool.random(using: &generator), kind: operand.kind, options: options))
    }
    return keys
  }
}

extension String {
  /// The syllables taken apart.
  fileprivate var decomposed: String {
    String(
      decoding: unicodeScalars.flatMap { scalar -> [UInt8] in
        let place = Int(scalar.value) - 0xAC00
        guard place >= 0, place < 11_172 else { return Array(String(scalar).utf8) }
        let parts = [0x1100 + place / 588, 0x1161 + place % 588 / 28, 0x11A7 + place % 28]
        return parts.filter { $0 != 0x11A7 }.compactMap { Unicode.Scalar($0) }.flatMap { Array(String($0).utf8) }
      }, as: UTF8.self)
  }
}
