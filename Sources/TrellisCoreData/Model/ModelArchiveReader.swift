import TrellisModel
import TrellisModelFile

/// Reads a managed object model from the keyed archive that a store keeps as its model cache.
///
/// The releases of Core Data archive the same contents under other classes, so an object is known by its keys and by the
/// classes that its own one inherits from.
enum ModelArchiveReader {
  /// - Throws: ``ArchiveFault``.
  /// - Complexity: linear in the number of bytes, and in the properties times the keys of each.
  static func read(_ bytes: [UInt8]) throws(ArchiveFault) -> CoreDataModel {
    let archive = try KeyedArchive(bytes)
    guard let root = archive.root, let container = root["NSEntities"] else {
      throw ArchiveFault("it is no managed object model")
    }
    guard let entities = container.entries?.map(\.value) ?? container.elements else {
      throw ArchiveFault("it has no entities")
    }
    var reader = Reader()
    var model = CoreDataModel()
    model.entities = reader.entities(entities)
    let identifiers = root["NSVersionIdentifiers"]?.elements?.compactMap(\.string) ?? []
    model.versionIdentifier = identifiers.first { !$0.isEmpty }
    model.composites = reader.composites
    for (name, _) in root["NSFetchRequestTemplates"]?.entries ?? [] {
      reader.note(.leftOut, "the fetch request \(name.string ?? "")", "is not copied from a store; import the model")
    }
    for (name, members) in root["NSConfigurations"]?.entries ?? [] {
      let names = (members.elements ?? []).compactMap { $0.string ?? $0["NSEntityName"]?.string }
      model.configurations.append(CoreDataModel.Configuration(name: name.string ?? "", entities: names.sorted()))
    }
    model.notes = reader.notes + reader.classNotes
    return model
  }

  private struct Reader {
    private(set) var notes: [CoreDataNote] = []
    private(set) var composites: [CoreDataModel.Composite] = []
    private var compositeDepth = 0
    private var compositeBudget = 1_000
    /// The properties of classes that are not known, by the name of the class.
    private var unknown: [String: (outcome: CoreDataNote.Outcome, places: [String])] = [:]

    mutating func note(_ outcome: CoreDataNote.Outcome, _ subject: String, _ message: String) {
      notes.append(CoreDataNote(outcome, subject, message))
    }

    // MARK: Entities

    /// The entities in the order of their names, since that of a dictionary in an archive means nothing.
    mutating func entities(_ nodes: [ArchiveNode]) -> [CoreDataModel.Entity] {
      var numbers: [String: Int] = [:]
      var named: [(name: String, node: ArchiveNode)] = []
      for node in nodes {
        guard let name = node["NSEntityName"]?.string, !name.isEmpty, numbers[name] == nil else { continue }
        numbers[name] = named.count
        named.append((name, node))
      }
      // An entity archives the properties of its ancestors as well.
      var properties: [Set<String>?] = named.map { _ in nil }
      var found: [CoreDataModel.Entity] = []
      for start in named.indices {
        var line: [Int] = []
        var next: Int? = start
        while let current = next, properties[current] == nil, !line.contains(current), line.count <= Limits.ancestors {
          line.append(current)
          next = named[current].node["NSSuperentity"]?["NSEntityName"]?.string.flatMap { numbers[$0] }
        }
        for number in line.reversed() {
          let parent = named[number].node["NSSuperentity"]?["NSEntityName"]?.string.flatMap { numbers[$0] }
          var names = parent.flatMap { properties[$0] } ?? []
          found.append(entity(named[number].node, named[number].name, besides: &names))
          properties[number] = names
        }
      }
      return found.sorted { $0.name < $1.name }
    }

