import TrellisModel
import TrellisModelFile

/// Turns the composites of a Core Data model into those of a model file, each when an attribute first has it.
struct CompositeTranslation {
  /// A field that has a column of its own.
  struct Leaf {
    let source: CoreDataModel.Attribute
    /// The names on the way to the field, in Core Data and in the model.
    var path: [String]
    var names: [String]
    let description: AttributeDescription
  }

  /// A composite as an attribute has it.
  struct Used {
    let name: String
    let leaves: [Leaf]
    /// What became of the parts without a counterpart; empty if it was told before.
    var notes: [CoreDataNote] = []
  }

  /// The composites, those that others contain first.
  private(set) var descriptions: [CompositeDescription] = []

  private let sources: [String: CoreDataModel.Composite]
  private var known: [String: Used] = [:]
  /// The composites that are being translated, each of which contains the next one.
  private var open: [String] = []

  init(_ composites: [CoreDataModel.Composite]) {
    sources = Dictionary(composites.map { ($0.name, $0) }) { first, _ in first }
  }

  func knows(_ name: String) -> Bool { sources[name] != nil }

  /// - Parameters:
  ///   - taken: The names that types of the model have.
  ///   - hint: The type of a transformable field by the names on the way to it, if it is known.
  mutating func type(
    named name: String, besides taken: Set<String>, hint: (_ path: [String]) -> AttributeType?
  ) -> Used {
    if var used = known[name] {
      used.notes = []
      return used
    }
    open.append(name)
    defer { open.removeLast() }
    var composite = CompositeDescription(typeName(name, besides: taken))
    var leaves: [Leaf] = []
    var notes: [CoreDataNote] = []
    var namer = PropertyNamer(entity: composite.name, nil)
    for attribute in (sources[name]?.attributes ?? []).prefix(Limits.properties) {
      let subject = "\(name).\(attribute.name)"
      if attribute.derivation == nil, case .composite(let inner) = attribute.kind, knows(inner) {
        guard !open.contains(inner), open.count < ModelDescription.compositeDepth else {
          notes.append(CoreDataNote(.leftOut, subject, "is of the composite \(inner), which contains itself"))
          continue
        }
        let type = self.type(named: inner, besides: taken) { hint([attribute.name] + $0) }
        notes += type.notes
        guard !type.leaves.isEmpty else { continue }
        let named = namer.name([attribute.name])
        namer.take(named)
        composite.composites.append(
          CompositeAttributeDescription(
            named.name, type.name, optional: attribute.isOptional, position: composite.attributes.count,
            swiftName: named.swiftName))
        for var leaf in type.leaves {
          leaf.path.insert(attribute.name, at: 0)
          leaf.names.insert(named.name, at: 0)
          leaves.append(leaf)
        }
        continue
      }
      let named = namer.name([attribute.name])
      var plain = attribute
      plain.allowsExternalStorage = false
      let translation = AttributeTranslation(plain, name: named.name, hint: hint([attribute.name]))
      notes += translation.notes.map { CoreDataNote($0.outcome, subject, $0.message) }
      guard var field = translation.description else { continue }
      guard !field.isTransient else {
        notes.append(CoreDataNote(.leftOut, subject, "is a transient attribute of a composite; declare it in Swift"))
        continue
      }
      namer.take(named)
      field.swiftName = named.swiftName
      composite.attributes.append(field)
      leaves.append(Leaf(source: attribute, path: [attribute.name], names: [named.name], description: field))
    }
    let used = Used(name: composite.name, leaves: leaves, notes: notes)
    if !leaves.isEmpty { descriptions.append(composite) }
    known[name] = used
    return used
  }

  private func typeName(_ name: String, besides taken: Set<String>) -> String {
    let taken = taken.union(descriptions.map(\.name))
    var result = NameTranslation.typeName(name)
    while NameTranslation.isReservedType(result) || ReservedNames.shadowedTypes.contains(result)
      || taken.contains(result)
    {
      result += "Value"
    }
    return result
  }
}
