import TrellisModel
import TrellisStorage

/// The stores that a store became on its way through all versions.
struct RehearsedPath {
  /// The store as a version left it.
  struct Stop {
    /// The version; nil for the newest model.
    let version: Int?
    let image: StoreImage
    /// How the models of the stop before and of this one match.
    let match: ModelMatch
  }

  let start: StoreImage
  var stops: [Stop] = []
}

/// Compares a store that was opened by the newest model at once with one that every version in between has opened.
struct PathComparison {
  private let path: RehearsedPath
  private let jumped: StoreImage
  private let hasSteps: Bool
  /// Each difference, with the objects.
  private(set) var differences: [RehearsalFinding: [String]] = [:]
  /// The differences between values that versions give to rows without one, with the objects.
  private(set) var fillings: [RehearsalFinding: [String]] = [:]

  private var model: Model { jumped.model }

  /// - Parameter hasSteps: Whether steps in Swift have run, which make objects with keys of their own.
  /// - Complexity: linear in the numbers of objects, values and links, and of the stops for what differs.
  init(_ path: RehearsedPath, _ jumped: StoreImage, hasSteps: Bool) {
    self.path = path
    self.jumped = jumped
    self.hasSteps = hasSteps
    guard let stepwise = path.stops.last?.image else { return }
    let keys = Set(jumped.objects.keys).union(stepwise.objects.keys)
    for key in keys.sorted() where path.start.objects[key] != nil || !hasSteps {
      guard let one = jumped.objects[key], let other = stepwise.objects[key], one.entity == other.entity else {
        let image = jumped.objects[key] == nil ? stepwise : jumped
        let entity = image.objects[key].map { image.model.name(ofEntity: $0.entity) } ?? ""
        add(entity, "has other objects", nil, key)
        continue
      }
      compare(key, one, other)
    }
    if hasSteps { compareCounts(stepwise) }
  }

  private mutating func add(_ subject: String, _ what: String, _ stop: RehearsedPath.Stop?, _ key: Int64) {
    let place = stop.map { $0.version.map { "version \($0)" } ?? "the newest model" }
    let finding = RehearsalFinding(
      .pathsDiffer, subject,
      "\(what) in a store that every version has opened than in one that has skipped them"
        + (place.map { "; the ways part at \($0)" } ?? ""),
      "Let \(subject) say in the model what \(place ?? "the versions in between") did, or release a version that corrects it."
    )
    differences[finding, default: []].append(jumped.name(of: key))
  }

  private mutating func compareCounts(_ stepwise: StoreImage) {
    let counts = [jumped, stepwise].map { image in
      Dictionary(grouping: image.objects.values, by: \.entity).mapValues(\.count)
    }
    for entity in model.entities where counts[0][entity.index] != counts[1][entity.index] {
      let numbers = counts.map { $0[entity.index] ?? 0 }
      differences[
        RehearsalFinding(
          .pathsDiffer, entity.name,
          "a store that has skipped the versions has \(numbers[0]), and one that every version has opened has \(numbers[1])",
          "Correct the step that makes them."), default: []
      ].append(entity.name)
    }
  }

  private mutating func compare(_ key: Int64, _ one: StoreImage.Object, _ other: StoreImage.Object) {
    let entity = model.entities[one.entity]
    for property in entity.properties {
      let subject = "\(entity.name).\(property.name)"
      switch property {
      case .attribute(let attribute):
        let (left, right) = (one.values[property.index], other.values[property.index])
        if left.isSame(as: right) { continue }
        let (stop, filled) = origin(of: property.index, key)
        if filled.map(Self.isNewEachTime) ?? false { continue }
        if let filled, Self.isConstant(right, filled), Self.isConstant(left, attribute) {
          let giver = stop?.version.map { "version \($0)" } ?? "the newest model"
          let finding = RehearsalFinding(
            .pathsDiffer, subject,
            "has the value that \(giver) gave it, and another one in a store that has skipped that version")
          fillings[finding, default: []].append(jumped.name(of: key))
        } else {
          add(subject, "has other values", stop, key)
        }
      case .relationship(let relationship):
        if relationship.isTransient { continue }
        // Objects of steps have other keys on each way.
        let partners = [one, other].map { object in
          object.partners[property.index].map { path.start.objects[$0] != nil || !hasSteps ? $0 : 0 }
        }
        if partners[0] != partners[1] {
          let isOrder = partners[0].sorted() == partners[1].sorted()
          if isOrder && !relationship.isOrdered { continue }
          add(subject, isOrder ? "has another order" : "has other objects", origin(of: property.index, key).stop, key)
        }
      }
    }
  }

  /// The last stop that has changed a property of an object, and the attribute that it gave a value to, if it had none
  /// before.
  private func origin(of property: Int, _ key: Int64) -> (stop: RehearsedPath.Stop?, filled: Attribute?) {
    var property = property
    for (number, stop) in path.stops.enumerated().reversed() {
      let before = number > 0 ? path.stops[number - 1].image : path.start
      guard let object = stop.image.objects[key], let former = before.objects[key],
        stop.match.successors[former.entity] == object.entity
      else { return (stop, nil) }
      let current = stop.image.model.entities[object.entity].properties[property]
      guard let origin = stop.match.properties[former.entity][property] else { return (stop, current.attribute) }
      if let new = current.attribute,
        let old = before.model.entities[former.entity].properties[origin].attribute
      {
        let (value, other) = (former.values[origin], object.values[property])
        let meaning = ValueMeaning(old: old, oldModel: before.model, new: new, newModel: stop.image.model)
        if value.isNull != other.isNull || !value.isNull && !meaning.isKept(value, as: other) {
          return (stop, value.isNull ? new : nil)
        }
      } else if Set(former.partners[origin]) != Set(object.partners[property]) {
        return (stop, nil)
      }
      property = origin
    }
    return (nil, nil)
  }

  /// Whether rows without a value get one that is another each time.
  private static func isNewEachTime(_ attribute: Attribute) -> Bool {
    switch attribute.description.backfill {
    case .value(.now), .value(.new): true
    case .value: false
    case .expression(let text): text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains("now")
    case nil: attribute.description.defaultValue == .now || attribute.description.defaultValue == .new
    }
  }

  /// Whether a value is the one that the model gives to rows without one.
  private static func isConstant(_ value: StoredValue, _ attribute: Attribute) -> Bool {
    switch attribute.description.backfill {
    case .value(.value(let constant)): value.isSame(as: constant)
    case .expression, .value: false
    case nil: attribute.initialValue.map { value.isSame(as: $0) } ?? false
    }
  }
}
