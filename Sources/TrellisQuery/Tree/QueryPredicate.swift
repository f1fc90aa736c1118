public import TrellisSchema

/// A condition on objects: the tree that all query notations produce. It is evaluated in memory and translated for
/// stores, with the same result.
///
/// Logic is two-valued. A comparison with nil is false, except that nil equals nil and differs from any value. The
/// `not` of a false comparison is therefore true, also with nil.
public indirect enum QueryPredicate: Hashable, Sendable {
  case constant(Bool)
  case not(QueryPredicate)
  /// All terms hold; true without terms.
  case and([QueryPredicate])
  /// At least one term holds; false without terms.
  case or([QueryPredicate])
  case comparison(Comparison)
  /// The operand equals one of the values. A null among the values matches nil.
  case isIn(Operand, [StoredValue], ValueKind)
  /// The condition holds for any, all or none of the members of the to-many at the end of the path. In the condition,
  /// the variable stands for the member. An empty to-many satisfies `all` and `none`.
  case quantified(Quantifier, PropertyPath, variable: Int, QueryPredicate)
}

extension QueryPredicate {
  /// The operand equals one of the texts, all folded by the options.
  public static func isIn(
    _ operand: Operand, _ values: [StoredValue], _ kind: ValueKind, options: TextOptions
  ) -> QueryPredicate {
    .or(values.map { .comparison(Comparison(operand, .equal, .value($0), kind: kind, options: options)) })
  }
}

public enum Quantifier: Hashable, Sendable {
  case any, all, none
}

/// A comparison of two operands.
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

  /// The folding of both texts. A case-insensitive pattern match leaves case to the matcher, because folding a pattern
  /// would change the meaning of `\\D` and similar classes.
  public var folding: TextOptions {
    guard kind == .text, !options.isEmpty, relation != .matching else { return [] }
    return relation == .matches ? options.subtracting(.caseInsensitive).union(.normalized) : options
  }
}

public enum ComparisonOperator: Hashable, Sendable, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  /// For texts only.
  case contains, hasPrefix, hasSuffix
  /// The whole text matches a mask: `*` stands for any number of Unicode scalars, `?` for one, and a backslash escapes
  /// the next character. For texts only.
  case like
  /// The whole text matches a ``Pattern``. An invalid pattern matches nothing. For texts only.
  case matches
  /// The text contains the words of a ``SearchQuery``. For texts only; options have no effect.
  case matching
}

/// The order and equality of values in a comparison.
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

/// The folding of both texts before a comparison.
public struct TextOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Ignores case.
  public static let caseInsensitive = TextOptions(rawValue: 1)
  /// Ignores diacritics.
  public static let diacriticInsensitive = TextOptions(rawValue: 2)
  /// Ignores the difference between composed and decomposed spellings. The other two options include it.
  public static let normalized = TextOptions(rawValue: 4)
}

/// One key of a sort. nil sorts first in ascending order.
public struct SortKey: Hashable, Sendable {
  public var path: PropertyPath
  public var isDescending: Bool
  public var kind: ValueKind
  public var options: TextOptions
  /// A search query. If present, objects sort by the relevance of the text, see ``SearchQuery/rank(of:)``, and the kind
  /// is ``ValueKind/real``.
  public var query: String?

  public init(_ path: PropertyPath, descending: Bool = false, kind: ValueKind, options: TextOptions = []) {
    self.path = path
    isDescending = descending
    self.kind = kind
    self.options = options
  }

  /// Creates a key that sorts by the relevance of the text at the end of the path.
  public init(_ path: PropertyPath, descending: Bool = true, rankFor query: String) {
    self.init(path, descending: descending, kind: .real)
    self.query = query
  }
}
