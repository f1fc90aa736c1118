import TrellisModel
import TrellisModelFile
import TrellisTestSupport

/// A stored model, and a current one that was made from it by known changes.
struct RandomModelPair {
  let stored: PlainModel
  var current: PlainModel
  let edits: [String]
  private let isChain: Bool
  var random: SeededGenerator
  /// The properties of the unique keys that no row may violate.
  private var safeKeys: [Int] = []

  /// Nil if the changes do not make a valid model, or if a name of the current model stands for something else than what
  /// was meant.
  init?(seed: UInt64) {
    var maker = RandomModel(seed: seed)
    maker.make()
    guard Self.isValid(maker.model) else { return nil }
    var edits = ModelEdits(maker.model, maker)
    edits.edit(1 + maker.random.below(8), isChain: false)
    self.init(edits)
  }

  init?(_ edits: ModelEdits) {
    stored = edits.stored
    self.edits = edits.log
    isChain = edits.isChain
    random = edits.maker.random
    current = edits.maker.model
    addAnswers()
    dropUnsafeKeys()
    safeKeys = current.entities.flatMap(\.uniqueKeys).flatMap(\.self)
    guard Self.isValid(current), Self.isMeant(stored, current) else { return nil }
  }

  /// Two given models, with the answers that they have.
  init(_ stored: PlainModel, _ current: PlainModel, seed: UInt64) {
    (self.stored, self.current, edits, isChain) = (stored, current, [], false)
    random = SeededGenerator(seed: seed)
    safeKeys = current.entities.flatMap(\.uniqueKeys).flatMap(\.self)
  }

  static func isValid(_ model: PlainModel) -> Bool {
    let description = model.description
    return ModelFile.parse(Array(description.canonicalJSON().utf8), path: "Random").description == description
  }

  /// What the check says of a model.
  static func messages(_ model: PlainModel) -> String {
    ModelFile.parse(Array(model.description.canonicalJSON().utf8), path: "Random").rendered()
  }

  // MARK: Meaning

  /// Whether no new property has a name, or a former name, that the stored entity uses for something that is gone.
  static func isMeant(_ stored: PlainModel, _ current: PlainModel) -> Bool {
    for entity in stored.entities where current.contains(entity.id) {
      let (before, after) = (stored.properties(entity.id), current.properties(entity.id))
      let continued = Set(after.flatMap(\.origins))
      for property in after where !property.isTransient {
        let same = before.filter { !$0.isTransient && ($0.link == nil) == (property.link == nil) }
        if let origin = same.first(where: { property.origins.contains($0.id) }) {
          // A former name that was another sibling's may be one that this entity uses for something else.
          let settled = same.first { $0.name == property.name }?.formerNames ?? []
          let former = property.formerNames.first { name in
            !settled.contains(name) && same.contains { $0.name == name }
          }
          if let former, former != origin.name { return false }
          continue
        }
        let names = Set([property.name] + property.formerNames)
        let isCaptured = same.contains { !continued.contains($0.id) && names.contains($0.name) }
        if isCaptured { return false }
      }
    }
    return true
  }

  // MARK: Answers

  /// Writes what the migration may lose, and what it has to fill.
  private mutating func addAnswers() {
    addConsents(toLossesOf: stored, seen: current)
    for entity in current.entities { for property in entity.properties { addAnswers(property, entity.id) } }
  }

  /// Consents to the loss of what a model had.
  ///
  /// - Parameter seen: the current model with the origins of its properties in that model.
  mutating func addConsents(toLossesOf model: PlainModel, seen: PlainModel) {
    for entity in model.entities {
      guard current.contains(entity.id), !current[entity.id].isAbstract || entity.isAbstract else {
        consent([entity.name] + entity.formerNames)
        continue
      }
      let continued = Set(seen.properties(entity.id).flatMap(\.origins))
      for property in model.properties(entity.id) where !continued.contains(property.id) && !property.isTransient {
        consent([property.name] + property.formerNames, in: entity.id, of: model, seen: seen)
      }
    }
  }

  private mutating func consent(_ names: [String]) {
    for name in names where !current.removed.contains(name) {
      if current.entities.contains(where: { $0.name == name && $0.formerNames.isEmpty && !$0.isAbstract }) { continue }
      current.removed.append(name)
    }
  }

  private mutating func consent(
    _ names: [String], in entity: Int, of model: PlainModel, seen: PlainModel
  ) {
    for name in names where !current.lineage(entity).contains(where: { current[$0].removed.contains(name) }) {
      let known = Set(model.properties(entity).map(\.id))
      if let new = seen.properties(entity).first(where: { $0.name == name && known.isDisjoint(with: $0.origins) }) {
        // What has the name now says so.
        current.change(new.id) { $0.isLossy = true }
      }
      if current[entity].properties.contains(where: { $0.name == name && $0.formerNames.isEmpty && !$0.isTransient }) {
        continue
      }
      current[entity].removed.append(name)
    }
  }

