public import TrellisModel
@_spi(Generated) public import TrellisStorage

/// A condition on objects, made of comparisons. It belongs to the entity of its properties.
public struct QueryCondition: Sendable {
  let tree: ConditionTree

  /// The condition as the predicate tree that stores evaluate. A chain of `&&` or `||` is one flat list in it.
  /// Conditions that are nested too deep for every store are cut off beyond that depth.
  ///
  /// - Complexity: linear in the number of terms.
  public var predicate: QueryPredicate { tree.predicate }

  /// Creates a condition from a predicate tree.
  public init(_ predicate: QueryPredicate) { tree = ConditionTree(predicate) }

  init(_ tree: ConditionTree) { self.tree = tree }

  /// Whether both conditions hold. The length of a chain is unlimited.
  public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition(left.tree.joined(.and, right.tree))
  }

  /// Whether at least one condition holds. The length of a chain is unlimited.
  public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition(left.tree.joined(.or, right.tree))
  }

  /// Whether the condition does not hold.
  public static prefix func ! (condition: QueryCondition) -> QueryCondition {
    QueryCondition(condition.tree.nested { .not($0) })
  }
}

/// Combines conditions: each statement is a term, and all terms must hold.
@resultBuilder public enum ConditionBuilder {
  /// Adds a condition.
  public static func buildExpression(_ condition: QueryCondition) -> QueryCondition { condition }

  /// Adds the condition that a Bool attribute is true.
  public static func buildExpression(_ attribute: AttributePath<Bool>) -> QueryCondition { attribute == true }

  /// Combines the statements of a block.
  public static func buildBlock(_ condition: QueryCondition) -> QueryCondition { condition }

  /// Combines the statements of a block.
  public static func buildBlock(_ conditions: QueryCondition...) -> QueryCondition {
    QueryCondition(.all(conditions.map(\.tree)))
  }

  /// Supports `if` without `else`.
  public static func buildOptional(_ condition: QueryCondition?) -> QueryCondition {
    condition ?? QueryCondition(.constant(true))
  }

  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first condition: QueryCondition) -> QueryCondition { condition }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second condition: QueryCondition) -> QueryCondition { condition }

  /// Supports `for`.
  public static func buildArray(_ conditions: [QueryCondition]) -> QueryCondition {
    QueryCondition(.all(conditions.map(\.tree)))
  }
}

// MARK: - Condition tree

/// The conditions of a request while it is being built. Appending a link to a chain of `and` or `or` takes constant
/// time, however long the chain is. The chain becomes one flat list when the predicate is read.
///
/// Conditions that exceed the depth limit of all stores are not nested further: the request is refused anyway, and
/// recursion over a deeper tree, or its release, would overflow the stack.
struct ConditionTree: Sendable, Equatable {
  static func == (left: ConditionTree, right: ConditionTree) -> Bool { left.parts == right.parts }

  fileprivate enum Content {
    case predicate(QueryPredicate)
    /// A format, which is parsed once the model is known.
    indirect case format(PredicateFormat)
    case chain(ConditionChain)
  }

  fileprivate let content: Content
  /// The nesting depth, a format counted as one level.
  let depth: Int
  /// Whether any format is among the conditions.
  let hasFormats: Bool

  init(_ predicate: QueryPredicate, depth: Int = 1) {
    content = .predicate(predicate)
    self.depth = depth
    hasFormats = false
  }

  init(_ format: PredicateFormat) {
    content = .format(format)
    depth = 1
    hasFormats = true
  }

  private init(_ chain: ConditionChain, depth: Int, hasFormats: Bool) {
    content = .chain(chain)
    self.depth = depth
    self.hasFormats = hasFormats
  }

  /// Whether the conditions exceed the depth limit of all stores.
  var isTooDeep: Bool { depth > QueryPredicate.depthLimit }

  /// The conjunction or disjunction of both conditions.
  func joined(_ kind: ConditionChain.Kind, _ other: ConditionTree) -> ConditionTree {
    if isTooDeep { return self }
    if other.isTooDeep { return other }
    return ConditionTree(
      ConditionChain(kind, self, other), depth: max(depth(inside: kind), other.depth(inside: kind)),
      hasFormats: hasFormats || other.hasFormats)
  }

