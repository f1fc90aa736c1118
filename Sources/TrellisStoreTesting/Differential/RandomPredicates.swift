import TrellisModel

/// Creates random predicates that fit the model.
struct RandomPredicates {
  let model: Model
  /// The keys that references are compared with.
  let keys: [Int64]
  var random: RandomNumbers
  /// The variables in scope with their entities. The object itself is first.
  private var scope: [(variable: Int, entity: Entity)] = []

  init(_ model: Model, keys: [Int64], _ random: RandomNumbers) {
    self.model = model
    self.keys = keys
    self.random = random
  }

  mutating func predicate(_ entity: Entity, depth: Int) -> QueryPredicate {
    scope = [(0, entity)]
    return node(depth)
  }

  private mutating func node(_ depth: Int) -> QueryPredicate {
    switch depth > 0 ? random.below(10) : 9 {
    case 0: return .not(node(depth - 1))
    case 1, 2: return .and(nodes(depth - 1))
    case 3, 4: return .or(nodes(depth - 1))
    case 5, 6: return quantified(depth - 1) ?? leaf()
    default: return leaf()
    }
  }

  private mutating func nodes(_ depth: Int) -> [QueryPredicate] {
    (0..<random.below(4)).map { _ in node(depth) }
  }

  private mutating func quantified(_ depth: Int) -> QueryPredicate? {
    guard let (path, relationship) = toMany() else { return nil }
    let variable = scope.count
    scope.append((variable, model.entities[relationship.destination]))
    defer { scope.removeLast() }
    return .quantified(random.pick([.any, .all, .none]), path, variable: variable, node(depth))
  }

  private mutating func leaf() -> QueryPredicate {
    if random.isOne(in: 12) { return .constant(random.isOne(in: 2)) }
    if random.isOne(in: 6), let (path, _) = toMany() {
      return .comparison(
        Comparison(.count(path), relation(.integer), .value(.integer(Int64(random.below(4)))), kind: .integer))
    }
    if random.isOne(in: 3) { return computedLeaf() }
    if random.isOne(in: 12) { return entityLeaf() }
    let (path, kind, isKey, isExternal) = end()
    if random.isOne(in: 5) {
      return .isIn(.path(path), (0..<random.below(4)).map { _ in value(kind, isKey) }, kind)
    }
    let relation = isExternal ? random.pick([.equal, .notEqual]) : relation(kind)
    return comparison(.path(path), .value(value(kind, isKey)), kind, relation)
  }

  /// A condition on the entity of an object. The entity may be a sibling, or unknown.
  private mutating func entityLeaf() -> QueryPredicate {
    let (path, _) = walk()
    let names = model.entities.map { StoredValue.text($0.name) }
    if random.isOne(in: 3) { return .isIn(.entity(path), [random.pick(names), random.pick(names)], .text) }
    let right = Operand.value(random.isOne(in: 8) ? .null : random.pick(names))
    return .comparison(Comparison(.entity(path), random.pick([.equal, .notEqual]), right, kind: .text))
  }

  // MARK: Computed values

  private mutating func computedLeaf() -> QueryPredicate {
    let (left, kind) = computed(2)
    let right = random.isOne(in: 4) ? computed(1, kind) : .value(value(kind, false))
    return comparison(left, right, kind, relation(kind))
  }

  private mutating func comparison(
    _ left: Operand, _ right: Operand, _ kind: ValueKind, _ relation: ComparisonOperator
  ) -> QueryPredicate {
    // A search has no text options.
    let options = relation == .matching ? [] : RandomValues.options(kind, &random)
    return .comparison(Comparison(left, relation, right, kind: kind, options: options))
  }

  private mutating func computed(_ depth: Int) -> (Operand, ValueKind) {
    let kind = random.pick([ValueKind.integer, .real, .decimal, .text])
    return (computed(depth, kind), kind)
  }

