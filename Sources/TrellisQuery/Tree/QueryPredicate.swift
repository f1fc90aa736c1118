public import TrellisSchema

/// A condition on objects: the one tree that every way of writing a query ends in, and that is both evaluated in memory
/// and translated for stores, with the same result.
///
/// Logic has two values. A comparison with nil is false, but `==` holds between two nils and `!=` between nil and a value;
/// so `not` of a false comparison is true, nils included.
public indirect enum QueryPredicate: Hashable, Sendable {
  case constant(Bool)
  case not(QueryPredicate)
  /// All of them hold; true when there are none.
  case and([QueryPredicate])
  /// One of them holds; false when there are none.
  case or([QueryPredicate])
  case comparison(Comparison)
  /// The operand equals one of the values; a null among the values matches nil.
  case isIn(Operand, [StoredValue], ValueKind)
  /// The condition holds for some, all or none of the members of the to-many at the path's end. Inside the condition the
  /// member is the given variable. An empty to-many satisfies `all` and `none`.
  case quantified(Quantifier, PropertyPath, variable: Int, QueryPredicate)
}

public enum Quantifier: Hashable, Sendable {
  case any, all, none
}

/// Two operands and how they are compared.
public struct Comparison: Hashable, Sendable {
  public var left: Operand
  public var relation: ComparisonOperator
  public var right: Operand
  public var kind: ValueKind
  public var options: TextOptions

  public init(
    _ left: Operand, _ relation: ComparisonOperator, _ right: Operand, kind: ValueKind, options: TextOptions = []
  ) {
    self.left = left
    self.relation = relation
    self.right = right
    self.kind = kind
    self.options = options
  }
}

public enum ComparisonOperator: Hashable, Sendable, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  /// For texts only.
  case contains, hasPrefix, hasSuffix
}

/// One side of a comparison.
public enum Operand: Hashable, Sendable {
  case value(StoredValue)
  /// The attribute at the path's end; a to-one there stands for its object's key, and a path without steps for the
  /// object's own key. A path that meets a nil to-one on the way is nil.
  case path(PropertyPath)
  /// How many members the to-many at the path's end has; 0 where the path meets a nil to-one.
  case count(PropertyPath)
}

/// In which order, and by which equality, values are compared.
public enum ValueKind: Hashable, Sendable {
  /// Int64, which includes booleans, dates and the keys of objects.
  case integer
  /// IEEE order.
  case real
  /// By UTF-8 bytes, unless ``TextOptions`` say otherwise.
  case text
  /// Canonical decimal text, compared as numbers.
  case decimal
  /// By bytes; a shorter one comes first.
  case blob
}

/// How texts are prepared before they are compared, on both sides alike.
public struct TextOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Upper and lower case are the same.
  public static let caseInsensitive = TextOptions(rawValue: 1)
  /// Letters with and without diacritics are the same.
  public static let diacriticInsensitive = TextOptions(rawValue: 2)
  /// Composed and decomposed spellings are the same. The other two include it.
  public static let normalized = TextOptions(rawValue: 4)
}

/// One key of a sort; nil comes first when ascending.
public struct SortKey: Hashable, Sendable {
  public var path: PropertyPath
  public var isDescending: Bool
  public var kind: ValueKind
  public var options: TextOptions

  public init(_ path: PropertyPath, descending: Bool = false, kind: ValueKind, options: TextOptions = []) {
    self.path = path
    isDescending = descending
    self.kind = kind
    self.options = options
  }
}
