import TrellisQuery
import TrellisSchema
import TrellisStorage

extension SortKey {
  /// Creates the sort key for a name such as `-diary.createdAt`.
  ///
  /// - Throws: ``PredicateFormatError`` if the entity does not have the name, or the property has no order.
  init(named text: String, of entity: Entity, in model: Model) throws(PredicateFormatError) {
    let isDescending = text.hasPrefix("-")
    var offset = isDescending ? 1 : 0
    var path = PropertyPath(variable: 0)
    var owner: Entity? = entity
    var last: Property?
    for name in text.dropFirst(offset).split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      guard let current = owner else {
        let previous = last?.name ?? ""
        throw PredicateFormatError(
          .manyValues, "'\(previous)' leads to no single object, so no property can follow it.", in: text, at: offset)
      }
      guard let property = current.property(named: name) else {
        let nearest = NearestName.closest(to: name, among: current.properties.map(\.name))
        let advice = nearest.map { "; did you mean '\($0)'?" } ?? "."
        throw PredicateFormatError(
          .unknownProperty, "Entity '\(current.name)' has no property '\(name)'\(advice)", in: text, at: offset,
          suggestion: nearest)
      }
      path = path.appending(property.index)
      last = property
      owner = property.relationship.flatMap { $0.isToMany ? nil : model.entities[$0.destination] }
      offset += name.utf8.count + 1
    }
    guard let last, let kind = last.sortKind else {
      throw PredicateFormatError(
        .typeMismatch, "'\(text)' has no order: numbers, dates, texts, Bools, enums, ids and to-manys have one.",
        in: text, at: 0)
    }
    self.init(path, descending: isDescending, kind: kind)
  }
}

extension Property {
  /// The kind of the values to sort by; nil for properties without an order, and for properties that are not stored.
  fileprivate var sortKind: ValueKind? {
    switch self {
    case .attribute(let attribute):
      switch attribute.type {
      case .array, .codable, .data: nil
      default: attribute.column == nil ? nil : attribute.valueKind
      }
    case .relationship(let relationship):
      relationship.isToMany && !relationship.description.isTransient ? .integer : nil
    }
  }
}