  /// The predicate nested in another one, which `make` creates.
  func nested(_ make: (QueryPredicate) -> QueryPredicate) -> ConditionTree {
    isTooDeep ? self : ConditionTree(make(predicate), depth: depth + 1)
  }

  private func depth(inside kind: ConditionChain.Kind) -> Int {
    if case .chain(let chain) = content, chain.kind == kind { return depth }
    return depth + 1
  }

  // MARK: Reading

  /// The predicate of conditions without formats; a format counts as true.
  ///
  /// - Complexity: linear in the number of conditions.
  var predicate: QueryPredicate { read { (_) throws(Never) in .constant(true) } }

  /// The predicate, with its formats parsed.
  ///
  /// - Complexity: linear in the number of conditions, plus the cost of the formats.
  func predicate(of entity: Int, in runtime: RuntimeModel) throws -> QueryPredicate {
    try read { (format) throws(any Error) in try format.predicate(of: entity, in: runtime) }
  }

  private func read<Problem: Error>(
    _ format: (PredicateFormat) throws(Problem) -> QueryPredicate
  ) throws(Problem) -> QueryPredicate {
    switch content {
    case .predicate(let predicate): return predicate
    case .format(let text): return try format(text)
    case .chain(let chain): return try list(chain, format)
    }
  }

  /// The predicate as ``predicate`` has it, and the formats, in order.
  private var parts: (predicate: QueryPredicate, formats: [PredicateFormat]) {
    guard hasFormats else { return (predicate, []) }
    var formats: [PredicateFormat] = []
    let predicate = read { (format) throws(Never) in
      formats.append(format)
      return .constant(true)
    }
    return (predicate, formats)
  }

  /// The conditions as text; a format is printed as it is.
  func text(_ printed: (QueryPredicate) -> String) -> String {
    switch content {
    case .predicate(let predicate): return printed(predicate)
    case .format(let format): return format.text
    case .chain(let chain):
      guard hasFormats else { return printed(predicate) }
      var parts: [String] = []
      var open = Array(chain.links.reversed())
      while let next = open.popLast() {
        if case .chain(let inner) = next.content, inner.kind == chain.kind {
          open += inner.links.reversed()
        } else {
          parts.append("(\(next.text(printed)))")
        }
      }
      return parts.joined(separator: chain.kind == .and ? " AND " : " OR ")
    }
  }

  /// Recurses into nested conditions, but not along a chain.
  private func list<Problem: Error>(
    _ chain: ConditionChain, _ format: (PredicateFormat) throws(Problem) -> QueryPredicate
  ) throws(Problem) -> QueryPredicate {
    var terms: [QueryPredicate] = []
    var open = Array(chain.links.reversed())
    while let next = open.popLast() {
      if case .chain(let inner) = next.content, inner.kind == chain.kind {
        open += inner.links.reversed()
      } else {
        chain.kind.append(try next.read(format), to: &terms)
      }
    }
    return chain.kind.predicate(terms)
  }
}

/// A link of a chain: two conditions, each of which may be a chain itself.
///
/// Only its own `deinit` changes a link, and no other code can observe that. Therefore `@unchecked` is sound.
final class ConditionChain: @unchecked Sendable {
  enum Kind {
    case and, or

    func predicate(_ terms: [QueryPredicate]) -> QueryPredicate { self == .and ? .and(terms) : .or(terms) }

    /// Adds a term. The terms of a list of the same kind are added to this list.
    func append(_ term: QueryPredicate, to terms: inout [QueryPredicate]) {
      switch (self, term) {
      case (.and, .and(let inner)), (.or, .or(let inner)): terms += inner
      default: terms.append(term)
      }
    }
  }

  let kind: Kind
  fileprivate private(set) var links: [ConditionTree]

  init(_ kind: Kind, _ left: ConditionTree, _ right: ConditionTree) {
    self.kind = kind
    links = [left, right]
  }

  /// Releases the chain link by link, because a recursive release would overflow the stack.
  deinit {
    var open: [ConditionChain] = []
    func release(_ links: inout [ConditionTree]) {
      for case .chain(let chain) in links.lazy.map(\.content) { open.append(chain) }
      links = []
    }
    release(&links)
    while var chain = open.popLast() {
      if isKnownUniquelyReferenced(&chain) { release(&chain.links) }
    }
  }
}

