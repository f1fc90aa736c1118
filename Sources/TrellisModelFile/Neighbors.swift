import TrellisModel

extension ModelFile {
  /// Another model of the same target. Swift declares the types of both in one module.
  public struct Neighbor: Sendable {
    let fileName: String
    /// The lowercased name of the model, because models become members of `ObjectModel`.
    let model: String
    /// The kinds of the types that the model generates, by name. `Codable` types are declared by the app, so two models
    /// may share one.
    let made: [String: String]
    let codableTypes: Set<String>

    /// Reads the names of a model file; nil if the file is no model, which is reported when that file itself is
    /// generated.
    public init?(_ bytes: [UInt8], path: String) {
      let findings = Findings()
      guard
        let draft = bytes.withUnsafeBufferPointer({ bytes in
          var reader = JSONReader(bytes, findings)
          return reader.readFile().flatMap { GrammarReader(findings).readModel($0) }
        })
      else { return nil }
      fileName = String(path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? "")
      model = draft.name.value.lowercased()
      let names =
        draft.entities.map { ($0.className.value, "entity") } + draft.enums.map { ($0.name.value, "enum") }
        + draft.composites.map { ($0.name.value, "composite") }
      made = Dictionary(names) { first, _ in first }
      codableTypes = Set(draft.codableTypes.map(\.value) + draft.scalars.map(\.name.value))
    }
  }
}

/// Checks that the models of one target generate different types and have different names.
enum NeighborClashes {
  static func check(_ draft: Draft, besides neighbors: [ModelFile.Neighbor], _ findings: Findings) {
    for neighbor in neighbors {
      if draft.name.value.lowercased() == neighbor.model {
        findings.error(
          .nameClash, at: draft.name.offset,
          "Model '\(draft.name.value)' has the name of the model in '\(neighbor.fileName)'; models of one target need different names."
        )
      }
      let made =
        draft.entities.map { ("Entity", $0.className) } + draft.enums.map { ("Enum", $0.name) }
        + draft.composites.map { ("Composite", $0.name) }
      for (thing, name) in made {
        let other = neighbor.made[name.value] ?? (neighbor.codableTypes.contains(name.value) ? "Codable type" : nil)
        if let other { report(thing, name, other, neighbor, findings) }
      }
      for name in draft.codableTypes + draft.scalars.map(\.name) {
        if let other = neighbor.made[name.value] { report("Codable type", name, other, neighbor, findings) }
      }
    }
  }

  private static func report(
    _ thing: String, _ name: Located<String>, _ other: String, _ neighbor: ModelFile.Neighbor, _ findings: Findings
  ) {
    findings.error(
      .nameClash, at: name.offset,
      "\(thing) '\(name.value)' has the name of \(other) '\(name.value)' in '\(neighbor.fileName)'; types of one target need "
        + "different names, so rename one, or move a model to a target of its own.")
  }
}
