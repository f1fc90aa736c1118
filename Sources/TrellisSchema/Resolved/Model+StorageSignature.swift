extension Model {
  /// The facts that a store's content depends on, one per line, sorted. Models with equal signatures can open each
  /// other's stores.
  ///
  /// The facts are names, types, optionality, the shapes and homes of relationships, parents, uniqueness, and enum raw
  /// types. Defaults, rules, docs and delete rules are no facts, except for `noAction`, because its references have no
  /// foreign key.
  ///
  /// ```
  /// attribute Tag.name: string, required
  /// entity Tag
  /// relationship Tag.diaries: to many EmotionDiary, inverse tags, in table _EmotionDiary_tags
  /// unique Tag: name
  /// ```
  ///
  /// - Complexity: n log n in the number of declared properties.
  public var storageSignature: String {
    var lines = description.enums.map { "enum \($0.name): \($0.rawType.rawValue)" }
    for entity in entities {
      lines.append("entity \(entity.name)" + (entity.parent.map { ": child of \(entities[$0].name)" } ?? ""))
      for property in entity.properties { lines += signatureLine(property, of: entity) }
      for key in entity.uniqueKeys where key.entity == entity.index {
        lines.append(
          "unique \(entity.name): " + key.properties.map { entity.properties[$0].name }.joined(separator: ", "))
      }
    }
    return lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "\n")
  }

  /// The line of a property, if the entity itself declares it and stores it.
  private func signatureLine(_ property: Property, of entity: Entity) -> [String] {
    switch property {
    case .attribute(let attribute):
      guard attribute.entity == entity.index, !attribute.description.isTransient else { return [] }
      let external = attribute.description.isExternal ? ", external" : ""
      return [
        "attribute \(entity.name).\(attribute.name): \(attribute.type.spelling), "
          + (attribute.isOptional ? "optional" : "required") + external
      ]
    case .relationship(let relationship):
      guard relationship.entity == entity.index, relationship.home != .transient else { return [] }
      return [signatureLine(relationship, of: entity)]
    }
  }

  private func signatureLine(_ relationship: Relationship, of entity: Entity) -> String {
    let count = relationship.isToMany ? "to many" : "to one"
    var parts = ["relationship \(entity.name).\(relationship.name): \(count) \(relationship.description.destination)"]
    if relationship.isOrdered { parts.append("ordered") }
    parts.append(relationship.description.inverse.map { "inverse \($0)" } ?? "one-way")
    if relationship.isRequired { parts.append("required") }
    if relationship.deleteRule == .noAction { parts.append("no foreign key") }
    switch relationship.home {
    case .column(_, let order): parts.append(order == nil ? "in its row" : "in its row with its place")
    case .inverseColumn: parts.append("in the row of its inverse")
    case .joinTable(let table, _): parts.append("in table \(joinTables[table].name)")
    case .transient: break
    }
    return parts.joined(separator: ", ")
  }

  /// The differences between two signatures, one sentence per fact, for the error that refuses to open a store.
  ///
  /// - Parameters:
  ///   - stored: the signature of the model that wrote the store.
  ///   - current: the signature of the app's model.
  /// - Complexity: n log n in the number of lines.
  public static func differences(from stored: String, to current: String) -> [String] {
    let old = facts(stored)
    let new = facts(current)
    return Set(old.keys).union(new.keys).sorted().compactMap { subject in
      let was = old[subject, default: []]
      let isNow = new[subject, default: []]
      if was == isNow { return nil }
      if was.isEmpty { return "\(subject) is new\(isNow.shown)" }
      if isNow.isEmpty { return "\(subject) is gone\(was.shown)" }
      return "\(subject) was (\(was.joined(separator: "; "))) and is now (\(isNow.joined(separator: "; ")))"
    }
  }

  /// The facts, grouped by subject such as `attribute Tag.name`.
  private static func facts(_ signature: String) -> [String: [String]] {
    var facts: [String: [String]] = [:]
    for line in signature.split(separator: "\n") {
      let colon = line.firstIndex(of: ":")
      let fact = colon.map { String(line[line.index(after: $0)...].drop { $0 == " " }) } ?? ""
      facts[String(line[..<(colon ?? line.endIndex)]), default: []].append(fact)
    }
    return facts
  }
}

extension [String] {
  /// The facts in parentheses; empty if all facts are empty.
  fileprivate var shown: String {
    let text = filter { !$0.isEmpty }.joined(separator: "; ")
    return text.isEmpty ? "" : " (\(text))"
  }
}
