import TrellisModel
import TrellisModelFile

/// A Core Data model as the model of a model file, with the list of what has no counterpart, and with the names by which
/// a copy finds the stored data of each property.
struct ModelTranslation {
  /// The model.
  private(set) var description: ModelDescription
  /// What has no counterpart, and what became of it.
  private(set) var notes: [CoreDataNote] = []
  /// The entities in the order of the description.
  private(set) var entities: [TranslatedEntity] = []

  private let source: CoreDataModel
  private let hint: (_ entity: String, _ attribute: String) -> AttributeType?

  /// - Parameters:
  ///   - name: The name of the model.
  ///   - former: The earlier versions of the model, the oldest first. Their names become former names.
  ///   - hint: The type of a transformable attribute by the Core Data names of entity and attribute, if it is known.
  /// - Throws: ``CoreDataError`` with the code `invalidModel`.
  init(
    _ source: CoreDataModel, name: String, former: [CoreDataModel] = [],
    hint: @escaping (_ entity: String, _ attribute: String) -> AttributeType? = { _, _ in nil }
  ) throws(CoreDataError) {
    guard source.entities.count <= Limits.entities else {
      throw CoreDataError(
        .limit, "The model has \(source.entities.count) entities.", remedy: "Models have \(Limits.entities) at most.")
    }
    self.source = source
    self.hint = hint
    var modelName = NameTranslation.typeName(name)
    if ReservedNames.swiftWords.contains(modelName) { modelName += "Model" }
    description = ModelDescription(name: modelName, version: source.versionIdentifier)
    notes = source.notes
    nameEntities()
    try translateProperties()
    linkInverses()
    let formerNames = FormerNames(former)
    addFormerNames(formerNames)
    try addKeysAndIndexes()
    try addFetchRequests()
    noteRest()
  }

  private mutating func note(_ outcome: CoreDataNote.Outcome, _ subject: String, _ message: String) {
    notes.append(CoreDataNote(outcome, subject, message))
  }

  // MARK: Entities

  private mutating func nameEntities() {
    var taken: Set<String> = []
    var seen: Set<String> = []
    for entity in source.entities {
      guard seen.insert(entity.name).inserted else {
        note(.leftOut, entity.name, "is declared twice; the first one counts")
        continue
      }
      let name = NameTranslation.unused(NameTranslation.typeName(entity.name), besides: taken)
      taken.insert(name.lowercased())
      if name != entity.name {
        note(.changed, entity.name, "is called \(name), since names are words with a capital letter")
      }
      entities.append(TranslatedEntity(source: entity, name: name))
    }
    nameClasses()
    for index in entities.indices {
      var line = source.lineage(of: entities[index].source.name)
      if line.last?.name != entities[index].source.name { line = [] }
      if let parent = entities[index].source.parent {
        let isRoot = line.count < 2
        if isRoot {
          note(.changed, entities[index].source.name, "has no parent, since \(parent) is none of the model's")
        }
        entities[index].parent = isRoot ? nil : number(of: parent)
      }
    }
    breakCircles()
  }

  /// Gives each entity the name of its class in Swift, where it differs and can be used.
  private mutating func nameClasses() {
    let names = Set(entities.map(\.name))
    var uses: [String: Int] = [:]
    for entity in entities { uses[entity.source.className ?? "", default: 0] += 1 }
    var taken = names
    for index in entities.indices {
      let entity = entities[index]
      if let className = entity.source.className, className != entity.name {
        let isUsable =
          NameTranslation.isTypeName(className) && !NameTranslation.isReservedType(className)
          && uses[className] == 1 && !taken.contains(className) && !ReservedNames.shadowedTypes.contains(className)
        if isUsable {
          entities[index].swiftName = className
          taken.insert(className)
          continue
        }
        note(.changed, entity.source.name, "has the class \(className), which cannot be the name of its class in Swift")
      }
      guard NameTranslation.isReservedType(entity.name) else { continue }
      var swiftName = entity.name + "Entity"
      while taken.contains(swiftName) { swiftName += "_" }
      taken.insert(swiftName)
      entities[index].swiftName = swiftName
      note(
        .changed, entity.source.name,
        "is the class \(swiftName) in Swift, since \(entity.name) has another meaning there")
    }
  }

