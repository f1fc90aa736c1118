/// Reads a managed object model from the keyed archive that a store keeps as its model cache.
enum ModelArchiveReader {
  /// - Throws: ``ArchiveFault``.
  /// - Complexity: linear in the number of bytes, and in the properties times the keys of each.
  static func read(_ bytes: [UInt8]) throws(ArchiveFault) -> CoreDataModel {
    let archive = try KeyedArchive(bytes)
    guard let root = archive.root, root.className == "NSManagedObjectModel" else {
      throw ArchiveFault("it is no managed object model")
    }
    guard let entities = root["NSEntities"]?.entries else { throw ArchiveFault("it has no entities") }
    var reader = Reader()
    var model = CoreDataModel()
    for entry in entities {
      if let entity = try reader.entity(entry.value, named: entry.key.string) { model.entities.append(entity) }
    }
    // The order of a dictionary in an archive means nothing.
    model.entities.sort { $0.name < $1.name }
    let identifiers = root["NSVersionIdentifiers"]?.elements?.compactMap(\.string) ?? []
    model.versionIdentifier = identifiers.first.flatMap { $0.isEmpty ? nil : $0 }
    model.composites = reader.composites
    model.notes = reader.notes
    model.dropRepeatedProperties()
    return model
  }

  /// The names of subclasses of Core Data's own that a model cache may have.
  private enum ClassName {
    static let attributes: Set<String> = [
      "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription",
    ]
  }

  private struct Reader {
    var notes: [CoreDataNote] = []
    var composites: [CoreDataModel.Composite] = []
    private var compositeDepth = 0
    private var compositeBudget = 1_000

    // MARK: Entities

    mutating func entity(_ node: ArchiveNode, named key: String?) throws(ArchiveFault) -> CoreDataModel.Entity? {
      guard let name = node["NSEntityName"]?.string ?? key, !name.isEmpty else { return nil }
      var entity = CoreDataModel.Entity(name: name)
      entity.className = node["NSClassNameForEntity"]?.string.flatMap(Self.className)
      entity.isAbstract = node["NSIsAbstract"]?.bool ?? false
      entity.parent = node["NSSuperentity"]?["NSEntityName"]?.string
      entity.renamingIdentifier = node["NSRenamingIdentifier"]?.string
      entity.hashModifier = node["NSVersionHashModifier"]?.string
      entity.userInfo = userInfo(node)
      entity.uniqueness = (node["NSUniqueTuples"]?.elements ?? []).map { tuple in
        (tuple.elements ?? []).compactMap { $0.string ?? $0["NSPropertyName"]?.string }
      }.filter { !$0.isEmpty }
      let properties = (node["NSProperties"]?.entries ?? []).map { (name: $0.key.string ?? "", node: $0.value) }
        .sorted { $0.name < $1.name }
      for (name, property) in properties { try add(property, named: name, to: &entity) }
      addIndexes(node, to: &entity)
      return entity
    }

    static func className(_ text: String) -> String? {
      let name = text.split(separator: ".").last.map(String.init) ?? ""
      return name.isEmpty || name == "NSManagedObject" ? nil : name
    }

    private func userInfo(_ node: ArchiveNode) -> [(key: String, value: String)] {
      (node["NSUserInfo"]?.entries ?? []).compactMap { entry in
        guard let key = entry.key.string, let value = entry.value.string else { return nil }
        return (key, value)
      }.sorted { $0.key < $1.key }
    }

    // MARK: Properties

    private mutating func add(
      _ node: ArchiveNode, named key: String, to entity: inout CoreDataModel.Entity
    ) throws(ArchiveFault) {
      let name = node["NSPropertyName"]?.string ?? key
      // An inherited property stands in the entity that declares it.
      if let owner = node["NSEntity"]?["NSEntityName"]?.string, owner != entity.name { return }
      switch node.className {
      case "NSRelationshipDescription"?: entity.relationships.append(relationship(node, name))
      case "NSFetchedPropertyDescription"?:
        entity.fetchedProperties.append(CoreDataModel.FetchedProperty(name: name))
      case let className? where ClassName.attributes.contains(className):
        entity.attributes.append(attribute(node, name, className, of: entity.name))
      default:
        // The class of a property that is not known still names its parents.
        if node.classNames.contains("NSAttributeDescription") {
          entity.attributes.append(attribute(node, name, "NSAttributeDescription", of: entity.name))
        } else {
          notes.append(
            CoreDataNote(
              .leftOut, "\(entity.name).\(name)", "is of the class \(node.className ?? "none"), which is not known here"
            ))
        }
      }
    }

