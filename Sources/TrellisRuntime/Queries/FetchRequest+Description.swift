import TrellisQuery
import TrellisSchema

extension FetchRequest: CustomStringConvertible {
  /// The request in readable form, with its conditions as a format and their values: `EmotionDiary where mood == 'sad'
  /// sorted by -createdAt limit 5`.
  ///
  /// The names come from the model, which is known after a container has been opened with it. Before that, conditions
  /// and sort keys are shown as `…`.
  public var description: String {
    let names = RequestNames(Columns.Object.self)
    var parts = ["\(Columns.Object.self)"]
    if let condition { parts.append("where " + condition.text(names.text)) }
    let keys = sort.map(names.text) + sortNames
    if !keys.isEmpty { parts.append("sorted by " + keys.joined(separator: ", ")) }
    if let maximum { parts.append("limit \(maximum)") }
    if skipped > 0 { parts.append("offset \(skipped)") }
    if !includesSubentities { parts.append("without subentities") }
    if !seesPendingChanges { parts.append("stored only") }
    return parts.joined(separator: " ")
  }
}

/// The names of a request's entity and properties.
private struct RequestNames {
  let model: Model?
  let entity: Int

  init(_ type: ManagedObject.Type) {
    entity = type._entity
    let known = KnownModels.model(of: type)
    model = known.flatMap { $0.entities.indices.contains(type._entity) ? $0 : nil }
  }

  func text(of predicate: QueryPredicate) -> String {
    model.flatMap { try? predicate.formatText(of: entity, in: $0) } ?? "…"
  }

  func text(of key: SortKey) -> String {
    guard let model else { return "…" }
    let name = model.name(of: key.path.steps, from: entity).split(separator: ".").dropFirst().joined(separator: ".")
    let letters = [(TextOptions.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n")]
    let options = letters.filter { key.options.contains($0.0) }.map(\.1).joined()
    let shown = key.query == nil ? name : "rank of \(name)"
    return (key.isDescending ? "-" : "") + shown + (options.isEmpty ? "" : "[\(options)]")
  }
}

/// The models of this process by class, because a request knows only its class and is printed with names.
enum KnownModels {
  private static let descriptions = Locked<[ObjectIdentifier: ModelDescription]>([:])

  static func note(_ types: [ManagedObject.Type], of description: ModelDescription) {
    descriptions.withLock { known in
      for type in types { known[ObjectIdentifier(type)] = description }
    }
  }

  static func model(of type: ManagedObject.Type) -> Model? {
    descriptions.withLock { $0[ObjectIdentifier(type)] }.flatMap { try? Model($0) }
  }
}