  /// Takes the parent of an entity away that would be its own ancestor.
  private mutating func breakCircles() {
    for index in entities.indices {
      var seen: Set<Int> = [index]
      var next = entities[index].parent
      while let current = next {
        guard seen.insert(current).inserted else {
          note(.changed, entities[index].source.name, "has no parent, since its parents form a circle")
          entities[index].parent = nil
          break
        }
        next = entities[current].parent
      }
    }
  }

  private func number(of entity: String) -> Int? { entities.firstIndex { $0.source.name == entity } }

  /// The entities with parents before children.
  private var parentsFirst: [Int] {
    var order: [Int] = []
    var open = entities.indices.filter { entities[$0].parent == nil }
    while !open.isEmpty {
      order += open
      let level = Set(open)
      open = entities.indices.filter { entities[$0].parent.map { level.contains($0) } ?? false }
    }
    return order
  }

  // MARK: Properties

  private mutating func translateProperties() throws(CoreDataError) {
    for number in parentsFirst {
      // What an entity inherits is declared once.
      var inherited: Set<String> = []
      var namer = PropertyNamer(entity: entities[number].name)
      var ancestor = entities[number].parent
      while let current = ancestor {
        inherited.formUnion(entities[current].sourceNames)
        namer.reserve(entities[current])
        ancestor = entities[current].parent
      }
      translateAttributes(of: number, inherited, &namer)
      translateRelationships(of: number, inherited, &namer)
    }
    description.entities = entities.map { entity in
      EntityDescription(
        entity.name, parent: entity.parent.map { entities[$0].name }, isAbstract: entity.source.isAbstract,
        attributes: entity.attributes.map(\.description), relationships: entity.relationships.map(\.description),
        swiftName: entity.swiftName, userInfo: UserInfo.entries(entity.source.userInfo))
    }
  }

  private mutating func translateAttributes(
    of number: Int, _ inherited: Set<String>, _ namer: inout PropertyNamer
  ) {
    let entity = entities[number].source
    var seen: Set<String> = []
    for attribute in entity.attributes {
      let subject = "\(entity.name).\(attribute.name)"
      guard seen.insert(attribute.name).inserted, !inherited.contains(attribute.name) else {
        note(.leftOut, subject, "is declared twice in its hierarchy; the topmost one counts")
        continue
      }
      if case .composite(let name) = attribute.kind, composite(named: name) != nil {
        note(.changed, subject, "is a composite; each of its attributes is one of the entity")
      }
      for leaf in leaves(of: attribute, depth: 0) { add(leaf, to: number, &namer) }
    }
  }

  private func composite(named name: String) -> CoreDataModel.Composite? {
    source.composites.first { $0.name == name }
  }

  /// The attribute itself, or the attributes that a composite consists of, with the names on the way to each.
  private func leaves(of attribute: CoreDataModel.Attribute, depth: Int) -> [(path: [String], CoreDataModel.Attribute)]
  {
    guard case .composite(let name) = attribute.kind, let composite = composite(named: name), depth < 8,
      attribute.derivation == nil
    else { return [([attribute.name], attribute)] }
    var leaves: [(path: [String], CoreDataModel.Attribute)] = []
    for element in composite.attributes.prefix(1_000) {
      guard leaves.count < 1_000 else { break }
      for leaf in self.leaves(of: element, depth: depth + 1) {
        var inner = leaf.1
        // Without the composite there is no value of a part of it.
        if attribute.isOptional {
          inner.isOptional = true
          inner.defaultValue = nil
        }
        if attribute.isTransient { inner.isTransient = true }
        leaves.append(([attribute.name] + leaf.path, inner))
      }
    }
    return leaves
  }

  private mutating func add(
    _ leaf: (path: [String], attribute: CoreDataModel.Attribute), to number: Int, _ namer: inout PropertyNamer
  ) {
    let entity = entities[number].source.name
    let subject = "\(entity).\(leaf.path.joined(separator: "."))"
    let named = namer.name(leaf.path)
    let translation = AttributeTranslation(
      leaf.attribute, name: named.name, hint: hint(entity, leaf.path.joined(separator: ".")))
    for note in translation.notes { self.note(note.outcome, subject, note.message) }
    guard var attribute = translation.description else { return }
    attribute.swiftName = named.swiftName
    noteName(named, of: leaf.path, subject)
    namer.take(named)
    entities[number].attributes.append(
      TranslatedAttribute(source: leaf.attribute, path: leaf.path, description: attribute))
  }