    /// - Parameter inherited: The names of the properties of the ancestors, to which those of the entity are added.
    private mutating func entity(
      _ node: ArchiveNode, _ name: String, besides inherited: inout Set<String>
    ) -> CoreDataModel.Entity {
      var entity = CoreDataModel.Entity(name: name)
      entity.className = node["NSClassNameForEntity"]?.string.flatMap(Self.className)
      entity.isAbstract = node["NSIsAbstract"]?.bool ?? false
      entity.parent = node["NSSuperentity"]?["NSEntityName"]?.string
      entity.renamingIdentifier = node["NSRenamingIdentifier"]?.string
      entity.hashModifier = node["NSVersionHashModifier"]?.string
      entity.userInfo = userInfo(node)
      if let expression = node["NSCoreSpotlightDisplayName"], !expression.isNull {
        entity.spotlightExpression = expression.string ?? "of an expression"
      }
      entity.uniqueness = (node["NSUniqueTuples"]?.elements ?? []).map { tuple in
        (tuple.elements ?? []).compactMap { $0.string ?? $0["NSPropertyName"]?.string }
      }.filter { !$0.isEmpty }
      let container = node["NSProperties"]
      let listed = container?.entries?.map { (name: $0.key.string, node: $0.value) }
      let properties = listed ?? (container?.elements ?? []).map { (name: nil, node: $0) }
      var own: [(name: String, node: ArchiveNode)] = []
      for (key, property) in properties {
        let property = Self.underlying(property)
        let name = property["NSPropertyName"]?.string ?? key ?? ""
        if inherited.insert(name).inserted { own.append((name, property)) }
      }
      for (name, property) in own.sorted(by: { $0.name < $1.name }) { add(property, named: name, to: &entity) }
      addIndexes(node, to: &entity)
      return entity
    }