  /// An operand of a kind.
  private mutating func computed(_ depth: Int, _ kind: ValueKind) -> Operand {
    guard depth > 0 else { return simple(kind) }
    if kind == .integer, random.isOne(in: 6), let date = dateFunction() { return date }
    switch (random.below(12), kind) {
    case (0, .text): return .computed(.function(random.pick([.lowercase, .uppercase]), computed(depth - 1, .text)))
    case (0, .integer):
      return .computed(.function(.length, computed(depth - 1, .text)))
    case (1, .decimal), (1, .real):
      let source = random.pick([ValueKind.integer, .real, .decimal])
      return .computed(.function(kind == .real ? .real : .decimal, computed(depth - 1, source)))
    case (1, .text): return .computed(.function(.text, computed(depth - 1, random.pick([.integer, .real, .decimal]))))
    case (2, _): return aggregate(depth, kind) ?? simple(kind)
    case (3, .integer):
      guard let (path, relationship) = toMany() else { return simple(kind) }
      return inside(relationship) { random, variable in
        .computed(.countWhere(path, variable: variable, random.node(depth - 1)))
      }
    case (4, .integer):
      guard let (path, _) = toMany() else { return simple(kind) }
      return .count(path)
    case (5, _): return member(kind) ?? simple(kind)
    case (6, _): return .computed(.conditional(node(depth - 1), computed(depth - 1, kind), computed(depth - 1, kind)))
    case (7, .real):
      let functions: [ValueFunction] = [.squareRoot, .naturalLogarithm, .logarithm, .exponential]
      return .computed(
        .function(random.pick(functions), computed(depth - 1, random.pick([.integer, .real, .decimal]))))
    case (7, .integer):
      if random.isOne(in: 4) { return .computed(.function(.complement, computed(depth - 1, .integer))) }
      let signs: [ArithmeticOperator] = [.bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight]
      return .computed(.arithmetic(random.pick(signs), computed(depth - 1, kind), computed(depth - 1, kind)))
    case (8, _): return list(depth, kind)
    case (_, .text), (_, .blob): return simple(kind)
    case (9, _):
      let functions: [ValueFunction] = [.absolute, .negative, .ceiling, .floor, .truncated, .rounded]
      return .computed(.function(random.pick(functions), computed(depth - 1, kind)))
    default:
      let signs: [ArithmeticOperator] = [.add, .subtract, .multiply, .divide, .power, .remainder]
      return arithmetic(random.pick(signs), computed(depth - 1, kind), computed(depth - 1, kind))
    }
  }

  /// Arithmetic of two operands. What is added to a date or subtracted from it are seconds.
  private func arithmetic(_ sign: ArithmeticOperator, _ left: Operand, _ right: Operand) -> Operand {
    let hasSeconds = (sign == .add || sign == .subtract) && isDate(left) && !isDate(right)
    return .computed(.arithmetic(sign, left, hasSeconds ? .computed(.function(.microseconds, right)) : right))
  }

  private func isDate(_ operand: Operand) -> Bool {
    switch operand {
    case .path(let path): attribute(path)?.type == .date
    case .computed(.arithmetic(_, _, .computed(.function(.microseconds, _)))): true
    default: false
    }
  }

  private func attribute(_ path: PropertyPath) -> Attribute? {
    guard var entity = scope.first(where: { $0.variable == path.variable })?.entity else { return nil }
    var attribute: Attribute?
    for step in path.steps {
      let property = entity.properties[step]
      attribute = property.attribute
      if let relationship = property.relationship { entity = model.entities[relationship.destination] }
    }
    return attribute
  }

  /// The period or a part of a date attribute.
  private mutating func dateFunction() -> Operand? {
    let (path, entity) = walk()
    let dates = entity.properties.compactMap(\.attribute).filter { $0.type == .date && $0.column != nil }
    guard !dates.isEmpty else { return nil }
    let date = Operand.path(path.appending(random.pick(dates).index))
    let result: DateFunction.Result =
      random.isOne(in: 2) ? .start(random.pick(PeriodUnit.allCases)) : .part(random.pick(DatePart.allCases))
    return .computed(.date(DateFunction(result, in: RandomValues.calendar(&random)), date))
  }

  /// An aggregate of a list of operands.
  private mutating func list(_ depth: Int, _ kind: ValueKind) -> Operand {
    let functions: [AggregateFunction] = kind == .text ? [.minimum, .maximum] : AggregateFunction.allCases
    let function = random.pick(functions)
    if function == .average && kind == .integer { return simple(kind) }
    let values = (0...random.below(3)).map { _ in computed(depth - 1, kind) }
    return .computed(.list(function, values, kind))
  }

  /// A value of one member of an ordered to-many.
  private mutating func member(_ kind: ValueKind) -> Operand? {
    let (path, entity) = walk()
    let ends = entity.properties.compactMap(\.relationship).filter { $0.isToMany && $0.isOrdered }
    guard !ends.isEmpty else { return nil }
    let relationship = random.pick(ends)
    let place = random.pick([MemberPlace.first, .last, .at(0), .at(1), .at(2)])
    let destination = model.entities[relationship.destination]
    let fitting = destination.properties.compactMap(\.attribute).filter { $0.valueKind == kind && $0.column != nil }
    guard !fitting.isEmpty else { return nil }
    return inside(relationship) { random, variable in
      let end = PropertyPath(variable: variable).appending(random.random.pick(fitting).index)
      return .computed(.member(place, path.appending(relationship.index), variable: variable, .path(end)))
    }
  }