  private mutating func noteName(_ named: PropertyNamer.Name, of path: [String], _ subject: String) {
    if path.count == 1, named.name != path[0] {
      note(
        .changed, subject, "is called \(named.name), since names begin with a small letter and differ by more than case"
      )
    }
    if let swiftName = named.swiftName {
      note(.changed, subject, "is called \(swiftName) in Swift, since every class has \(named.name) already")
    }
  }

  private mutating func translateRelationships(
    of number: Int, _ inherited: Set<String>, _ namer: inout PropertyNamer
  ) {
    let entity = entities[number].source
    var seen: Set<String> = Set(entity.attributes.map(\.name))
    for relationship in entity.relationships {
      let subject = "\(entity.name).\(relationship.name)"
      guard seen.insert(relationship.name).inserted, !inherited.contains(relationship.name) else {
        note(.leftOut, subject, "is declared twice in its hierarchy; the topmost one counts")
        continue
      }
      guard let destination = self.number(of: relationship.destination) else {
        note(.leftOut, subject, "leads to \(relationship.destination), which is none of the model's entities")
        continue
      }
      let named = namer.name([relationship.name])
      namer.take(named)
      noteName(named, of: [relationship.name], subject)
      var result = RelationshipDescription(named.name, to: entities[destination].name, swiftName: named.swiftName)
      result.deleteRule = Self.rule(relationship.deleteRule)
      result.isToMany = relationship.isToMany
      result.isOptional = relationship.isOptional
      result.isTransient = relationship.isTransient
      result.userInfo = UserInfo.entries(relationship.userInfo)
      setCounts(of: &result, relationship, subject)
      if relationship.hashModifier != nil { note(.ignored, subject, "has a hash modifier, and there are no hashes") }
      for option in relationship.otherOptions { note(.ignored, subject, "has the option \(option)") }
      entities[number].relationships.append(
        TranslatedRelationship(source: relationship, destination: destination, description: result))
    }
  }

  private static func rule(_ rule: CoreDataModel.DeleteRule) -> DeleteRule {
    switch rule {
    case .noAction: .noAction
    case .nullify: .nullify
    case .cascade: .cascade
    case .deny: .deny
    }
  }

  private mutating func setCounts(
    of result: inout RelationshipDescription, _ relationship: CoreDataModel.Relationship, _ subject: String
  ) {
    guard relationship.isToMany else {
      if relationship.isOrdered { note(.ignored, subject, "is ordered, and leads to one object only") }
      return
    }
    result.isOrdered = relationship.isOrdered
    let most = relationship.maxCount
    // One that is not optional has a member at every save.
    let least = relationship.isOptional ? relationship.minCount : max(1, relationship.minCount)
    if most > 0, least > most {
      return note(.leftOut, subject, "must have at least \(least) and at most \(most) members, which no number is")
    }
    if least > 0, least <= Int(Int32.max) { result.minimumCount = least }
    if most > 0, most <= Int(Int32.max) { result.maximumCount = most }
  }

  // MARK: Inverses

  private mutating func linkInverses() {
    for number in entities.indices {
      for place in entities[number].relationships.indices {
        let relationship = entities[number].relationships[place]
        guard let name = relationship.source.inverse else { continue }
        let subject = "\(entities[number].source.name).\(relationship.source.name)"
        let other = entities[relationship.destination]
        guard let inverse = other.relationships.first(where: { $0.source.name == name }),
          inverse.destination == number, inverse.source.inverse == relationship.source.name
        else {
          note(
            .changed, subject,
            "has no inverse, since \(other.source.name).\(name) does not lead back from exactly there to exactly here")
          continue
        }
        guard inverse.description.isTransient == relationship.description.isTransient else {
          note(.changed, subject, "has no inverse, since one of the two is transient")
          continue
        }
        entities[number].relationships[place].description.inverse = inverse.description.name
        entities[number].relationships[place].hasInverse = true
      }
    }
    for number in entities.indices {
      description.entities[number].relationships = entities[number].relationships.map(\.description)
    }
  }

  // MARK: Former names

