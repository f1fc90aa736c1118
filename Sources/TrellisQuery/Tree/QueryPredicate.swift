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

extension QueryPredicate {
  /// The operand equals one of the texts, both prepared as the options say.
  public static func isIn(
    _ operand: Operand, _ values: [StoredValue], _ kind: ValueKind, options: TextOptions
  ) -> QueryPredicate {
    .or(values.map { .comparison(Comparison(operand, .equal, .value($0), kind: kind, options: options)) })
  }
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

  /// How both texts are prepared. Where a pattern is matched without regard to case the matching does that, as folding a
  /// pattern would change what `\\D` and the like mean.
  public var folding: TextOptions {
    guard kind == .text, !options.isEmpty, relation != .matching else { return [] }
    return relation == .matches ? options.subtracting(.caseInsensitive).union(.normalized) : options
  }
}

public enum ComparisonOperator: Hashable, Sendable, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  /// For texts only.
  case contains, hasPrefix, hasSuffix
  /// The text as a whole looks like the other: `*` stands for any number of Unicode scalars, `?` for one, and a backslash
  /// takes the meaning from what follows it. For texts only.
  case like
  /// The text as a whole matches the other, a pattern as ``Pattern`` reads it. A pattern that is none matches nothing. For
  /// texts only.
  case matches
  /// The text has the words of the other, as ``SearchQuery`` finds them. For texts only; options make no difference.
  case matching
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
  /// Where it is given, what is sorted by is not the text but how well it matches this query; see
  /// ``SearchQuery/rank(of:)``. The kind is then ``ValueKind/real``.
  public var query: String?

  public init(_ path: PropertyPath, descending: Bool = false, kind: ValueKind, options: TextOptions = []) {
    self.path = path
    isDescending = descending
    self.kind = kind
    self.options = options
  }

  /// By how well the text at the path's end matches a query.
  public init(_ path: PropertyPath, descending: Bool = true, rankFor query: String) {
    self.init(path, descending: descending, kind: .real)
    self.query = query
  }
}