  private mutating func aggregate(_ depth: Int, _ kind: ValueKind) -> Operand? {
    guard let (path, relationship) = toMany() else { return nil }
    let functions: [AggregateFunction] = kind == .text ? [.minimum, .maximum] : AggregateFunction.allCases
    let function = random.pick(functions)
    // The average of integers is a real.
    let source = function == .average && kind == .integer ? ValueKind.real : kind
    let aggregate: Operand = inside(relationship) { random, variable in
      .computed(.aggregate(function, path, variable: variable, random.computed(depth - 1, source), source))
    }
    return source == kind ? aggregate : .computed(.function(.length, simple(.text)))
  }

  private mutating func inside(
    _ relationship: Relationship, _ body: (inout RandomPredicates, Int) -> Operand
  ) -> Operand {
    let variable = scope.count
    scope.append((variable, model.entities[relationship.destination]))
    defer { scope.removeLast() }
    return body(&self, variable)
  }

  /// An attribute of the kind if there is one, or a value.
  private mutating func simple(_ kind: ValueKind) -> Operand {
    let (path, entity) = walk()
    let fitting = entity.properties.compactMap(\.attribute).filter {
      $0.valueKind == kind && $0.column != nil
    }
    return fitting.isEmpty || random.isOne(in: 4)
      ? .value(value(kind, false)) : .path(path.appending(random.pick(fitting).index))
  }

  private mutating func value(_ kind: ValueKind, _ isKey: Bool) -> StoredValue {
    if random.isOne(in: 5) { return .null }
    return isKey ? .integer(random.pick(keys)) : RandomValues.value(kind, random: &random)
  }

  private mutating func relation(_ kind: ValueKind) -> ComparisonOperator {
    random.pick(kind == .text ? ComparisonOperator.allCases : Array(ComparisonOperator.allCases.prefix(6)))
  }

  // MARK: Paths

  /// A path to an attribute, a to-one or the object itself.
  private mutating func end() -> (PropertyPath, ValueKind, isKey: Bool, isExternal: Bool) {
    let (path, entity) = walk()
    if random.isOne(in: 8) { return (path, .integer, true, false) }
    let ends = entity.properties.filter { $0.relationship?.isToMany != true }
    guard !ends.isEmpty else { return (path, .integer, true, false) }
    let property = random.pick(ends)
    let kind = property.attribute?.valueKind ?? .integer
    let isExternal = property.attribute?.description.isExternal == true
    return (path.appending(property.index), kind, property.attribute == nil, isExternal)
  }

  private mutating func toMany() -> (PropertyPath, Relationship)? {
    let (path, entity) = walk()
    let ends = entity.properties.compactMap(\.relationship).filter(\.isToMany)
    guard !ends.isEmpty else { return nil }
    let relationship = random.pick(ends)
    return (path.appending(relationship.index), relationship)
  }

  /// A path from an object in scope through a few to-ones.
  private mutating func walk() -> (PropertyPath, Entity) {
    let start = random.pick(scope)
    var path = PropertyPath(variable: start.variable)
    var entity = start.entity
    while random.isOne(in: 3) {
      let steps = entity.properties.compactMap(\.relationship).filter { !$0.isToMany }
      guard !steps.isEmpty else { break }
      let step = random.pick(steps)
      path = path.appending(step.index)
      entity = model.entities[step.destination]
    }
    return (path, entity)
  }

  /// Up to three sort keys: values of the object itself, and computed ones.
  mutating func sort(_ entity: Entity) -> [SortKey] {
    scope = [(0, entity)]
    return (0..<random.below(4)).compactMap { _ in
      if random.isOne(in: 4) {
        let (value, kind) = computed(2)
        let options = RandomValues.options(kind, &random)
        return SortKey(value, descending: random.isOne(in: 2), kind: kind, options: options)
      }
      let (path, kind, _, isExternal) = end()
      // External data has no order.
      if isExternal { return nil }
      if kind == .text && random.isOne(in: 4), case .text(let query) = RandomValues.value(.text, random: &random) {
        return SortKey(path, descending: random.isOne(in: 2), rankFor: query)
      }
      let language = kind == .text && random.isOne(in: 3) ? random.pick(["ko", "de", "sv", "tr", "cs"]) : nil
      return SortKey(
        path, descending: random.isOne(in: 2), kind: kind, options: RandomValues.options(kind, &random),
        language: language)
    }
  }
}