extension ConditionTree {
  /// The conjunction of several conditions, as one flat list.
  static func all(_ conditions: [ConditionTree]) -> ConditionTree {
    if let tooDeep = conditions.first(where: \.isTooDeep) { return tooDeep }
    var terms: [QueryPredicate] = []
    terms.reserveCapacity(conditions.count)
    var depth = 0
    for condition in conditions {
      ConditionChain.Kind.and.append(condition.predicate, to: &terms)
      depth = max(depth, condition.depth(inside: .and))
    }
    return ConditionTree(.and(terms), depth: max(1, depth))
  }
}

// MARK: - Lists

/// Conjunctions and disjunctions of a number of conditions that is known only at run time.
extension QueryCondition {
  /// Whether at least one of the conditions holds; false for no conditions.
  ///
  /// ```swift
  /// let words = ["coffee", "tea"]
  /// let request = EmotionDiary.where { diary in
  ///   QueryCondition.any(of: words.map { diary.content.contains($0) })
  /// }
  /// ```
  public static func any(of conditions: some Sequence<QueryCondition>) -> QueryCondition {
    joined(conditions, .or) ?? QueryCondition(.constant(false))
  }

  /// Whether all of the conditions hold; true for no conditions.
  public static func all(of conditions: some Sequence<QueryCondition>) -> QueryCondition {
    joined(conditions, .and) ?? QueryCondition(.constant(true))
  }

  private static func joined(_ conditions: some Sequence<QueryCondition>, _ kind: ConditionChain.Kind)
    -> QueryCondition?
  {
    var tree: ConditionTree?
    for condition in conditions { tree = tree?.joined(kind, condition.tree) ?? condition.tree }
    return tree.map { QueryCondition($0) }
  }
}

// MARK: - Queried object

/// An object in memory, as predicates and sort keys read it.
struct QueriedObject: QueryObject {
  let object: ManagedObject
  let graph: ObjectGraph

  init(_ object: ManagedObject, _ graph: ObjectGraph) {
    self.object = object
    self.graph = graph
  }

  var queryKey: Int64 { object._key }
  var queryEntityName: String { graph.info(of: object).name }

  func queryValue(_ property: Int) throws -> StoredValue {
    object._willRead(property)
    guard let relationship = graph.relationship(property, of: object) else { return object._value(property) }
    // The value of a to-many relationship is the number of its members.
    if relationship.isToMany { return .integer(Int64(try queryMemberCount(property))) }
    // A dangling reference reads as nil, and only the object shows that it is dangling.
    if relationship.isLeftAlone { return try queryPartner(property).map { .integer($0.queryKey) } ?? .null }
    let key = try graph.partnerKey(of: object, relationship)
    return key > 0 && graph.map[key]?.phase != .deleted ? .integer(key) : .null
  }

  func queryPartner(_ property: Int) throws -> QueriedObject? {
    object._willRead(property)
    let partner = object._findPartner(property)
    try graph.throwPendingFailure()
    return partner.map { QueriedObject($0, graph) }
  }

  func queryMembers(_ property: Int) throws -> [QueriedObject] {
    object._willRead(property)
    guard let relationship = graph.relationship(property, of: object) else { return [] }
    return try graph.memberObjects(of: object, relationship).map { QueriedObject($0, graph) }
  }

  func queryMemberCount(_ property: Int) throws -> Int {
    object._willRead(property)
    guard let relationship = graph.relationship(property, of: object) else { return 0 }
    return try graph.loadedList(of: object, relationship).keys.count
  }
}

// MARK: - Predicate format

/// A predicate as text, in the format language of Core Data's `NSPredicate`, with bound values.
///
/// ```swift
/// let found = try context.fetch(EmotionDiary.where("content CONTAINS[cd] \(keyword) OR emotion == %@", "happy"))
/// ```
/// Interpolations and `%@` bind a value, which is compared and never parsed as part of the text. A format is therefore
/// a literal; use ``init(verbatim:_:)`` for text that is known only at run time. The fetch parses the format, checks it
/// against the model, and throws ``PredicateFormatError`` with the position, the expected token and the nearest name.
public struct PredicateFormat: Sendable, ExpressibleByStringInterpolation {
  /// The text, with `%@` in place of each interpolation.
  public let text: String
  private let interpolated: [(offset: Int, value: FormatArgument)]
  private var arguments: [FormatArgument] = []
  private var bindings: [String: FormatArgument] = [:]
  /// The classes of the objects among the values.
  private var classes: [ManagedObject.Type] = []

