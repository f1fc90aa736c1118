import TrellisQuery

/// The conditions of a request while it is being built. Appending a link to a chain of `and` or `or` takes constant
/// time, however long the chain is. The chain becomes one flat list when the predicate is read.
///
/// Conditions that exceed the depth limit of all stores are not nested further: the request is refused anyway, and
/// recursion over a deeper tree, or its release, would overflow the stack.
struct ConditionTree: Sendable {
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
