package import TrellisModel

/// What a migration of a store to the current model does, step by step, before anything is done.
package struct MigrationPlan: Sendable {
  /// What a step means for the stored data.
  package enum Risk: Hashable, Sendable {
    /// No row is rewritten.
    case none
    /// Rows are rewritten, and nothing is lost.
    case rewrites(rows: Int?)
    /// The model consents to a loss.
    case loses(values: Int?)
    /// The model does not say what shall become of the data. The text is the line to write.
    case asks(String)
    /// Only a step in Swift can do it.
    case impossible
  }

  /// One change.
  package struct Step: Hashable, Sendable {
    /// The entity or property, as `Entry.title`, by its current name if it has one.
    package let subject: String
    /// What happens to it, as the end of a sentence.
    package let text: String
    package let risk: Risk
  }

  package let match: ModelMatch
  /// In the order of the current model, with what is gone at the end of its entity.
  package let steps: [Step]

  /// - Parameter counts: the counts of a store; nil for a plan without a store, which assumes that there are rows.
  /// - Throws: errors of the counts.
  package init(_ match: ModelMatch, counts: (any MigrationCounts)? = nil) throws {
    self.match = match
    var planner = MigrationPlanner(match, counts)
    try planner.planEntities()
    try planner.planLosses()
    steps = planner.steps
  }

  /// The steps without an answer. A migration begins only if there are none.
  package var questions: [Step] {
    steps.filter { step in
      switch step.risk {
      case .asks, .impossible: true
      case .none, .rewrites, .loses: false
      }
    }
  }
}

/// The counts of a store that tell what a plan means for it. Entities and properties are those of the stored model; an
/// entity stands for its own rows, without those of its children.
package protocol MigrationCounts {
  func rows(of entity: Int) throws -> Int
  /// The rows with a value, or with members.
  func values(of property: Int, in entity: Int) throws -> Int
  /// The values that a conversion has no counterpart for.
  func misfits(of property: Int, in entity: Int, _ conversion: ValueConversion) throws -> Int
}

/// Collects the steps of a plan.
private struct MigrationPlanner {
  private(set) var steps: [MigrationPlan.Step] = []
  private let match: ModelMatch
  private let counts: (any MigrationCounts)?

  init(_ match: ModelMatch, _ counts: (any MigrationCounts)?) {
    self.match = match
    self.counts = counts
  }

  mutating func planEntities() throws {
    for entity in match.current.entities {
      guard let origin = match.origins[entity.index] else {
        add(entity.name, "new", .none)
        continue
      }
      let former = match.stored.entities[origin]
      if former.name != entity.name { add(entity.name, "renamed from \(former.name)", .none) }
      for property in entity.properties { try plan(property, of: entity, from: former) }
    }
  }

  private mutating func add(_ subject: String, _ text: String, _ risk: MigrationPlan.Risk) {
    steps.append(MigrationPlan.Step(subject: subject, text: text, risk: risk))
  }

  // MARK: Properties

  private mutating func plan(_ property: Property, of entity: Entity, from former: Entity) throws {
    let subject = "\(entity.name).\(property.name)"
    let origin = match.origin(of: property.index, in: entity.index)
    switch (property, origin) {
    case (.attribute(let attribute), nil):
      if attribute.column != nil { try planNew(attribute, subject, former) }
    case (.relationship(let relationship), nil):
      if !relationship.isTransient { add(subject, "new", .none) }
    case (.attribute(let attribute), .attribute(let old)?):
      try planKept(attribute, subject, from: old, former)
    case (.relationship(let relationship), .relationship(let old)?):
      planKept(relationship, subject, from: old)
    case (.attribute, .relationship?): add(subject, "a relationship has become an attribute", .impossible)
    case (.relationship, .attribute?): add(subject, "an attribute has become a relationship", .impossible)
    }
  }

  private mutating func planNew(_ attribute: Attribute, _ subject: String, _ former: Entity) throws {
    let type = attribute.type.spelling
    if attribute.description.defaultValue != nil {
      return add(subject, "\(type), new, with its default", .rewrites(rows: try counts?.rows(of: former.index)))
    }
    let rows = try counts?.rows(of: former.index)
    if attribute.isOptional || rows == 0 { return add(subject, "\(type), new", .none) }
    let who = rows.map { "\($0) rows have" } ?? "rows have"
    add(subject, "\(type), new and required, and \(who) no value", .asks("write \"default\" at \(subject)"))
  }

  private mutating func planKept(
    _ attribute: Attribute, _ subject: String, from old: Attribute, _ former: Entity
  ) throws {
    var changes: [String] = []
    var risk = MigrationPlan.Risk.none
    if attribute.name != old.name { changes.append("renamed from \(old.name)") }
    let conversion = ValueConversion(from: old, in: match.stored, to: attribute, in: match.current)
    if attribute.type != old.type {
      changes.append("\(old.type.spelling) → \(attribute.type.spelling)")
      risk = try self.risk(of: conversion, subject, old, former)
    }
    if old.isOptional && !attribute.isOptional {
      changes.append("required")
      if let answer = try answerForMissing(attribute, subject, old, former) { risk = answer }
    } else if !old.isOptional && attribute.isOptional {
      changes.append("optional")
    }
    if !changes.isEmpty { add(subject, changes.joined(separator: ", "), risk) }
  }

