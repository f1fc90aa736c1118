import TrellisModel
import TrellisModelFile
import TrellisTestSupport

/// Changes the text of a stored model so that it is no model, or one that the stored rows do not have.
struct HostileModel {
  private let model: ModelDescription
  private var hostile: HostileText

  init(_ model: ModelDescription, seed: UInt64) {
    self.model = model
    hostile = HostileText(seed: seed)
  }

  private var random: SeededGenerator {
    get { hostile.random }
    set { hostile.random = newValue }
  }

  /// A text, and the checksum that it has or ought to have.
  mutating func next() -> (text: String, checksum: String) {
    var lie = model
    var text = Array(lie.canonicalJSON().utf8)
    if random.below(3) > 0 {
      for _ in 0...random.below(4) { change(&lie) }
      text = Array(lie.canonicalJSON().utf8)
    }
    // A text that is damaged as well is mostly no JSON.
    if lie == model || random.below(8) == 0 {
      for _ in 0...random.below(3) { change(&text) }
    }
    let result = String(decoding: text, as: UTF8.self)
    switch random.below(8) {
    case 0: return (result, ModelDescription.checksum(ofText: model.canonicalJSON().utf8))
    case 1: return (result, hostile.next())
    default: return (result, ModelDescription.checksum(ofText: result.utf8))
    }
  }

  // MARK: Lies

  private mutating func change(_ model: inout ModelDescription) {
    guard !model.entities.isEmpty else { return }
    let entity = random.below(model.entities.count)
    switch random.below(16) {
    case 0: model.name = name(in: model)
    case 1: model.entities[entity].name = name(in: model)
    case 2: model.entities[entity].parent = random.below(3) == 0 ? nil : name(in: model)
    case 3: model.entities[entity].isAbstract.toggle()
    case 4: model.entities.append(model.entities[entity])
    case 5: model.entities.remove(at: entity)
    case 6: model.entities.swapAt(entity, random.below(model.entities.count))
    case 7: model.entities[entity].uniqueKeys.append(names(in: model))
    case 8: model.entities[entity].indexes.append(IndexDescription(names(in: model).map { .init($0) }))
    case 9:
      model.entities[entity].attributes.append(
        AttributeDescription(name(in: model), type(), optional: random.below(2) == 0))
    case 10:
      model.entities[entity].relationships.append(
        RelationshipDescription(
          name(in: model), to: name(in: model), inverse: random.below(2) == 0 ? nil : name(in: model),
          toMany: random.below(2) == 0, optional: random.below(2) == 0))
    case 11: model.history = HistoryContent.allCases[random.below(3)]
    case 12: model.entities[entity].history = HistoryContent.allCases[random.below(3)]
    case 13, 14: changeAttribute(&model.entities[entity], name(in: model))
    default: changeRelationship(&model.entities[entity], name(in: model), name(in: model))
    }
  }

  private mutating func changeAttribute(_ entity: inout EntityDescription, _ name: String) {
    guard !entity.attributes.isEmpty else { return }
    let place = random.below(entity.attributes.count)
    switch random.below(10) {
    case 0: entity.attributes[place].name = name
    case 1: entity.attributes[place].isOptional.toggle()
    case 2: entity.attributes[place].isTransient.toggle()
    case 3: entity.attributes[place].isExternal.toggle()
    case 4: entity.attributes[place].isSearchable.toggle()
    case 5:
      entity.attributes[place].defaultValue =
        [.now, .new, .value(.text(name)), .value(.integer(.max))][random.below(4)]
    case 6: entity.attributes[place].rules = AttributeRules(minLength: .max, maxLength: -1, pattern: name)
    case 7: entity.attributes.remove(at: place)
    case 8: entity.attributes[place].isKeptInHistory.toggle()
    default: entity.attributes[place].type = type()
    }
  }

  private mutating func changeRelationship(_ entity: inout EntityDescription, _ name: String, _ other: String) {
    guard !entity.relationships.isEmpty else { return }
    let place = random.below(entity.relationships.count)
    switch random.below(9) {
    case 0: entity.relationships[place].name = name
    case 1: entity.relationships[place].destination = name
    case 2: entity.relationships[place].inverse = random.below(2) == 0 ? nil : name
    case 3: entity.relationships[place].isToMany.toggle()
    case 4: entity.relationships[place].isOrdered.toggle()
    case 5: entity.relationships[place].isTransient.toggle()
    case 6: entity.relationships[place].deleteRule = [.nullify, .cascade, .deny, .noAction][random.below(4)]
    case 7: (entity.relationships[place].minimumCount, entity.relationships[place].maximumCount) = (.max, -1)
    default: entity.relationships.remove(at: place)
    }
  }

  /// A name that the model or the store has, or any text.
  private mutating func name(in model: ModelDescription) -> String {
    switch random.below(6) {
    case 0: return hostile.next()
    case 1: return ["_id", "_version", "_entity", "_trellis", "_models", "sqlite_x", "rowid", ""][random.below(8)]
    case 2: return model.entities.randomElement(using: &random)?.name ?? ""
    default:
      let properties = model.entities.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
      return properties.randomElement(using: &random) ?? ""
    }
  }

  private mutating func names(in model: ModelDescription) -> [String] {
    (0...random.below(2)).map { _ in name(in: model) }
  }

  private mutating func type() -> AttributeType {
    let types: [AttributeType] = [
      .string, .bool, .int16, .int64, .double, .decimal, .date, .data, .uuid, .url, .array(.int64),
      .enumeration("Mood"), .codable("Place"),
    ]
    return types[random.below(types.count)]
  }

  // MARK: Damage

  private static let marks = [
    "{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1", "1e400", "99999999999999999999", "\"_id\"", "\\u0000",
    String(repeating: "[", count: 2_000), "\"trellis\":99,",
  ]

  private mutating func change(_ text: inout [UInt8]) {
    guard !text.isEmpty else { return }
    let start = random.below(text.count)
    let end = min(text.count, start + 1 + random.below(20))
    switch random.below(5) {
    case 0: text[start] = UInt8(random.below(128))
    case 1: text.removeSubrange(start..<end)
    case 2: text.insert(contentsOf: text[start..<end], at: random.below(text.count))
    case 3: text.insert(contentsOf: Self.marks[random.below(Self.marks.count)].utf8, at: start)
    default: text.replaceSubrange(start..<end, with: hostile.next().utf8)
    }
  }
}
