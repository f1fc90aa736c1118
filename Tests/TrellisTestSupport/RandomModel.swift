package import TrellisModel

/// Valid models made by chance: hierarchies, every type, every shape of a relationship.
package struct RandomModel {
  private var generator: SeededGenerator

  package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  package mutating func make(_ number: Int) -> ModelDescription {
    let count = Int.random(in: 1...7, using: &generator)
    var entities = (0..<count).map { EntityDescription("E\($0)x\(number)") }
    for index in entities.indices {
      if index > 0, chance(2) { entities[index].parent = entities[Int.random(in: 0..<index, using: &generator)].name }
      entities[index].isAbstract = chance(4)
      entities[index].doc = chance(2) ? "Entity \(index). " + String(repeating: "word ", count: index * 12) : nil
      for place in 0..<Int.random(in: 0...6, using: &generator) {
        entities[index].attributes.append(attribute("a\(index)x\(place)", enumeration: "Choice\(number)"))
      }
    }
    for place in 0..<Int.random(in: 0...6, using: &generator) { connect(&entities, "r\(place)") }
    let cases = ["one", "two", "default"].map { name in
      EnumDescription.Case(name, .text(name), renamedFrom: formerNames(of: name), doc: chance(3) ? "A case." : nil)
    }
    var model = ModelDescription(
      name: "Random\(number)",
      enums: [EnumDescription("Choice\(number)", rawType: .string, cases: cases, unknown: .preserve)],
      entities: entities)
    if chance(2) { addComposites(to: &model, number) }
    if chance(3) { addHistory(to: &model) }
    return model
  }

  /// Adds composites, of which later ones may contain earlier ones, and attributes that have them.
  private mutating func addComposites(to model: inout ModelDescription, _ number: Int) {
    for place in 0..<Int.random(in: 1...3, using: &generator) {
      var composite = CompositeDescription("Group\(place)x\(number)", doc: chance(3) ? "A group." : nil)
      for field in 0..<Int.random(in: 1...4, using: &generator) {
        var attribute = attribute("f\(field)", enumeration: "Choice\(number)")
        (attribute.isTransient, attribute.backfill) = (false, nil)
        composite.attributes.append(attribute)
      }
      if let inner = model.composites.randomElement(using: &generator), chance(2) {
        composite.composites.append(
          CompositeAttributeDescription(
            "inner", inner.name, optional: chance(2),
            position: Int.random(in: 0...composite.attributes.count, using: &generator),
            renamedFrom: formerNames(of: "inner")))
      }
      model.composites.append(composite)
    }
    for entity in model.entities.indices where chance(2) {
      for place in 0..<Int.random(in: 1...2, using: &generator) {
        guard let composite = model.composites.randomElement(using: &generator) else { continue }
        let field = composite.attributes[0]
        let own = AttributeDescription(
          field.name, field.type, default: field.defaultValue, renamedFrom: ["former\(entity)x\(place)"],
          lossy: chance(2), doc: chance(2) ? "Own." : nil)
        model.entities[entity].composites.append(
          CompositeAttributeDescription(
            "c\(entity)x\(place)", composite.name, optional: chance(2),
            position: Int.random(in: 0...model.entities[entity].attributes.count, using: &generator),
            fields: chance(2) ? [own] : [], renamedFrom: formerNames(of: "c\(entity)x\(place)"),
            doc: chance(3) ? "A whole." : nil))
      }
      // The file has them in the order of their places.
      model.entities[entity].composites.sort { $0.position < $1.position }
    }
  }

  private mutating func addHistory(to model: inout ModelDescription) {
    model.history = chance(2) ? .values : .changes
    if chance(2) { model.keepHistory = HistoryLimit(days: chance(2) ? 30 : nil, transactions: 1_000) }
    for entity in model.entities.indices {
      if model.entities[entity].parent == nil && chance(4) {
        model.entities[entity].history = chance(2) ? .values : .changes
      }
      for place in model.entities[entity].attributes.indices where !model.entities[entity].attributes[place].isTransient
      {
        model.entities[entity].attributes[place].isKeptInHistory = chance(5)
      }
    }
    if model.history == .values && model.entities.allSatisfy({ ($0.history ?? .values) == .values }) {
      addSync(to: &model)
    }
  }

  /// Adds what a server of replicas decides.
  private mutating func addSync(to model: inout ModelDescription) {
    for entity in model.entities.indices {
      if chance(4) { model.entities[entity].sync = decision(withSum: false) }
      for place in model.entities[entity].attributes.indices where chance(4) {
        let attribute = model.entities[entity].attributes[place]
        if attribute.isTransient { continue }
        model.entities[entity].attributes[place].sync = decision(withSum: [.int64, .decimal].contains(attribute.type))
      }
      for place in model.entities[entity].relationships.indices where chance(4) {
        let relationship = model.entities[entity].relationships[place]
        if relationship.isToMany || relationship.isTransient { continue }
        model.entities[entity].relationships[place].sync = decision(withSum: false)
      }
    }
  }

  private mutating func decision(withSum hasSum: Bool) -> SyncDecision? {
    SyncDecision.allCases.filter { hasSum || $0 != .sum }.randomElement(using: &generator)
  }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

  private mutating func attribute(_ name: String, enumeration: String) -> AttributeDescription {
    let types = AttributeType.scalars + [.array(.string), .array(.date), .enumeration(enumeration)]
    let type = types.randomElement(using: &generator) ?? .string
    let values: [AttributeType: DefaultValue] = [
      .string: .value(.text("\"\\(x)\n")), .int64: .value(.integer(-1)), .date: .now, .uuid: .new,
      .double: .value(.real(1e-9)), .decimal: .value(.text("0.1")), .enumeration(enumeration): .value(.text("default")),
    ]
    let isTransient = chance(6)
    return AttributeDescription(
      name, type, optional: chance(2), transient: isTransient, default: chance(2) ? values[type] : nil,
      renamedFrom: formerNames(of: name),
      backfill: isTransient ? nil : backfill(values[type] ?? .list([]), type), lossy: !isTransient && chance(4),
      doc: chance(3) ? "About \(name)." : nil)
  }

  private mutating func formerNames(of name: String) -> [String] {
    (0..<max(0, Int.random(in: -2...2, using: &generator))).map { "\(name)Before\($0)" }
  }

  /// A constant only where the type has one: a list for lists, and none for texts.
  private mutating func backfill(_ value: DefaultValue, _ type: AttributeType) -> Backfill? {
    if chance(2) { return nil }
    let isList = if case .array = type { true } else { false }
    let hasConstant = type != .string && (value != .list([]) || isList)
    return hasConstant && chance(2) ? .value(value) : .expression("lowercase:(first) + ' \"\\\\ 커피'")
  }

  private mutating func connect(_ entities: inout [EntityDescription], _ name: String) {
    let first = Int.random(in: entities.indices, using: &generator)
    let second = Int.random(in: entities.indices, using: &generator)
    let isToMany = chance(2)
    var here = RelationshipDescription(
      name, to: entities[second].name, toMany: isToMany, ordered: isToMany && chance(2), optional: true,
      renamedFrom: formerNames(of: name), lossy: chance(4))
    if chance(4) {
      entities[first].relationships.append(here)
      return
    }
    here.inverse = name + "Back"
    let isBackToMany = chance(2)
    let back = RelationshipDescription(
      name + "Back", to: entities[first].name, inverse: name, toMany: isBackToMany, ordered: isBackToMany && chance(2),
      optional: true)
    entities[first].relationships.append(here)
    entities[second].relationships.append(back)
  }
}
