import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

/// One of the two ways to have objects of the meadow: with generated classes, or without.
protocol Side {
  static var model: ObjectModel { get }
  static func insert(_ entity: String, _ values: [String: StoredValue], _ context: ManagedObjectContext) throws
    -> ManagedObject
  static func set(_ attribute: String, of object: ManagedObject, to value: StoredValue) throws
}

enum DynamicSide: Side {
  static var model: ObjectModel { ObjectModel(dynamic: ObjectModel.meadow.description) }

  static func insert(
    _ entity: String, _ values: [String: StoredValue], _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    try context.insert(entity, values)
  }

  static func set(_ attribute: String, of object: ManagedObject, to value: StoredValue) throws {
    try #require(object as? DynamicObject).set(attribute, value)
  }
}

enum TypedSide: Side {
  struct Unknown: Error {}

  static var model: ObjectModel { .meadow }

  static func insert(
    _ entity: String, _ values: [String: StoredValue], _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    // A code that is given to the initializer counts as assigned when an object with the same code is found.
    let code: String?? = values["code"].map { $0.text }
    let object: ManagedObject =
      switch entity {
      case "Plant":
        if let code = code ?? nil { Plant(in: context, code: code) } else { Plant(in: context) }
      case "Tree": if let code = code ?? nil { Tree(in: context, code: code) } else { Tree(in: context) }
      case "Bed": Bed(in: context)
      case "Gardener": Gardener(in: context)
      case "Tag": Tag(in: context, name: values["name"]?.text ?? "")
      case "Label": Label(in: context)
      default: throw Unknown()
      }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) where !["code", "name"].contains(name) {
      try set(name, of: object, to: value)
    }
    if entity != "Tag", let name = values["name"] { try set("name", of: object, to: name) }
    return object
  }

  static func set(_ attribute: String, of object: ManagedObject, to value: StoredValue) throws {
    switch object {
    case let plant as Plant: try set(attribute, of: plant, to: value)
    case let bed as Bed: bed.name = try value.needText
    case let gardener as Gardener: gardener.name = try value.needText
    case let tag as Tag: tag.name = try value.needText
    case let label as Label: label.text = try value.needText
    default: throw Unknown()
    }
  }

  private static func set(_ attribute: String, of plant: Plant, to value: StoredValue) throws {
    switch (attribute, value) {
    case ("name", .text(let text)): plant.name = text
    case ("code", _): plant.code = value.text
    case ("flag", .integer(let flag)): plant.flag = flag != 0
    case ("small", .integer(let number)): plant.small = try #require(Int16(exactly: number))
    case ("medium", .integer(let number)): plant.medium = try #require(Int32(exactly: number))
    case ("large", _): plant.large = value.integer
    case ("ratio", .real(let number)): plant.ratio = Float(number)
    case ("weight", _): plant.weight = if case .real(let number) = value { number } else { nil }
    case ("price", .text(let text)): plant.price = try #require(Decimal(string: text, locale: nil))
    case ("born", .integer(let micros)):
      plant.born = Date(timeIntervalSince1970: Double(micros) / 1_000_000)
    case ("photo", _): plant.photo = value.data
    case ("seed", _): plant.seed = value.data
    case ("token", _): plant.token = value.data.flatMap { UUID(uuidString: UUIDText.text([UInt8]($0))) }
    case ("site", _): plant.site = value.text.flatMap { URL(string: $0) }
    case ("weather", .text(let text)): plant.weather = try #require(Weather(stored: text))
    case ("level", _): plant.level = value.integer.flatMap { Level(stored: $0) }
    case ("words", .text(let text)): plant.words = try JSONDecoder().decode([String].self, from: Data(text.utf8))
    case ("numbers", _):
      plant.numbers = try value.text.map { try JSONDecoder().decode([Int64].self, from: Data($0.utf8)) }
    case ("mood", .text(let text)): plant.mood = text
    case ("height", .integer(let number)): try #require(plant as? Tree).height = number
    default: throw Unknown()
    }
  }
}

extension StoredValue {
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  fileprivate var data: Data? { if case .blob(let bytes) = self { Data(bytes) } else { nil } }
  fileprivate var needText: String {
    get throws {
      guard let text else { throw TypedSide.Unknown() }
      return text
    }
  }
}