    private static let kinds: [Int64: CoreDataModel.AttributeKind] = [
      0: .undefined, 100: .integer16, 200: .integer32, 300: .integer64, 400: .decimal, 500: .double, 600: .float,
      700: .string, 800: .boolean, 900: .date, 1000: .binary, 1100: .uuid, 1200: .uri, 1800: .transformable,
      2000: .objectID,
    ]

    private mutating func attribute(
      _ node: ArchiveNode, _ name: String, _ className: String, of owner: String
    ) -> CoreDataModel.Attribute {
      let code = node["NSAttributeType"]?.integer ?? 0
      var attribute = CoreDataModel.Attribute(name: name, kind: Self.kinds[code] ?? .undefined)
      if code == 2100 || className == "NSCompositeAttributeDescription" {
        attribute.kind = .composite(addComposite(node, "\(owner).\(name)"))
      }
      attribute.isOptional = node["NSIsOptional"]?.bool ?? false
      attribute.isTransient = node["NSIsTransient"]?.bool ?? false
      if let value = node["NSDefaultValue"], !value.isNull { attribute.defaultValue = try? ArchivedValue(value) }
      attribute.valueTransformer = node["NSValueTransformerName"]?.string
      attribute.customClass = node["NSAttributeValueClassName"]?.string
      // Bit 2 of the flags: large values are in files.
      attribute.allowsExternalStorage = (node["NSFlagsKey"]?.integer ?? 0) & 4 != 0
      if className == "NSDerivedAttributeDescription" { attribute.derivation = "" }
      attribute.renamingIdentifier = node["NSRenamingIdentifier"]?.string
      attribute.hashModifier = node["NSVersionHashModifier"]?.string
      attribute.isIndexed = node["NSIsIndexed"]?.bool ?? false
      attribute.userInfo = userInfo(node)
      if (node["NSFlagsKey"]?.integer ?? 0) & 16 != 0 { attribute.otherOptions.append("preserveAfterDeletion") }
      if node["NSAllowsCloudEncryption"]?.bool == true { attribute.otherOptions.append("allowsCloudEncryption") }
      if node["NSIsIndexedBySpotlight"]?.bool == true { attribute.otherOptions.append("spotlightIndexingEnabled") }
      addRules(node, to: &attribute)
      return attribute
    }

    /// The composite with the attributes of a node, which stand in it as a list; returns its name.
    private mutating func addComposite(_ node: ArchiveNode, _ name: String) -> String {
      // An archive may contain itself.
      guard compositeDepth < 16, compositeBudget > 0 else { return name }
      compositeDepth += 1
      compositeBudget -= 1
      defer { compositeDepth -= 1 }
      let lists = node.keys.sorted().compactMap { node[$0]?.elements }
      let elements = lists.first { list in
        !list.isEmpty && list.allSatisfy { ClassName.attributes.contains($0.className ?? "") }
      }
      var composite = CoreDataModel.Composite(name: name)
      for element in elements ?? [] {
        let elementName = element["NSPropertyName"]?.string ?? ""
        composite.attributes.append(attribute(element, elementName, element.className ?? "", of: name))
      }
      composites.append(composite)
      return name
    }

