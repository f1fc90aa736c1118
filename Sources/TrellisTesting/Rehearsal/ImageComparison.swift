import TrellisModel
import TrellisStorage

/// What became of each object, value and link of a store, read from both stores, without the plan of the migration.
///
/// Objects are the same by their keys, properties by the names that the newer model gives them.
struct ImageComparison {
  struct Difference {
    let finding: RehearsalFinding
    /// Whether the model, or the author of a step, consents.
    let isAnnounced: Bool
    var count = 0
    var examples: [String] = []
  }

  /// What is expected of the newer program.
  struct Expectation {
    let match: ModelMatch
    /// The version of the newer program; nil for the newest model.
    let program: Int?
    /// Whether steps in Swift have run.
    var hasSteps = false
    /// The entities and properties that the steps may change.
    var changedBySteps: Set<String> = []
  }

  private let before: StoreImage
  private let after: StoreImage
  private let expected: Expectation
  private var places: [RehearsalFinding: Int] = [:]
  private(set) var differences: [Difference] = []

  private var match: ModelMatch { expected.match }

  /// - Complexity: linear in the numbers of objects, values and links.
  init(_ before: StoreImage, _ after: StoreImage, _ expected: Expectation) {
    self.before = before
    self.after = after
    self.expected = expected
    for (key, object) in before.objects.sorted(by: { $0.key < $1.key }) { compare(key, object) }
    if expected.hasSteps { return }
    for (key, object) in after.objects.sorted(by: { $0.key < $1.key }) where before.objects[key] == nil {
      add(
        .objectAdded, after.model.name(ofEntity: object.entity), "there are objects that the former store did not have",
        "Report it: no rule of a model makes objects.", key, in: after)
    }
  }

  private mutating func add(
    _ code: RehearsalFinding.Code, _ subject: String, _ message: String, _ advice: String, isAnnounced: Bool = false,
    count: Int = 1, _ key: Int64, in image: StoreImage
  ) {
    let isByStep = !isAnnounced && isChangedByStep(subject)
    let advice =
      isAnnounced || isByStep
      ? "" : expected.hasSteps ? "\(advice) If a step means it, name \(subject) in `changedBySteps`." : advice
    let finding = RehearsalFinding(
      code, subject, isByStep ? message + ", by a step" : message, advice, program: expected.program)
    let place = places[finding] ?? differences.count
    if place == differences.count {
      places[finding] = place
      differences.append(Difference(finding: finding, isAnnounced: isAnnounced || isByStep))
    }
    differences[place].count += count
    if differences[place].examples.count < 3 { differences[place].examples.append(image.name(of: key)) }
  }

  private func isChangedByStep(_ subject: String) -> Bool {
    guard expected.hasSteps else { return false }
    return expected.changedBySteps.contains(subject)
      || expected.changedBySteps.contains(String(subject.prefix { $0 != "." }))
  }

  // MARK: Objects

  private mutating func compare(_ key: Int64, _ object: StoreImage.Object) {
    let origin = match.stored.entities[object.entity]
    guard let successor = match.successors[object.entity] else {
      return add(
        .objectLost, origin.name, "removed",
        "Write \"removed\": [\"\(origin.name)\"] in the model if its objects may go, or \"renamedFrom\" at the entity that it became.",
        isAnnounced: isRemoved(origin), key, in: before)
    }
    let entity = match.current.entities[successor]
    guard let current = after.objects[key] else {
      return add(
        .objectLost, entity.name, entity.isAbstract ? "removed, as the entity is abstract" : "objects are gone",
        "Correct what deletes them.", isAnnounced: isRemoved(origin) && entity.isAbstract, key, in: before)
    }
    guard current.entity == successor else {
      return add(
        .entityChanged, entity.name, "objects are of \(after.model.name(ofEntity: current.entity))",
        "Report it: the former entity became \(entity.name).", key, in: after)
    }
    for property in origin.properties {
      switch property {
      case .attribute(let attribute): compare(attribute, key, object, current, entity)
      case .relationship(let relationship): compare(relationship, key, object, current, entity)
      }
    }
  }

  private func isRemoved(_ entity: Entity) -> Bool { match.current.description.removed.contains(entity.name) }

  /// Whether an entity, or one above it, consents to the loss of a former property.
  private func isRemoved(_ property: String, from entity: Entity) -> Bool {
    match.current.lineage(of: entity.index).contains { ancestor in
      match.current.description.entities[ancestor].removed.contains {
        property == $0 || property.hasPrefix($0 + ".")
      }
    }
  }

  // MARK: Values

