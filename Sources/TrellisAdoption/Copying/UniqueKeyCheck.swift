import TrellisForeignFiles
import TrellisModel

/// A unique key of an entity during the check of its rows: whether values of it that are different in the database may be equal
/// as values of objects, such as a date in two notations.
struct UniqueKeyCheck {
  /// An attribute or a reference of the entity, by its place among them.
  enum Part: Hashable {
    case attribute(Int)
    case reference(Int)
  }

  /// The value of a part: that of an attribute, or the row that a reference leads to.
  enum Value: Hashable {
    case stored(StoredValue)
    case row(RowIdentity)
  }

  let parts: [Part]
  /// The columns of the key in messages.
  let columns: String
  /// The part that may be nil, so that a value can be left out; nil if the row has to be left out.
  let optionalPart: Part?
  private let entity: AdoptedEntity
  /// The notation of the values of each part so far.
  private var notations: [Notation]
  /// Whether the rows have to be compared.
  private(set) var isAtRisk = false

  /// - Parameter names: The names of the properties.
  init?(_ names: [String], of entity: AdoptedEntity) {
    self.entity = entity
    var parts: [Part] = []
    var columns: [String] = []
    var optionalPart: Part?
    for name in names {
      if let place = entity.attributes.firstIndex(where: { $0.name == name }) {
        parts.append(.attribute(place))
        columns.append(entity.attributes[place].column)
        if !entity.attributes[place].isRequired { optionalPart = .attribute(place) }
      } else if let place = entity.references.firstIndex(where: { $0.name == name }) {
        parts.append(.reference(place))
        columns += entity.references[place].key.columns
        if !entity.references[place].isRequired { optionalPart = .reference(place) }
      }
    }
    guard !parts.isEmpty, parts.count == names.count else { return nil }
    self.parts = parts
    self.columns = columns.joined(separator: ", ")
    self.optionalPart = optionalPart
    notations = parts.map { _ in .any }
  }

  /// Takes notice of how a row is written.
  mutating func look(at row: SourceRow) {
    if isAtRisk { return }
    for (number, part) in parts.enumerated() {
      let notation: Notation
      switch part {
      case .attribute(let place):
        if row.values[place].isNull { continue }
        notation = entity.attributes[place].form.notation(of: row.values[place])
      case .reference(let place):
        guard let target = row.targets[place] else { continue }
        // A text may lead to the same row as another one, by the collation of the column there.
        if case .number = target { notation = .one(0) } else { notation = .several }
      }
      switch (notations[number], notation) {
      case (_, .any): break
      case (_, .several): isAtRisk = true
      case (.any, _): notations[number] = notation
      case (let known, _): if known != notation { isAtRisk = true }
      }
    }
  }
}