    private func relationship(_ node: ArchiveNode, _ name: String) -> CoreDataModel.Relationship {
      let destination = node["NSDestinationEntity"]?["NSEntityName"]?.string ?? node["_NSDestinationEntityName"]?.string
      var relationship = CoreDataModel.Relationship(name: name, destination: destination ?? "")
      relationship.inverse =
        node["_NSInverseRelationshipName"]?.string ?? node["NSInverseRelationship"]?["NSPropertyName"]?.string
      relationship.isOptional = node["NSIsOptional"]?.bool ?? false
      relationship.isTransient = node["NSIsTransient"]?.bool ?? false
      relationship.isOrdered = node["NSIsOrdered"]?.bool ?? false
      relationship.minCount = Int(clamping: max(0, node["NSMinCount"]?.integer ?? 0))
      relationship.maxCount = Int(clamping: max(0, node["NSMaxCount"]?.integer ?? 0))
      relationship.isToMany = relationship.maxCount != 1
      switch node["NSDeleteRule"]?.integer ?? 0 {
      case 1: relationship.deleteRule = .nullify
      case 2: relationship.deleteRule = .cascade
      case 3: relationship.deleteRule = .deny
      default: relationship.deleteRule = .noAction
      }
      relationship.renamingIdentifier = node["NSRenamingIdentifier"]?.string
      relationship.hashModifier = node["NSVersionHashModifier"]?.string
      relationship.userInfo = userInfo(node)
      return relationship
    }

    // MARK: Rules

    /// The bounds of an attribute, which the archive has as predicates over the value: `SELF >= 1`, `length <= 20`,
    /// `SELF MATCHES '…'`.
    private mutating func addRules(_ node: ArchiveNode, to attribute: inout CoreDataModel.Attribute) {
      for predicate in node["NSValidationPredicates"]?.elements ?? [] {
        guard let left = predicate["NSLeftExpression"], let right = predicate["NSRightExpression"],
          let type = predicate["NSPredicateOperator"]?["NSOperatorType"]?.integer,
          let constant = right["NSConstantValue"], let value = try? ArchivedValue(constant), value != .null,
          Self.isValue(left) || Self.isLength(left, depth: 0)
        else {
          notes.append(
            CoreDataNote(.ignored, attribute.name, "has a validation predicate that is not a bound or a pattern"))
          continue
        }
        switch type {
        case 1: attribute.maximum = value
        case 3: attribute.minimum = value
        case 6: if case .text(let pattern) = value { attribute.pattern = pattern }
        default:
          notes.append(
            CoreDataNote(.ignored, attribute.name, "has a validation predicate that is not a bound or a pattern"))
        }
      }
    }

    private static func isValue(_ node: ArchiveNode) -> Bool {
      node["NSExpressionType"]?.integer == 1 || node.className == "NSSelfExpression"
    }

    private static func isLength(_ node: ArchiveNode, depth: Int) -> Bool {
      guard depth < 4 else { return false }
      for key in ["NSKeyPath", "NSOperand", "NSArguments"] {
        guard let value = node[key] else { continue }
        if value.string == "length" || value["NSKeyPath"]?.string == "length" { return true }
        if let first = value.elements?.first, isLength(first, depth: depth + 1) { return true }
      }
      return false
    }

    // MARK: Indexes

    private func addIndexes(_ node: ArchiveNode, to entity: inout CoreDataModel.Entity) {
      for index in node["NSFetchIndexDescriptions"]?.elements ?? [] {
        let elements = index["NSIndexElements"]?.elements ?? []
        entity.indexes.append(
          CoreDataModel.Index(
            name: index["NSIndexName"]?.string,
            elements: elements.map { element in
              CoreDataModel.Index.Element(
                property: element["NSIndexedProperty"] == nil ? element["NSPropertyName"]?.string : nil,
                expression: element["NSIndexedProperty"] == nil ? nil : "an expression",
                isDescending: element["NSAscending"]?.bool == false,
                isSpatial: element["NSFetchIndexElementType"]?.integer == 1)
            }, isPartial: index["NSPartialIndexPredicate"].map { !$0.isNull } ?? false))
      }
      guard entity.indexes.isEmpty else { return }
      for index in node["NSCompoundIndexes"]?.elements ?? [] {
        let names = (index.elements ?? []).compactMap(\.string)
        entity.indexes.append(
          CoreDataModel.Index(elements: names.map { CoreDataModel.Index.Element(property: $0) }))
      }
    }
  }
}

extension CoreDataModel {
  /// Drops the properties that an entity repeats from its ancestors, as some archives do.
  fileprivate mutating func dropRepeatedProperties() {
    for index in entities.indices {
      let inherited = lineage(of: entities[index].name).dropLast()
      let names = Set(inherited.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
      guard !names.isEmpty else { continue }
      entities[index].attributes.removeAll { names.contains($0.name) }
      entities[index].relationships.removeAll { names.contains($0.name) }
    }
  }
}
