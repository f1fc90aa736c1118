import TrellisModel
import TrellisTestSupport

/// Identities and names that were not there before.
struct Naming {
  private var last = 0
  private static let words = ["alpha", "body", "color", "mood", "kind", "note", "order", "place", "text", "zone"]

  mutating func id() -> Int {
    last += 1
    return last
  }

  mutating func property(_ random: inout SeededGenerator) -> String {
    "\(Self.words[random.below(Self.words.count)])\(id())"
  }

  mutating func entity(_ random: inout SeededGenerator) -> String {
    let word = Self.words[random.below(Self.words.count)]
    return "\(word.prefix(1).uppercased())\(word.dropFirst())\(id())"
  }
}

/// Makes models by chance.
struct RandomModel {
  var random: SeededGenerator
  var naming = Naming()
  var model = PlainModel()

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func chance(_ percent: Int) -> Bool { random.below(100) < percent }

  mutating func some<Value>(_ values: [Value]) -> Value? { values.isEmpty ? nil : values[random.below(values.count)] }

  mutating func make() {
    addEnums()
    if chance(40) { model.history = history() }
    for _ in 0..<(2 + random.below(5)) { addEntity() }
    for entity in model.entities.map(\.id) {
      for _ in 0..<random.below(5) { addAttribute(to: entity) }
    }
    for _ in 0..<(1 + random.below(model.entities.count + 3)) { addLink() }
    for entity in model.entities.map(\.id) {
      if chance(30) { addUniqueKey(to: entity) }
      if chance(40) { addIndex(to: entity) }
    }
    if chance(50) { model.derivations = 1 + random.below(60) }
  }

  private mutating func addEnums() {
    let color = ["red", "green", "blue"].map { EnumDescription.Case($0, .text($0)) }
    model.enums.append(EnumDescription("Color", rawType: .string, cases: color))
    let level = ["low", "high"].enumerated().map { EnumDescription.Case($1, .integer(Int64($0 * 5))) }
    model.enums.append(EnumDescription("Level", rawType: .integer, cases: level, unknown: .preserve))
  }

  @discardableResult mutating func addEntity() -> Int {
    var entity = PlainEntity(id: naming.id(), name: naming.entity(&random))
    let parents = model.entities.map(\.id).filter { model.lineage($0).count < 3 }
    if chance(50) { entity.parent = some(parents) }
    entity.isAbstract = chance(20)
    if chance(15) { entity.history = history() }
    model.entities.append(entity)
    return entity.id
  }

  mutating func history() -> HistoryContent { HistoryContent.allCases[random.below(HistoryContent.allCases.count)] }

  // MARK: Attributes

  mutating func type() -> AttributeType {
    switch random.below(12) {
    case 0: .enumeration(model.enums[random.below(model.enums.count)].name)
    case 1: .array(.int64)
    case 2: .codable(PlainModel.codableType)
    default: PlainValues.scalars[random.below(PlainValues.scalars.count)]
    }
  }

  static func hasRules(_ type: AttributeType) -> Bool {
    switch type {
    case .integer, .string, .data: true
    default: false
    }
  }

  /// Rules that some values of a type break; none for most types.
  mutating func rules(of type: AttributeType) -> AttributeRules {
    switch type {
    case .integer:
      AttributeRules(
        min: chance(50) ? .integer(0) : nil, max: chance(50) ? .integer([10, 100, 32_000][random.below(3)]) : nil)
    case .string:
      AttributeRules(
        minLength: chance(40) ? 1 : nil, maxLength: chance(60) ? [3, 5, 100][random.below(3)] : nil,
        pattern: chance(30) ? "[a-z0-9 ]*" : nil)
    case .data: AttributeRules(maxLength: [3, 64, 80][random.below(3)])
    default: AttributeRules()
    }
  }

  /// The name of a property elsewhere that the entity can have as well, or a new one.
  private mutating func name(in entity: Int) -> String {
    let related = Set(model.subtree(entity).flatMap { model.lineage($0) })
    let taken = Set(related.flatMap { model[$0].properties.map { $0.name.lowercased() } })
    let others = model.entities.flatMap(\.properties).map(\.name).filter {
      !taken.contains($0.lowercased()) && !$0.contains(".")
    }
    if chance(25), let name = some(others) { return name }
    return naming.property(&random)
  }