  private mutating func addAnswers(_ property: PlainProperty, _ entity: Int) {
    let origins = property.origins.compactMap(stored.property)
    if property.isTransient { return }
    guard let attribute = property.attribute else {
      // More may be lost than the shapes tell: partners that are of another entity now.
      current.change(property.id) { $0.isLossy = !origins.isEmpty }
      return
    }
    if origins.contains(where: { $0.attribute?.type != attribute.type }) || isOtherEnum(attribute.type) {
      current.change(property.id) { $0.isLossy = true }
    }
    if addExpression(property.id, attribute, entity), random.below(2) == 0 { return }
    if attribute.isOptional || property.filling != nil { return }
    guard let constant = PlainValues.constant(attribute.type, current.enums, &random) else {
      if attribute.type == .codable(PlainModel.codableType) || attribute.type == .array(.int64) {
        current.change(property.id) { $0.attribute?.isOptional = true }
      }
      return
    }
    let isBackfill = random.below(2) == 0
    current.change(property.id) {
      if PlainValues.breaks(constant, attribute.rules) { $0.attribute?.rules = AttributeRules() }
      // The text of a constant of type `string` would be an expression.
      if isBackfill && attribute.type != .string && $0.expression == nil {
        $0.attribute?.backfill = .value(constant)
      } else {
        $0.attribute?.defaultValue = constant
      }
    }
  }

  /// Now and then computes the values that are missing from another stored attribute.
  private mutating func addExpression(_ id: Int, _ attribute: AttributeDescription, _ entity: Int) -> Bool {
    guard !isChain, random.below(6) == 0, stored.contains(entity) else { return false }
    let sources = stored.properties(entity).filter { source in
      guard let type = source.attribute?.type, !source.isTransient else { return false }
      return PlainValues.isComputed(type, attribute.type)
    }
    guard let source = sources.randomElement(using: &random) else { return false }
    current.change(id) { $0.attribute?.backfill = .expression(source.name) }
    return true
  }

  private func isOtherEnum(_ type: AttributeType) -> Bool {
    guard case .enumeration(let name) = type else { return false }
    return stored.enums.first { $0.name == name } != current.enums.first { $0.name == name }
  }

  /// Takes a part of the answers away, and now and then makes values unique that may not be.
  mutating func dropAnswers() {
    if random.below(5) == 0, let entity = current.entities.randomElement(using: &random) {
      let fit = current.properties(entity.id).filter { property in
        !property.isTransient && (property.attribute.map { PlainValues.hasUniqueValues($0.type) } ?? false)
      }
      if let property = fit.randomElement(using: &random), !entity.uniqueKeys.contains([property.id]) {
        current[entity.id].uniqueKeys.append([property.id])
      }
    }
    func isDropped() -> Bool { random.below(100) < 35 }
    current.removed.removeAll { _ in isDropped() }
    for entity in current.entities {
      current[entity.id].removed.removeAll { _ in isDropped() }
      for property in entity.properties {
        if isDropped() { current.change(property.id) { $0.isLossy = false } }
        if isDropped() { current.change(property.id) { $0.attribute?.backfill = nil } }
        if isDropped() { current.change(property.id) { $0.attribute?.defaultValue = nil } }
      }
    }
  }

  /// Unique keys stay only over values that are unique before and after.
  private mutating func dropUnsafeKeys() {
    for entity in current.entities {
      let members = current.subtree(entity.id)
      current[entity.id].uniqueKeys = entity.uniqueKeys.filter { key in key.allSatisfy { isUnique($0, members) } }
    }
  }

  private func isUnique(_ id: Int, _ members: [Int]) -> Bool {
    guard let property = current.property(id), let attribute = property.attribute, !property.isTransient else {
      return false
    }
    let origins = property.origins.compactMap(stored.property)
    guard origins.allSatisfy({ $0.attribute?.type == attribute.type }) else { return false }
    guard attribute.isOptional || origins.allSatisfy({ $0.attribute?.isOptional == false }) else { return false }
    // Rows that get the value only now all get the same one.
    return property.filling == nil && property.expression == nil && attribute.isOptional
      || members.allSatisfy { member in
        guard stored.contains(member) else { return true }
        return stored.properties(member).contains { property.origins.contains($0.id) }
      }
  }

  // MARK: Values

  /// The stored properties whose values have to be unique, in either model.
  var uniqueProperties: Set<Int> {
    var unique = Set(stored.entities.flatMap(\.uniqueKeys).flatMap(\.self))
    for id in safeKeys { unique.formUnion(current.property(id)?.origins ?? []) }
    return unique
  }

  /// The types that stored attributes get.
  var targets: [Int: AttributeType] {
    var targets: [Int: AttributeType] = [:]
    for property in current.entities.flatMap(\.properties) {
      for origin in property.origins { targets[origin] = property.attribute?.type }
    }
    return targets
  }
}