  private func risk(
    of conversion: ValueConversion, _ subject: String, _ old: Attribute, _ former: Entity
  ) throws -> MigrationPlan.Risk {
    switch conversion.reach {
    case .sameForm: return .none
    case .always: return .rewrites(rows: try counts?.rows(of: former.index))
    case .never: return .impossible
    case .counted:
      guard let counts else { return .rewrites(rows: nil) }
      let misfits = try counts.misfits(of: old.index, in: former.index, conversion)
      if misfits == 0 { return .rewrites(rows: try counts.rows(of: former.index)) }
      return .asks("\(misfits) values have no counterpart: correct them, or convert them in a step")
    }
  }

  private func answerForMissing(
    _ attribute: Attribute, _ subject: String, _ old: Attribute, _ former: Entity
  ) throws -> MigrationPlan.Risk? {
    let missing = try counts.map { try $0.rows(of: former.index) - $0.values(of: old.index, in: former.index) }
    if missing == 0 { return nil }
    if attribute.description.defaultValue != nil { return .rewrites(rows: missing) }
    return .asks("write \"default\" at \(subject)\(missing.map { ": \($0) rows have no value" } ?? "")")
  }

  private mutating func planKept(_ relationship: Relationship, _ subject: String, from old: Relationship) {
    var changes: [String] = []
    var risk = MigrationPlan.Risk.none
    if relationship.name != old.name { changes.append("renamed from \(old.name)") }
    if match.successors[old.destination] != relationship.destination {
      changes.append("to \(relationship.description.destination) instead of \(old.description.destination)")
      risk = .impossible
    }
    if relationship.isToMany != old.isToMany {
      changes.append(relationship.isToMany ? "to many instead of one" : "to one instead of many")
      if !relationship.isToMany && risk == .none { risk = .asks("an object may have several: choose one in a step") }
    }
    if relationship.isOrdered != old.isOrdered { changes.append(relationship.isOrdered ? "ordered" : "not ordered") }
    if (relationship.inverse == nil) != (old.inverse == nil) {
      changes.append(relationship.inverse == nil ? "without an inverse" : "with an inverse")
    }
    if !changes.isEmpty { add(subject, changes.joined(separator: ", "), risk) }
  }

  // MARK: Losses

  mutating func planLosses() throws {
    for loss in match.losses {
      let entity = match.stored.entities[loss.entity]
      guard let number = loss.property else {
        try planLoss(of: entity, likelyName: loss.likelyName)
        continue
      }
      let property = entity.properties[number]
      let owner = match.successors[entity.index].map { match.current.entities[$0].name } ?? entity.name
      let count = try counts?.values(of: number, in: entity.index)
      if count == 0 {
        add("\(owner).\(property.name)", "gone; no row has a value", .none)
        continue
      }
      let rename = loss.likelyName.map { "write \"renamedFrom\": \"\(property.name)\" at \($0) if it is now called so, or " }
      add(
        "\(owner).\(property.name)", "has no place in this model" + (count.map { ", and \($0) rows have one" } ?? ""),
        .asks("\(rename ?? "")write \"removed\": [\"\(property.name)\"] in \(owner) if it may go"))
    }
    try planConsented()
  }

  private mutating func planLoss(of entity: Entity, likelyName: String?) throws {
    let rows = try counts?.rows(of: entity.index)
    if rows == 0 { return add(entity.name, "gone; there are no rows", .none) }
    let rename = likelyName.map { "write \"renamedFrom\": \"\(entity.name)\" at \($0) if it is now called so, or " }
    add(
      entity.name, "has no place in this model" + (rows.map { ", and there are \($0) rows" } ?? ""),
      .asks("\(rename ?? "")write \"removed\": [\"\(entity.name)\"] in the model if it may go"))
  }

  /// What the model says may go.
  private mutating func planConsented() throws {
    let asked = Set(match.losses)
    for entity in match.stored.entities where !entity.isAbstract {
      guard let successor = match.successors[entity.index] else {
        if !asked.contains(where: { $0.entity == entity.index && $0.property == nil }) {
          add(entity.name, "removed", .loses(values: try counts?.rows(of: entity.index)))
        }
        continue
      }
      let kept = Set(match.properties[successor].compactMap { $0 })
      for property in entity.properties where match.isConsented(property, of: entity, keeping: kept) {
        let subject = "\(match.current.entities[successor].name).\(property.name)"
        add(subject, "removed", .loses(values: try counts?.values(of: property.index, in: entity.index)))
      }
    }
  }
}