  /// The name of a field of a composite of the entity, which may be a new one.
  mutating func fieldName(in entity: Int) -> String {
    let groups = model[entity].properties.compactMap { property in
      property.name.contains(".") ? property.name.split(separator: ".").first.map(String.init) : nil
    }
    let group = chance(60) ? some(groups) : nil
    return "\(group ?? "group\(naming.id())").\(naming.property(&random))"
  }

  @discardableResult mutating func addAttribute(to entity: Int, named name: String? = nil) -> PlainProperty {
    let type = type()
    var attribute = AttributeDescription("", type, optional: chance(50))
    if chance(30) { attribute.defaultValue = PlainValues.constant(type, model.enums, &random) }
    if type == .data { attribute.isExternal = chance(50) }
    if type == .string { attribute.isSearchable = chance(30) }
    if chance(25) { attribute.rules = rules(of: type) }
    attribute.isKeptInHistory = chance(10)
    let isField = name == nil && chance(20)
    if isField { attribute.isExternal = false }
    var property = PlainProperty(
      id: naming.id(), origins: [], name: name ?? (isField ? fieldName(in: entity) : self.name(in: entity)))
    property.attribute = attribute
    property.isTransient = !isField && chance(5) && type != .data && type != .string
    model[entity].properties.append(property)
    return property
  }

  // MARK: Relationships

  /// The least and the greatest number of members.
  mutating func counts() -> (Int?, Int?) {
    (chance(40) ? 1 + random.below(2) : nil, chance(60) ? 2 + random.below(3) : nil)
  }

  mutating func link(to destination: Int) -> PlainLink {
    var link = PlainLink(destination: destination)
    link.isToMany = chance(50)
    link.isOrdered = link.isToMany && chance(50)
    link.isOptional = chance(60)
    link.rule = [.nullify, .nullify, .cascade, .deny, .noAction][random.below(5)]
    if link.isToMany && chance(20) { (link.minimum, link.maximum) = counts() }
    return link
  }

  mutating func addLink(from given: Int? = nil, named name: String? = nil) {
    guard let entity = given ?? some(model.entities.map(\.id)) else { return }
    let destination = chance(30) ? entity : some(model.entities.map(\.id)) ?? entity
    var end = PlainProperty(id: naming.id(), origins: [], name: name ?? self.name(in: entity))
    end.link = link(to: destination)
    if entity == destination && chance(35) {
      end.link?.inverse = end.id
    } else if chance(65) {
      var other = PlainProperty(id: naming.id(), origins: [], name: naming.property(&random))
      other.link = link(to: entity)
      other.link?.inverse = end.id
      end.link?.inverse = other.id
      model[destination].properties.append(other)
    } else {
      end.isTransient = chance(5)
    }
    model[entity].properties.append(end)
  }

  /// Declares everything in another order.
  mutating func reorder() {
    var entities = model.entities.shuffled(using: &random)
    for place in entities.indices { entities[place].properties.shuffle(using: &random) }
    model.entities = entities
  }

  // MARK: Keys

  mutating func addUniqueKey(to entity: Int) {
    let fit = model.properties(entity).filter { property in
      !property.isTransient && (property.attribute.map { PlainValues.hasUniqueValues($0.type) } ?? false)
    }
    guard let first = some(fit) else { return }
    var key = [first.id]
    if chance(30), let second = some(fit), second.id != first.id { key.append(second.id) }
    if !model[entity].uniqueKeys.contains(key) { model[entity].uniqueKeys.append(key) }
  }

  mutating func addIndex(to entity: Int) {
    let fit = model.properties(entity).filter { $0.attribute != nil && !$0.isTransient }
    guard let first = some(fit) else { return }
    var index = [(property: first.id, isDescending: chance(30))]
    if chance(40), let second = some(fit), second.id != first.id { index.append((second.id, chance(30))) }
    let names = index.map(\.property)
    if !model[entity].indexes.contains(where: { $0.map(\.property) == names }) { model[entity].indexes.append(index) }
  }
}
