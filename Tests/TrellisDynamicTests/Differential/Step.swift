import Trellis
import TrellisModel
import TrellisTestSupport

/// One step of a random run. Objects are named by their keys, which both sides give alike.
enum Step {
  case insert(String, [String: StoredValue])
  case set(Int64, String, StoredValue)
  case link(Int64, String, Int64?)
  case add(Int64, String, Int64, at: Int?)
  case remove(Int64, String, Int64)
  case replace(Int64, String, [Int64])
  case delete(Int64)
  case undelete(Int64)
  case save
  case rollback
  case undo
  case redo
  case refresh
  /// The other one of two contexts, and how it settles conflicts from now on.
  case otherContext(MergePolicy)
  case newContext
  case fetch(String, format: String, sort: String)
}

/// Chooses steps by chance.
struct StepChooser {
  let model: Model
  var random: SeededGenerator

  mutating func next(_ objects: [(key: Int64, entity: Int)]) -> Step {
    let choice = random.below(100)
    guard choice >= 18, let object = objects.randomElement(using: &random) else {
      return choice < 16 || objects.isEmpty ? insert() : .fetch(fetched(), format: format(), sort: sort())
    }
    switch choice {
    case 18..<40: return set(object)
    case 40..<76: return link(object, objects)
    case 76..<81: return .delete(object.key)
    case 81..<83: return .undelete(object.key)
    case 83..<91: return .save
    case 91..<93: return .rollback
    case 93..<95: return .undo
    case 95..<97: return .redo
    case 97: return random.below(2) == 0 ? .refresh : .newContext
    case 98: return .otherContext([.error, .objectTrump, .storeTrump, .overwrite, .rollback][random.below(5)])
    default: return .fetch(fetched(), format: format(), sort: sort())
    }
  }

  private mutating func insert() -> Step {
    let entity = model.entities[random.below(model.entities.count)]
    var values: [String: StoredValue] = [:]
    for case let attribute? in entity.properties.map(\.attribute) {
      if random.below(5) == 0 || entity.name == "Tag" { values[attribute.name] = value(attribute) }
    }
    return .insert(entity.name, values)
  }

  private mutating func set(_ object: (key: Int64, entity: Int)) -> Step {
    let attributes = model.entities[object.entity].properties.compactMap(\.attribute)
    let attribute = attributes[random.below(attributes.count)]
    return .set(object.key, attribute.name, value(attribute))
  }

  private mutating func link(_ object: (key: Int64, entity: Int), _ objects: [(key: Int64, entity: Int)]) -> Step {
    let relationships = model.entities[object.entity].properties.compactMap(\.relationship)
    let relationship = relationships[random.below(relationships.count)]
    let subtree = model.entities[relationship.destination].subtree
    let candidates = objects.filter { subtree.contains($0.entity) }.map(\.key)
    guard let partner = candidates.randomElement(using: &random) else { return .save }
    guard relationship.isToMany else {
      return .link(object.key, relationship.name, random.below(5) == 0 ? nil : partner)
    }
    switch random.below(10) {
    case 0..<6:
      return .add(
        object.key, relationship.name, partner,
        at: relationship.isOrdered && random.below(2) == 0 ? random.below(3) : nil)
    case 6..<8: return .remove(object.key, relationship.name, partner)
    default: return .replace(object.key, relationship.name, Array(candidates.shuffled(using: &random).prefix(3)))
    }
  }

  private mutating func value(_ attribute: Attribute) -> StoredValue {
    if attribute.isOptional && random.below(4) == 0 { return .null }
    let number = random.below(6)
    return switch attribute.type {
    case .string: .text(["", "a", "b", "sea", "커피", "too long"][number])
    case .bool: .integer(Int64(number % 2))
    case .integer(.int16): .integer([-32768, -5, 0, 3, 1000, 32767][number])
    case .integer(.int32): .integer([Int64(Int32.min), -1, 0, 1, 2, Int64(Int32.max)][number])
    case .integer(.int64): .integer([.min, -1, 0, 1, 101, .max][number])
    case .float: .real(Double([Float.greatestFiniteMagnitude, 0.1, 0, -0.0, .infinity, 2.5][number]))
    case .double: .real([1e300, 0.1, 0, -0.0, .infinity, 2.5][number])
    case .decimal: .text(["0", "0.1", "-12", "12345678901234567890.5", "1.5", "99"][number])
    case .date: .integer([0, 1, 1_700_000_000_123_456, -1, 946_684_800_000_000, 5][number])
    case .data:
      .blob([[], [0], [1, 2], [1, 2, 3], [9, 9, 9, 9], [UInt8](repeating: 7, count: 2000)][number])
    case .uuid: .blob([UInt8](repeating: UInt8(number), count: 16))
    case .url: .text("https://example.org/\(number)")
    case .enumeration:
      attribute.storageClass == .integer
        ? .integer(Int64(number % 2) + 1) : .text(["sunny", "rainy", "foggy"][number % 3])
    case .array(.string): .text(["[]", #"["a"]"#, #"["a","b"]"#, #"["커피"]"#, #"["/"]"#, #"["\""]"#][number])
    case .array: .text(["[]", "[1]", "[-9223372036854775808]", "[1,2,3]", "[0]", "[7]"][number])
    case .codable: .null
    }
  }

  private mutating func fetched() -> String { ["Plant", "Tree"][random.below(2)] }

  private mutating func format() -> String {
    [
      "small > 3", "name CONTAINS 'a'", "tags.@count > 0", "bed.gardener != nil", "ANY neighbors.flag == true",
      "price >= 0.5", "level == 'high' OR weather == 'rainy'", "photo == nil", "born < 1.0", "words != nil",
    ][random.below(10)]
  }

  private mutating func sort() -> String { ["name", "-small", "born", "bed.name", "-price"][random.below(5)] }
}