  private mutating func addFormerNames(_ former: FormerNames) {
    var claimed = ClaimedNames()
    for number in entities.indices {
      let entity = entities[number].source
      let name = entities[number].name
      let names = former.names(of: entity).map(NameTranslation.typeName)
      let kept = claimed.claim(names, for: name)
      description.entities[number].renamedFrom = kept
      if names.count > 0, kept.isEmpty, !names.allSatisfy({ $0 == name }) {
        note(.leftOut, entity.name, "has a renaming identifier that another entity has as well")
      }
      if entity.hashModifier != nil { note(.ignored, entity.name, "has a hash modifier, and there are no hashes") }
      addFormerNames(ofPropertiesOf: number, former)
    }
  }

  private mutating func addFormerNames(ofPropertiesOf number: Int, _ former: FormerNames) {
    let entity = entities[number].source
    var claimed = ClaimedNames()
    for (place, attribute) in entities[number].attributes.enumerated() where attribute.path.count == 1 {
      let names = former.names(of: attribute.source.name, attribute.source.renamingIdentifier, in: entity)
      description.entities[number].attributes[place].renamedFrom = claimed.claim(
        names.map(NameTranslation.propertyName), for: attribute.description.name)
    }
    for (place, relationship) in entities[number].relationships.enumerated() {
      let names = former.names(of: relationship.source.name, relationship.source.renamingIdentifier, in: entity)
      description.entities[number].relationships[place].renamedFrom = claimed.claim(
        names.map(NameTranslation.propertyName), for: relationship.description.name)
    }
  }

  // MARK: Keys and indexes

  private mutating func addKeysAndIndexes() throws(CoreDataError) {
    let model = try resolved()
    for number in entities.indices {
      let entity = entities[number].source
      var keys: [[String]] = []
      for names in entity.uniqueness {
        let subject = "\(entity.name), unique \(names.joined(separator: ", "))"
        var key: [String] = []
        for name in names {
          guard let column = columnName(name, of: number, model), column.isAttribute else {
            note(.leftOut, subject, "names \(name), which has no value of its own in the row; the key is left out")
            key = []
            break
          }
          if !key.contains(column.name) { key.append(column.name) }
        }
        if !key.isEmpty, !keys.contains(key) { keys.append(key) }
      }
      description.entities[number].uniqueKeys = keys
      description.entities[number].indexes = indexes(of: number, model)
    }
  }

  private mutating func indexes(of number: Int, _ model: Model) -> [IndexDescription] {
    let entity = entities[number].source
    var found: [IndexDescription] = []
    let single = entity.attributes.filter(\.isIndexed).map { attribute in
      CoreDataModel.Index(elements: [CoreDataModel.Index.Element(property: attribute.name)])
    }
    for index in entity.indexes + single {
      let subject =
        "\(entity.name), index \(index.name ?? index.elements.compactMap(\.property).joined(separator: ", "))"
      if index.isPartial { note(.changed, subject, "has a predicate; the index is of all rows") }
      var elements: [IndexDescription.Element] = []
      for element in index.elements {
        guard let name = element.property else {
          note(.leftOut, subject, "has the expression \(element.expression ?? "") as an element; it is left out")
          continue
        }
        guard !element.isSpatial else {
          note(.leftOut, subject, "is spatial in \(name), which is left out of it")
          continue
        }
        guard let column = columnName(name, of: number, model) else {
          note(.leftOut, subject, "names \(name), which is not in the row; it is left out")
          continue
        }
        if elements.contains(where: { $0.property == column.name }) { continue }
        elements.append(IndexDescription.Element(column.name, descending: element.isDescending))
      }
      let description = IndexDescription(elements)
      if !elements.isEmpty, !found.contains(description) { found.append(description) }
    }
    return found
  }

  /// The name of a stored property of an entity or of its ancestors that has a column of its own; nil for another one.
  private func columnName(_ name: String, of number: Int, _ model: Model) -> (name: String, isAttribute: Bool)? {
    var next: Int? = number
    while let current = next {
      let entity = entities[current]
      let attribute = entity.attributes.first { $0.path == [name] }?.description
      if attribute?.isExternal == true { return nil }
      let relationship = entity.relationships.first { $0.source.name == name }?.description
      if let found = attribute?.name ?? relationship?.name {
        let property = model.entities[number].property(named: found)
        return property?.column == nil ? nil : (found, attribute != nil)
      }
      next = entity.parent
    }
    return nil
  }