  /// Creates a format from text that is known only at run time. The text can query everything in the model. Never
  /// insert user input into it; bind the input with `%@` instead.
  public init(verbatim text: String, _ arguments: any PredicateArgument...) {
    self.text = text
    interpolated = []
    for argument in arguments { self.arguments.append(noted(argument)) }
  }

  /// Creates a format from a literal without interpolations.
  public init(stringLiteral text: String) {
    self.text = text
    interpolated = []
  }

  /// Creates a format from a literal with interpolations.
  public init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    interpolated = stringInterpolation.values
    classes = stringInterpolation.classes
  }

  /// Collects the text of a literal, and its values with their positions.
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var text = ""
    fileprivate var values: [(offset: Int, value: FormatArgument)] = []
    fileprivate var classes: [ManagedObject.Type] = []

    /// Creates an empty collection with capacity for a literal.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 2)
    }

    /// Appends text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Binds a value.
    public mutating func appendInterpolation(_ value: some PredicateArgument) {
      let argument = value.formatArgument
      append(argument, "%@")
      if let found = argument.objectClass(of: value) { classes.append(found) }
    }

    /// Binds the name of a property, or a path of names with dots, as `%K` does: `"\(key: "createdAt") > %@"`.
    public mutating func appendInterpolation(key path: String) { append(.value(.text(path), .text), "%K") }

    private mutating func append(_ value: FormatArgument, _ place: String) {
      values.append((text.utf8.count, value))
      text += place
    }
  }

  /// The format with values for its `$variables`. Previous values under the same names are replaced.
  ///
  /// ```swift
  /// let byEmotion: PredicateFormat = "emotion == $emotion"
  /// let happy = try context.fetch(EmotionDiary.where(byEmotion.binding(["emotion": Emotion.happy])))
  /// ```
  public func binding(_ values: [String: any PredicateArgument]) -> PredicateFormat {
    var bound = self
    for (name, value) in values { bound.bindings[name] = bound.noted(value) }
    return bound
  }

  func with(_ more: [any PredicateArgument]) -> PredicateFormat {
    var format = self
    for argument in more { format.arguments.append(format.noted(argument)) }
    return format
  }

  /// The format argument of a value. The class of an object is recorded.
  private mutating func noted(_ value: any PredicateArgument) -> FormatArgument {
    let argument = value.formatArgument
    if let found = argument.objectClass(of: value) { classes.append(found) }
    return argument
  }

  /// The predicate for an entity.
  ///
  /// - Throws: ``PredicateFormatError``; ``ContextError`` if an object among the values belongs to another model.
  func predicate(of entity: Int, in runtime: RuntimeModel) throws -> QueryPredicate {
    for type in classes { try runtime.checkUnlessGeneral(type) }
    return try runtime.formats.predicate(
      FormatCache.Request(text: text, interpolated: interpolated, given: arguments, bindings: bindings), of: entity,
      in: runtime.model)
  }
}

extension ManagedObject: PredicateArgument {
  /// The object's key as a format argument.
  @_spi(Generated) public var formatArgument: FormatArgument {
    .value(.integer(_key), .object(Self.numberForFormats(type(of: self))))
  }

  fileprivate static func numberForFormats(_ type: ManagedObject.Type) -> Int? {
    type._entity < 0 ? nil : type._entity
  }
}

extension ObjectID {
  /// The key as a format argument.
  @_spi(Generated) public var formatArgument: FormatArgument {
    .value(.integer(key), .object(ManagedObject.numberForFormats(Object.self)))
  }
}

extension AnyObjectID: PredicateArgument {
  /// The key as a format argument.
  @_spi(Generated) public var formatArgument: FormatArgument { .value(.integer(key), .object(nil)) }
}

extension PredicateFormat: Equatable {
  /// Whether two formats have the same text and the same values.
  public static func == (left: PredicateFormat, right: PredicateFormat) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8) && left.arguments == right.arguments
      && left.bindings == right.bindings
      && left.interpolated.elementsEqual(right.interpolated) { $0 == $1 }
      && left.classes.elementsEqual(right.classes) { $0 == $1 }
  }
}

extension PredicateFormat: CustomStringConvertible {
  /// The text, with `%@` in place of each interpolation.
  public var description: String { text }
}