  private mutating func compare(
    _ attribute: Attribute, _ key: Int64, _ object: StoreImage.Object, _ current: StoreImage.Object, _ entity: Entity
  ) {
    guard attribute.column != nil, attribute.role != .presence else { return }
    let value = object.values[attribute.index]
    guard let number = match.successor(of: attribute.index, in: object.entity),
      let successor = entity.properties[number].attribute
    else {
      if value.isNull { return }
      return add(
        .valueLost, "\(entity.name).\(attribute.name)", "removed",
        "Write \"renamedFrom\": \"\(attribute.name)\" at the property that has its values now, or "
          + "\"removed\": [\"\(attribute.name)\"] in \(entity.name) if they may go.",
        isAnnounced: isRemoved(attribute.name, from: entity) || isReplaced(attribute.name, in: entity), key, in: before)
    }
    let subject = "\(entity.name).\(successor.name)"
    let other = current.values[number]
    if value.isNull {
      guard !other.isNull, !expected.hasSteps, !isFilled(successor) else { return }
      return add(
        .valueChanged, subject, "has values where there was none", "Correct what sets them.", key, in: after)
    }
    let meaning = ValueMeaning(old: attribute, oldModel: match.stored, new: successor, newModel: match.current)
    if meaning.isKept(value, as: other) { return }
    let isConverted = attribute.type != successor.type || attribute.enumeration != successor.enumeration
    let isAnnounced =
      isConverted && (successor.description.isLossy || successor.description.backfill != nil)
      || isRemoved(attribute.name, from: entity)
    add(
      other.isNull ? .valueLost : .valueChanged, subject,
      other.isNull
        ? "values are gone" : isConverted ? "values are other ones in the new type" : "values are other ones",
      isConverted
        ? "Write \"convert\": \"lossy\" at \(subject) if values that do not fit may go, or a \"backfill\" that reads them."
        : "Correct what changes them.", isAnnounced: isAnnounced, key, in: before)
  }

  /// Whether a name belongs to something else now, which says that it cannot take the former values.
  private func isReplaced(_ name: String, in entity: Entity) -> Bool {
    entity.properties.contains { property in
      switch property {
      case .attribute(let attribute):
        attribute.description.isLossy
          && (attribute.name == name || attribute.description.renamedFrom.contains(name))
      case .relationship(let relationship):
        relationship.description.isLossy
          && (relationship.name == name || relationship.description.renamedFrom.contains(name))
      }
    }
  }

  /// Whether rows without a value get one.
  private func isFilled(_ attribute: Attribute) -> Bool {
    attribute.description.backfill != nil || attribute.description.defaultValue != nil && !attribute.isOptional
  }

  // MARK: Links

  private mutating func compare(
    _ relationship: Relationship, _ key: Int64, _ object: StoreImage.Object, _ current: StoreImage.Object,
    _ entity: Entity
  ) {
    if relationship.isTransient { return }
    // A pair with an object that is gone goes with it.
    let partners = object.partners[relationship.index].filter { before.objects[$0] != nil && after.objects[$0] != nil }
    guard let number = match.successor(of: relationship.index, in: object.entity),
      let successor = entity.properties[number].relationship
    else {
      if partners.isEmpty || isSeenByPartners(relationship) { return }
      return add(
        .linkLost, "\(entity.name).\(relationship.name)", "removed",
        "Write \"renamedFrom\": \"\(relationship.name)\" at the relationship that has its objects now, or "
          + "\"removed\": [\"\(relationship.name)\"] in \(entity.name) if they may go.",
        isAnnounced: isRemoved(relationship.name, from: entity) || isReplaced(relationship.name, in: entity)
          || isRemovedByPartners(relationship), count: partners.count, key, in: before)
    }
    let subject = "\(entity.name).\(successor.name)"
    let others = current.partners[number]
    let kept = Set(others)
    let lost = partners.filter { !kept.contains($0) }
    if !lost.isEmpty {
      let inverse = match.current.inverse(of: successor)
      add(
        .linkLost, subject, "objects are gone from it",
        "Write \"convert\": \"lossy\" at \(subject) if they may go, or correct what removes them.",
        isAnnounced: successor.description.isLossy || inverse?.description.isLossy == true
          || isRemoved(relationship.name, from: entity) || isRemovedByPartners(relationship),
        count: lost.count, key, in: before)
    }
    if !expected.hasSteps {
      let known = Set(object.partners[relationship.index])
      let added = others.filter { !known.contains($0) && before.objects[$0] != nil }
      // The former names of an own inverse's ends are one relationship with the pairs of both.
      if !added.isEmpty && !successor.isOwnInverse {
        add(
          .linkAdded, subject, "has objects that it did not have", "Correct what adds them.", count: added.count, key,
          in: after)
      }
    }
    guard relationship.isOrdered, successor.isOrdered else { return }
    let common = Set(partners).intersection(kept)
    if partners.filter(common.contains) != others.filter(common.contains) {
      add(.orderChanged, subject, "has another order", "Correct what moves its objects.", key, in: after)
    }
  }

  /// Whether the other end stays, which shows the same pairs.
  private func isSeenByPartners(_ relationship: Relationship) -> Bool {
    guard let inverse = match.stored.inverse(of: relationship) else { return false }
    return match.stored.entities[relationship.destination].subtree.allSatisfy { partner in
      match.successors[partner] == nil || match.properties[partner].contains(inverse.index)
    }
  }

  private func isRemovedByPartners(_ relationship: Relationship) -> Bool {
    guard let inverse = match.stored.inverse(of: relationship),
      let successor = match.successors[relationship.destination]
    else { return false }
    return isRemoved(inverse.name, from: match.current.entities[successor])
  }
}