    /// The property that an inherited one stands for, if it is archived as that.
    private static func underlying(_ node: ArchiveNode) -> ArchiveNode {
      var node = node
      for _ in 0..<Limits.ancestors {
        guard let next = node["NSUnderlyingProperty"], !next.isNull else { break }
        node = next
      }
      return node
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

    private mutating func add(_ node: ArchiveNode, named name: String, to entity: inout CoreDataModel.Entity) {
      let place = "\(entity.name).\(name)"
      if node.isKind(of: "NSRelationshipDescription") {
        entity.relationships.append(relationship(node, name))
      } else if node.isKind(of: "NSFetchedPropertyDescription") {
        let target = node["_NSFetchRequestEntityName"]?.string
        entity.fetchedProperties.append(CoreDataModel.FetchedProperty(name: name, entity: target))
      } else if node.isKind(of: "NSExpressionDescription") {
        note(.leftOut, place, "is an expression; compute it in a predicate or in Swift")
      } else if node.isKind(of: "NSAttributeDescription") {
        entity.attributes.append(attribute(node, name, in: entity.name))
      } else if node["NSAttributeType"]?.integer != nil {
        noteClass(of: node, .ignored, place)
        entity.attributes.append(attribute(node, name, in: entity.name))
      } else if node["_NSDestinationEntityName"]?.string != nil || node["NSDestinationEntity"] != nil {
        noteClass(of: node, .ignored, place)
        entity.relationships.append(relationship(node, name))
      } else {
        noteClass(of: node, .leftOut, place)
      }
    }

    private mutating func noteClass(of node: ArchiveNode, _ outcome: CoreDataNote.Outcome, _ place: String) {
      unknown["\(node.className ?? "none") \(outcome)", default: (outcome, [])].places.append(place)
    }

    /// A note for each class that is not known, with its properties.
    var classNotes: [CoreDataNote] {
      unknown.sorted { $0.key < $1.key }.map { key, found in
        let name = key.split(separator: " ")[0]
        let places = found.places.prefix(10).joined(separator: ", ") + (found.places.count > 10 ? ", …" : "")
        let what = found.outcome == .ignored ? "read by its contents" : "left out"
        return CoreDataNote(
          found.outcome, "the class \(name)", "is not known here; what is of it was \(what): \(places)")
      }
    }

    private static let kinds: [Int64: CoreDataModel.AttributeKind] = [
      0: .undefined, 100: .integer16, 200: .integer32, 300: .integer64, 400: .decimal, 500: .double, 600: .float,
      700: .string, 800: .boolean, 900: .date, 1000: .binary, 1100: .uuid, 1200: .uri, 1800: .transformable,
      2000: .objectID,
    ]

    private mutating func attribute(
      _ node: ArchiveNode, _ name: String, in owner: String
    ) -> CoreDataModel.Attribute {
      let place = "\(owner).\(name)"
      let code = node["NSAttributeType"]?.integer ?? 0
      var attribute = CoreDataModel.Attribute(name: name, kind: Self.kinds[code] ?? .undefined)
      if code == 2100 || node["NSCompositeElements"] != nil {
        attribute.kind = .composite(addComposite(node, owner + name.prefix(1).uppercased() + name.dropFirst()))
      } else if Self.kinds[code] == nil {
        note(.leftOut, place, "has the type \(code), which is not known here")
      }
      attribute.isOptional = flag(2, "NSIsOptional", of: node)
      attribute.isTransient = flag(8, "NSIsTransient", of: node)
      if let value = node["NSDefaultValue"], !value.isNull { addDefault(value, to: &attribute, place) }
      attribute.valueTransformer = node["NSValueTransformerName"]?.string
      attribute.customClass = node["NSAttributeValueClassName"]?.string
      let options = node["NSFlagsKey"]?.integer ?? 0
      attribute.allowsExternalStorage = options & 4 != 0
      if node.isKind(of: "NSDerivedAttributeDescription") || node["NSDerivationExpression"] != nil {
        attribute.derivation = ""
      }
      attribute.renamingIdentifier = node["NSRenamingIdentifier"]?.string
      attribute.hashModifier = node["NSVersionHashModifier"]?.string
      attribute.isIndexed = node["NSIsIndexed"]?.bool ?? false
      attribute.userInfo = userInfo(node)
      if options & 16 != 0 { attribute.otherOptions.append("preserveAfterDeletion") }
      if flag(0x800, "NSAllowsCloudEncryption", of: node) { attribute.otherOptions.append("allowsCloudEncryption") }
      if flag(0x100, "NSIndexedBySpotlight", of: node) { attribute.otherOptions.append("spotlightIndexingEnabled") }
      if flag(0x200, "NSIsStoredInTruth", of: node) { attribute.otherOptions.append("storedInTruthFile") }
      addRules(node, to: &attribute, place)
      return attribute
    }

    /// A flag of a property, which is archived by its key and as a bit of a number.
    private func flag(_ bit: Int64, _ key: String, of node: ArchiveNode) -> Bool {
      node[key]?.bool ?? ((node["_P"]?.integer ?? 0) & bit != 0)
    }

    private mutating func addDefault(
      _ node: ArchiveNode, to attribute: inout CoreDataModel.Attribute, _ place: String
    ) {
      do throws(ArchiveFault) {
        attribute.defaultValue = try ArchivedValue(node)
      } catch {
        note(.leftOut, place, "has a default that cannot be read: \(error.reason)")
      }
    }

    /// The composite with the attributes of a node, which stand in it as a list; returns its name.
    private mutating func addComposite(_ node: ArchiveNode, _ name: String) -> String {
      // An archive may contain itself.
      guard compositeDepth < 16, compositeBudget > 0 else { return name }
      compositeDepth += 1
      compositeBudget -= 1
      defer { compositeDepth -= 1 }
      var composite = CoreDataModel.Composite(name: name)
      for element in node["NSCompositeElements"]?.elements ?? [] {
        composite.attributes.append(attribute(element, element["NSPropertyName"]?.string ?? "", in: name))
      }
      composites.append(composite)
      return name
    }

    private func relationship(_ node: ArchiveNode, _ name: String) -> CoreDataModel.Relationship {
      let destination = node["NSDestinationEntity"]?["NSEntityName"]?.string ?? node["_NSDestinationEntityName"]?.string
      var relationship = CoreDataModel.Relationship(name: name, destination: destination ?? "")
      relationship.inverse =
        node["_NSInverseRelationshipName"]?.string ?? node["NSInverseRelationship"]?["NSPropertyName"]?.string
      relationship.isOptional = flag(2, "NSIsOptional", of: node)
      relationship.isTransient = flag(8, "NSIsTransient", of: node)
      relationship.isOrdered = flag(0x400, "NSIsOrdered", of: node)
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
      relationship.isIndexed = node["NSIsIndexed"]?.bool ?? false
      relationship.userInfo = userInfo(node)
      return relationship
    }

    // MARK: Rules

    /// The bounds of an attribute, which the archive has as predicates over the value: `SELF >= 1`, `length <= 20`,
    /// `SELF MATCHES '…'`. Old releases of Core Data archived bounds as numbers, with a flag for each.
    private mutating func addRules(_ node: ArchiveNode, to attribute: inout CoreDataModel.Attribute, _ place: String) {
      let options = node["NSFlagsKey"]?.integer ?? 0
      if options & 1 != 0 { attribute.maximum = bound(node["NSMaxValueName"], attribute.kind) }
      if options & 2 != 0 { attribute.minimum = bound(node["NSMinValueName"], attribute.kind) }
      for predicate in node["NSValidationPredicates"]?.elements ?? [] {
        let type = predicate["NSPredicateOperator"]?["NSOperatorType"]?.integer
        guard let left = predicate["NSLeftExpression"], Self.isValue(left) || Self.isLength(left, depth: 0),
          let constant = predicate["NSRightExpression"]?["NSConstantValue"], let value = try? ArchivedValue(constant)
        else {
          note(.ignored, place, "has a validation predicate that is not a bound or a pattern")
          continue
        }
        switch (type, value) {
        case (1?, let value) where value != .null: attribute.maximum = value
        case (3?, let value) where value != .null: attribute.minimum = value
        case (6?, .text(let pattern)): attribute.pattern = pattern
        default: note(.ignored, place, "has a validation predicate that is not a bound or a pattern")
        }
      }
    }

    private func bound(_ node: ArchiveNode?, _ kind: CoreDataModel.AttributeKind) -> ArchivedValue? {
      guard let node, let value = try? ArchivedValue(node) else { return nil }
      if kind == .date, let seconds = value.number { return .date(seconds) }
      return value
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

    private static func isExpression(_ element: ArchiveNode) -> Bool {
      element["NSIndexedProperty"].map { !$0.isNull && !$0.isKind(of: "NSAttributeDescription") } ?? false
    }

    private func addIndexes(_ node: ArchiveNode, to entity: inout CoreDataModel.Entity) {
      for index in node["NSFetchIndexDescriptions"]?.elements ?? [] {
        let elements = index["NSIndexElements"]?.elements ?? []
        entity.indexes.append(
          CoreDataModel.Index(
            name: index["NSIndexName"]?.string,
            elements: elements.map { element in
              CoreDataModel.Index.Element(
                property: Self.isExpression(element) ? nil : element["NSPropertyName"]?.string,
                expression: Self.isExpression(element) ? "an expression" : nil,
                isDescending: element["NSAscending"]?.bool == false,
                isSpatial: element["NSFetchIndexElementType"]?.integer == 1)
            }, isPartial: index["NSPartialIndexPredicate"].map { !$0.isNull } ?? false))
      }
      // The releases that brought these did not archive the names in them yet.
      let isNamed = entity.indexes.allSatisfy { $0.elements.allSatisfy { $0.property != nil || $0.expression != nil } }
      if isNamed, !entity.indexes.isEmpty { return }
      entity.indexes = []
      for index in node["NSCompoundIndexes"]?.elements ?? [] {
        let names = (index.elements ?? []).compactMap(\.string)
        entity.indexes.append(
          CoreDataModel.Index(elements: names.map { CoreDataModel.Index.Element(property: $0) }))
      }
    }
  }
}