  private func resolved() throws(CoreDataError) -> Model {
    do throws(SchemaError) {
      return try Model(description)
    } catch {
      throw CoreDataError(
        .invalidModel, "The model contradicts itself: \(error.description).", remedy: "Correct the model in Xcode.")
    }
  }

  // MARK: Fetch requests

  private mutating func addFetchRequests() throws(CoreDataError) {
    guard !source.fetchRequests.isEmpty else { return }
    let model = try resolved()
    // Requests of ancestors come first, since a child may not repeat their names.
    for number in parentsFirst {
      let entity = entities[number]
      for template in source.fetchRequests where template.entity == entity.source.name {
        add(template, to: number, model)
      }
    }
    for template in source.fetchRequests where template.entity.flatMap({ self.number(of: $0) }) == nil {
      note(.leftOut, "the fetch request \(template.name)", "is of no entity of the model")
    }
  }

  private mutating func add(_ template: CoreDataModel.Template, to number: Int, _ model: Model) {
    let subject = "the fetch request \(template.name)"
    var taken: Set<String> = []
    for index in entities.indices where isRelated(index, number) {
      taken.formUnion(description.entities[index].fetchRequests.map { $0.name.lowercased() })
    }
    var name = NameTranslation.propertyName(template.name)
    if NameTranslation.isReservedMember(name) { name += "Request" }
    name = NameTranslation.unused(name, besides: taken)
    if let predicate = template.predicate {
      do throws(PredicateFormatError) {
        let checked = try CheckedFormat(predicate, of: number, in: model)
        guard checked.variables.allSatisfy({ Self.isUsable($0.name) }) else {
          return note(.leftOut, subject, "has a variable with a name that Swift cannot have: \(predicate)")
        }
      } catch {
        return note(.leftOut, subject, "has a predicate that is none here: \(predicate); \(error.message)")
      }
    }
    if name != template.name { note(.changed, subject, "is called \(name)") }
    for option in template.otherOptions { note(.ignored, subject, "has the option \(option)") }
    description.entities[number].fetchRequests.append(
      FetchRequestDescription(name, predicate: template.predicate, limit: template.limit))
  }

  private static func isUsable(_ variable: String) -> Bool {
    let isWord = variable.utf8.allSatisfy {
      $0 == UInt8(ascii: "_") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || ($0 | 32) >= 97 && ($0 | 32) <= 122
    }
    return isWord && variable.utf8.first.map { ($0 | 32) >= 97 && ($0 | 32) <= 122 } ?? false
      && variable.utf8.count <= 255 && !ReservedNames.swiftWords.contains(variable)
  }

  private func isRelated(_ first: Int, _ second: Int) -> Bool {
    let line: (Int) -> Set<Int> = { start in
      var line: Set<Int> = []
      var next: Int? = start
      while let current = next, line.insert(current).inserted { next = self.entities[current].parent }
      return line
    }
    return line(first).contains(second) || line(second).contains(first)
  }

  // MARK: The rest

  private mutating func noteRest() {
    for entity in source.entities {
      for property in entity.fetchedProperties {
        let predicate = property.predicate.map { ", with the predicate \($0)" } ?? ""
        let target = property.entity.map { " of \($0)" } ?? ""
        note(
          .leftOut, "\(entity.name).\(property.name)",
          "is a fetched property\(target)\(predicate); write a fetch request of the model")
      }
      if let expression = entity.spotlightExpression {
        note(.ignored, entity.name, "has the name \(expression) in Spotlight")
      }
    }
    for configuration in source.configurations {
      note(
        .ignored, "the configuration \(configuration.name)",
        "has \(configuration.entities.joined(separator: ", ")); a container has one store, with all entities")
    }
    if source.isForCloudKit { note(.ignored, description.name, "is used with CloudKit, which is not available") }
    for (key, count) in source.editorAttributes.sorted(by: { $0.key < $1.key }) {
      note(.ignored, description.name, "has \(key) at \(count) places, which only Xcode reads")
    }
  }
}

// MARK: - Translated parts

/// An entity with the names in the model file, and what they are called in Core Data.
struct TranslatedEntity {
  let source: CoreDataModel.Entity
  let name: String
  var swiftName: String?
  /// The number of the parent.
  var parent: Int?
  var attributes: [TranslatedAttribute] = []
  var relationships: [TranslatedRelationship] = []

  fileprivate var sourceNames: [String] {
    source.attributes.map(\.name) + source.relationships.map(\.name)
  }
}

/// An attribute, or one of those that a composite consists of.
struct TranslatedAttribute {
  let source: CoreDataModel.Attribute
  /// The name in Core Data; of a part of a composite, the names on the way to it.
  let path: [String]
  let description: AttributeDescription
}

struct TranslatedRelationship {
  let source: CoreDataModel.Relationship
  /// The number of the entity at the other end.
  let destination: Int
  var description: RelationshipDescription
  /// Whether the inverse is one here as well.
  var hasInverse = false
}

// MARK: - Property namer

/// Finds names for the properties of one entity that differ from those of its ancestors.
struct PropertyNamer {
  struct Name {
    let name: String
    /// The name in Swift where it has to differ.
    let swiftName: String?
  }

  private let entity: String
  private var names: Set<String> = []
  private var swiftNames: Set<String> = []

  init(entity: String) { self.entity = entity }

  /// Takes the names of an ancestor.
  mutating func reserve(_ ancestor: TranslatedEntity) {
    for attribute in ancestor.attributes { take(attribute.description.name, attribute.description.swiftName) }
    for relationship in ancestor.relationships {
      take(relationship.description.name, relationship.description.swiftName)
    }
  }

  mutating func take(_ name: Name) { take(name.name, name.swiftName) }

  private mutating func take(_ name: String, _ swiftName: String?) {
    names.insert(name.lowercased())
    swiftNames.insert((swiftName ?? name).lowercased())
  }

  /// A name for a property, or for the part of a composite at the end of a path.
  func name(_ path: [String]) -> Name {
    let words = path.map(NameTranslation.propertyName)
    let joined =
      (words.first ?? "property") + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    let taken = names.union(swiftNames)
    let name = NameTranslation.unused(String(joined.prefix(240)), besides: taken)
    guard NameTranslation.isReservedMember(name) else { return Name(name: name, swiftName: nil) }
    let start = NameTranslation.lowerCamel(entity)
    let swiftName = String(start.prefix(100)) + name.prefix(1).uppercased() + name.dropFirst()
    return Name(name: name, swiftName: NameTranslation.unused(swiftName, besides: taken.union([name.lowercased()])))
  }
}

// MARK: - Former names

/// The names that entities and properties have had in earlier versions, by their renaming identifiers.
private struct FormerNames {
  /// The earlier versions, the newest first.
  private let versions: [CoreDataModel]

  init(_ former: [CoreDataModel]) { versions = former.reversed() }

  func names(of entity: CoreDataModel.Entity) -> [String] {
    let identity = entity.renamingIdentifier ?? entity.name
    let earlier = versions.compactMap { version in same(entity, in: version)?.name }
    return Self.distinct(earlier + [identity], besides: entity.name)
  }

  func names(of name: String, _ identifier: String?, in entity: CoreDataModel.Entity) -> [String] {
    let identity = identifier ?? name
    var earlier: [String] = []
    for version in versions {
      guard let former = same(entity, in: version) else { continue }
      earlier += former.attributes.filter { ($0.renamingIdentifier ?? $0.name) == identity }.map(\.name)
      earlier += former.relationships.filter { ($0.renamingIdentifier ?? $0.name) == identity }.map(\.name)
    }
    return Self.distinct(earlier + [identity], besides: name)
  }

  private func same(_ entity: CoreDataModel.Entity, in version: CoreDataModel) -> CoreDataModel.Entity? {
    let identity = entity.renamingIdentifier ?? entity.name
    return version.entities.first { ($0.renamingIdentifier ?? $0.name) == identity }
  }

  private static func distinct(_ names: [String], besides name: String) -> [String] {
    var known: Set<String> = [name, ""]
    return names.filter { known.insert($0).inserted }
  }
}

/// The former names that are claimed already, since each belongs to one thing.
private struct ClaimedNames {
  private var claimed: Set<String> = []

  mutating func claim(_ names: [String], for name: String) -> [String] {
    names.filter { $0 != name && claimed.insert($0).inserted }
  }
}
