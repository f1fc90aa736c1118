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
  /// The numbers of the entities, by their names in Core Data.
  private var numbers: [String: Int] = [:]
  /// The to-manys that are not optional in Core Data.
  private var mayBeEmpty: [String] = []
  private var composites: CompositeTranslation
  /// The names of the derived attributes with a known expression, by the number of the entity and their place in it.
  private var derivedNames: [DerivedSource] = []
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
    self.source = source
    self.hint = hint
    composites = CompositeTranslation(source.composites)
    var modelName = NameTranslation.typeName(name)
    if ReservedNames.swiftWords.contains(modelName) { modelName += "Model" }
    description = ModelDescription(name: modelName, version: source.versionIdentifier)
    notes = source.notes
    try checkNumberOfEntities()
    nameEntities()
    try checkHierarchies()
    try translateProperties()
    linkInverses()
    try addDerivedAttributes()
    let formerNames = FormerNames(former)
    addFormerNames(formerNames)
    try addKeysAndIndexes()
    try addFetchRequests()
    noteRest()
  }

  private mutating func note(_ outcome: CoreDataNote.Outcome, _ subject: String, _ message: String) {
    notes.append(CoreDataNote(outcome, subject, message))
  }

  // MARK: Limits

  // A model file with more would be refused. Here it is before the work, which grows with the size.

  private func checkNumberOfEntities() throws(CoreDataError) {
    guard source.entities.count <= Limits.entities else {
      throw CoreDataError(
        .limit, "The model has \(source.entities.count) entities.", remedy: "Models have \(Limits.entities) at most.")
    }
  }

  private func checkHierarchies() throws(CoreDataError) {
    var sizes = [(depth: Int, properties: Int)](repeating: (0, 0), count: entities.count)
    for number in parentsFirst {
      let inherited = entities[number].parent.map { sizes[$0] } ?? (depth: 0, properties: 0)
      let entity = entities[number].source
      let properties = inherited.properties + entity.attributes.count + entity.relationships.count
      sizes[number] = (inherited.depth + 1, properties)
      guard inherited.depth < Limits.ancestors else {
        throw CoreDataError(
          .limit, "\(entity.name) has \(inherited.depth) ancestors.",
          remedy: "From a root to its deepest descendant there are \(Limits.ancestors) entities at most.")
      }
      guard properties <= Limits.properties else {
        throw CoreDataError(
          .limit, "\(entity.name) has \(properties) properties with those of its ancestors.",
          remedy: "Entities have \(Limits.properties) at most.")
      }
    }
  }

  // MARK: Entities

  private mutating func nameEntities() {
    var taken = TakenNames()
    for entity in source.entities {
      guard numbers[entity.name] == nil else {
        note(.leftOut, entity.name, "is declared twice; the first one counts")
        continue
      }
      numbers[entity.name] = entities.count
      let name = taken.unused(NameTranslation.typeName(entity.name))
      taken.take(name)
      if name != entity.name {
        note(.changed, entity.name, "is called \(name), since names are words with a capital letter")
      }
      entities.append(TranslatedEntity(source: entity, name: name))
    }
    nameClasses()
    for index in entities.indices {
      guard let parent = entities[index].source.parent else { continue }
      entities[index].parent = numbers[parent]
      if numbers[parent] == nil {
        note(.changed, entities[index].source.name, "has no parent, since \(parent) is none of the model's")
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
    var isSound = [Bool](repeating: false, count: entities.count)
    for index in entities.indices {
      var line: Set<Int> = []
      var next: Int? = index
      while let current = next, !isSound[current] {
        guard line.insert(current).inserted else {
          note(.changed, entities[current].source.name, "has no parent, since its parents form a circle")
          entities[current].parent = nil
          break
        }
        next = entities[current].parent
      }
      for number in line { isSound[number] = true }
    }
  }

  private func number(of entity: String) -> Int? { numbers[entity] }

  /// The entities with parents before children, by their depth.
  private var parentsFirst: [Int] {
    var children = entities.map { _ in [Int]() }
    var open: [Int] = []
    for (index, entity) in entities.enumerated() {
      if let parent = entity.parent { children[parent].append(index) } else { open.append(index) }
    }
    var order: [Int] = []
    while !open.isEmpty {
      order += open
      open = open.flatMap { children[$0] }.sorted()
    }
    return order
  }

  // MARK: Properties

  private mutating func translateProperties() throws(CoreDataError) {
    var namers: [Int: PropertyNamer] = [:]
    for number in parentsFirst {
      // What an entity inherits is declared once.
      let parent = entities[number].parent.flatMap { namers[$0] }
      var namer = PropertyNamer(entity: entities[number].name, parent)
      translateAttributes(of: number, &namer)
      translateRelationships(of: number, &namer)
      namer.declare(entities[number].source)
      namers[number] = namer
    }
    description.entities = entities.map { entity in
      EntityDescription(
        entity.name, parent: entity.parent.map { entities[$0].name }, isAbstract: entity.source.isAbstract,
        attributes: entity.attributes.filter { $0.path.count == 1 }.map(\.description),
        relationships: entity.relationships.map(\.description),
        swiftName: entity.swiftName, userInfo: UserInfo.entries(entity.source.userInfo), composites: entity.composites)
    }
    description.composites = composites.descriptions
  }

  private mutating func translateAttributes(of number: Int, _ namer: inout PropertyNamer) {
    let entity = entities[number].source
    var seen: Set<String> = []
    for (place, attribute) in entity.attributes.enumerated() {
      let subject = "\(entity.name).\(attribute.name)"
      guard seen.insert(attribute.name).inserted, !namer.inherits(attribute.name) else {
        note(.leftOut, subject, "is declared twice in its hierarchy; the topmost one counts")
        continue
      }
      if attribute.derivation.map({ !$0.isEmpty }) == true {
        let named = namer.name([attribute.name])
        noteName(named, of: [attribute.name], subject)
        namer.take(named)
        derivedNames.append(DerivedSource(entity: number, place: place, name: named))
      } else if attribute.derivation == nil, case .composite(let name) = attribute.kind, composites.knows(name) {
        add(attribute, ofComposite: name, to: number, &namer)
      } else {
        add(attribute, to: number, &namer)
      }
    }
  }

  /// Adds an attribute whose type is a composite.
  private mutating func add(
    _ attribute: CoreDataModel.Attribute, ofComposite name: String, to number: Int, _ namer: inout PropertyNamer
  ) {
    let entity = entities[number].source.name
    let subject = "\(entity).\(attribute.name)"
    guard !attribute.isTransient else {
      return note(.leftOut, subject, "is a composite and transient; declare it in Swift")
    }
    let type = composites.type(
      named: name, besides: Set(entities.flatMap { [$0.name, $0.swiftName ?? $0.name] })
    ) { [hint] path in hint(entity, ([attribute.name] + path).joined(separator: ".")) }
    for note in type.notes { self.note(note.outcome, note.subject, note.message) }
    guard !type.leaves.isEmpty else {
      return note(.leftOut, subject, "is of the composite \(name), which has no attributes")
    }
    let named = namer.name([attribute.name])
    noteName(named, of: [attribute.name], subject)
    namer.take(named)
    let plain = entities[number].attributes.count { $0.path.count == 1 }
    entities[number].composites.append(
      CompositeAttributeDescription(
        named.name, type.name, optional: attribute.isOptional, position: plain,
        swiftName: named.swiftName, userInfo: UserInfo.entries(attribute.userInfo)))
    for leaf in type.leaves {
      var description = leaf.description
      description.name = ([named.name] + leaf.names).joined(separator: ".")
      entities[number].attributes.append(
        TranslatedAttribute(source: leaf.source, path: [attribute.name] + leaf.path, description: description))
    }
  }

  private mutating func add(
    _ attribute: CoreDataModel.Attribute, to number: Int, _ namer: inout PropertyNamer
  ) {
    let entity = entities[number].source.name
    let subject = "\(entity).\(attribute.name)"
    let named = namer.name([attribute.name])
    let translation = AttributeTranslation(attribute, name: named.name, hint: hint(entity, attribute.name))
    for note in translation.notes { self.note(note.outcome, subject, note.message) }
    guard var description = translation.description else { return }
    description.swiftName = named.swiftName
    noteName(named, of: [attribute.name], subject)
    namer.take(named)
    entities[number].attributes.append(
      TranslatedAttribute(source: attribute, path: [attribute.name], description: description))
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

  private mutating func translateRelationships(of number: Int, _ namer: inout PropertyNamer) {
    let entity = entities[number].source
    var seen: Set<String> = Set(entity.attributes.map(\.name))
    for relationship in entity.relationships {
      let subject = "\(entity.name).\(relationship.name)"
      guard seen.insert(relationship.name).inserted, !namer.inherits(relationship.name) else {
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
    let (least, most) = (relationship.minCount, relationship.maxCount)
    // Core Data saves a to-many without members also if it is not optional, and counts the members where there are some.
    result.isOptional = relationship.isOptional || least > 0
    if !relationship.isOptional { mayBeEmpty.append(subject) }
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

  // MARK: Derived attributes

  /// Adds the derived attributes whose expressions are ones here. Those that follow from others come after these.
  private mutating func addDerivedAttributes() throws(CoreDataError) {
    var open = derivedNames
    var isChanged = true
    while isChanged, !open.isEmpty {
      isChanged = false
      let model = try resolved()
      var left: [DerivedSource] = []
      for candidate in open {
        guard let derived = derived(candidate, model) else {
          left.append(candidate)
          continue
        }
        description.entities[candidate.entity].attributes.append(derived)
        isChanged = true
      }
      open = left
    }
    for left in open {
      let source = entities[left.entity].source.attributes[left.place]
      note(
        .leftOut, "\(entities[left.entity].source.name).\(source.name)",
        "is derived, \(source.derivation ?? ""), \(DerivationTranslation.advice(source.derivation ?? ""))")
      derivedNames.removeAll { $0.entity == left.entity && $0.place == left.place }
    }
  }

  /// The derived attribute; nil for an expression that has no counterpart over the model.
  private mutating func derived(
    _ candidate: DerivedSource, _ model: Model
  ) -> AttributeDescription? {
    let source = entities[candidate.entity].source.attributes[candidate.place]
    let text = DerivationTranslation(entities, derivedNames).text(source.derivation ?? "", of: candidate.entity)
    guard let value = try? CheckedValue(text, of: candidate.entity, in: model), let type = value.attributeType,
      !value.dependsOnTime
    else { return nil }
    let isOptional = source.isOptional || !value.operand.isNeverNil(for: model.entities[candidate.entity])
    var kind = source
    kind.derivation = nil
    let declared = AttributeTranslation(kind, name: source.name).description?.type
    if let declared, declared != type {
      note(
        .changed, "\(entities[candidate.entity].source.name).\(source.name)",
        "is derived, and its expression is of the type \(type.spelling) instead of \(declared.spelling)")
    }
    return AttributeDescription(
      candidate.name.name, type, optional: isOptional, swiftName: candidate.name.swiftName,
      userInfo: UserInfo.entries(source.userInfo), derived: text, stored: type != .data)
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
    let plain = entities[number].attributes.filter { $0.path.count == 1 }
    for (place, attribute) in plain.enumerated() {
      let names = former.names(of: attribute.source.name, attribute.source.renamingIdentifier, in: entity)
      description.entities[number].attributes[place].renamedFrom = claimed.claim(
        names.map(NameTranslation.propertyName), for: attribute.description.name)
    }
    for (place, composite) in entities[number].composites.enumerated() {
      let field = entities[number].attributes.first { $0.description.name.hasPrefix(composite.name + ".") }
      guard let source = entity.attributes.first(where: { $0.name == field?.path.first }) else { continue }
      let names = former.names(of: source.name, source.renamingIdentifier, in: entity)
      description.entities[number].composites[place].renamedFrom = claimed.claim(
        names.map(NameTranslation.propertyName), for: composite.name)
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
    let indexed =
      entity.attributes.filter(\.isIndexed).map(\.name)
      + entity.relationships.filter { $0.isIndexed && !$0.isToMany }.map(\.name)
    let single = indexed.map { CoreDataModel.Index(elements: [CoreDataModel.Index.Element(property: $0)]) }
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
        guard let column = columnName(name, of: number, model, mayBeDerived: true) else {
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
  ///
  /// - Parameter mayBeDerived: whether a stored derived attribute counts as one.
  private func columnName(
    _ name: String, of number: Int, _ model: Model, mayBeDerived: Bool = false
  ) -> (name: String, isAttribute: Bool)? {
    var next: Int? = number
    while let current = next {
      let entity = entities[current]
      let attribute = entity.attributes.first { $0.path.joined(separator: ".") == name }?.description
      if attribute?.isExternal == true { return nil }
      let relationship = entity.relationships.first { $0.source.name == name }?.description
      if let derived = derivedName(name, of: current) { return mayBeDerived ? (derived, true) : nil }
      if let found = attribute?.name ?? relationship?.name {
        let property = model.entities[number].property(named: found)
        return property?.column == nil ? nil : (found, attribute != nil)
      }
      next = entity.parent
    }
    return nil
  }

  /// The name of a stored derived attribute that an entity declares; nil for another attribute.
  private func derivedName(_ name: String, of number: Int) -> String? {
    let found = derivedNames.first { $0.entity == number && entities[number].source.attributes[$0.place].name == name }
    return found.flatMap { found in
      description.entities[number].attributes.contains { $0.name == found.name.name && $0.storesDerivation }
        ? found.name.name : nil
    }
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
    var templates: [Int: [CoreDataModel.Template]] = [:]
    for template in source.fetchRequests {
      if let number = template.entity.flatMap({ numbers[$0] }) {
        templates[number, default: []].append(template)
      } else {
        note(.leftOut, "the fetch request \(template.name)", "is of no entity of the model")
      }
    }
    // Requests of ancestors come first, since a child may not repeat their names.
    for number in parentsFirst {
      guard let own = templates[number] else { continue }
      var taken = TakenNames()
      var next = entities[number].parent
      while let current = next {
        for request in description.entities[current].fetchRequests { taken.take(request.name) }
        next = entities[current].parent
      }
      for template in own { add(template, to: number, &taken, model) }
    }
  }

  private mutating func add(
    _ template: CoreDataModel.Template, to number: Int, _ taken: inout TakenNames, _ model: Model
  ) {
    let subject = "the fetch request \(template.name)"
    var name = NameTranslation.propertyName(template.name)
    if NameTranslation.isReservedMember(name) { name += "Request" }
    name = taken.unused(name)
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
    taken.take(name)
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
    if !mayBeEmpty.isEmpty {
      note(
        .ignored, description.name,
        "has to-manys that are not optional and may be empty, as Core Data saves them; give them a minCount, and take "
          + "optional out, if they may not: \(mayBeEmpty.joined(separator: ", "))")
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
  /// The attributes with a column, the fields of composites included.
  var attributes: [TranslatedAttribute] = []
  var composites: [CompositeAttributeDescription] = []
  var relationships: [TranslatedRelationship] = []
}

/// An attribute, or a field of a composite.
struct TranslatedAttribute {
  let source: CoreDataModel.Attribute
  /// The name in Core Data; of a field, the names on the way to it.
  let path: [String]
  /// The attribute, with the name that it has in the resolved model: that of a field is a path.
  let description: AttributeDescription
}

/// A derived attribute with a known expression, which is translated after all that it may follow from.
struct DerivedSource {
  /// The number of the entity.
  let entity: Int
  /// The place among the entity's attributes in Core Data.
  let place: Int
  let name: PropertyNamer.Name
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
  /// The names in the model file and in Swift, those of the ancestors included.
  private var taken = TakenNames()
  /// The names in Core Data of what the ancestors declare.
  private var inherited: Set<String> = []

  /// - Parameter parent: The names of the parent, after all of its properties have got theirs.
  init(entity: String, _ parent: PropertyNamer?) {
    self.entity = entity
    taken = parent?.taken ?? TakenNames()
    inherited = parent?.inherited ?? []
  }

  func inherits(_ name: String) -> Bool { inherited.contains(name) }

  /// Notes the properties of the entity for those that inherit them.
  mutating func declare(_ entity: CoreDataModel.Entity) {
    inherited.formUnion(entity.attributes.map(\.name))
    inherited.formUnion(entity.relationships.map(\.name))
  }

  mutating func take(_ name: Name) {
    taken.take(name.name)
    if let swiftName = name.swiftName { taken.take(swiftName) }
  }

  /// A name for a property, or for the part of a composite at the end of a path.
  mutating func name(_ path: [String]) -> Name {
    let words = path.map(NameTranslation.propertyName)
    let joined =
      (words.first ?? "property") + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    let name = taken.unused(String(joined.prefix(240)))
    guard NameTranslation.isReservedMember(name) else { return Name(name: name, swiftName: nil) }
    let start = NameTranslation.lowerCamel(entity)
    let swiftName = String(start.prefix(100)) + name.prefix(1).uppercased() + name.dropFirst()
    var besides = taken
    besides.take(name)
    return Name(name: name, swiftName: besides.unused(swiftName))
  }
}

// MARK: - Former names

/// The names that entities and properties have had in earlier versions, by their renaming identifiers.
private struct FormerNames {
  /// The entities of the earlier versions by their identities, the newest version first.
  private let versions: [[String: CoreDataModel.Entity]]

  init(_ former: [CoreDataModel]) {
    versions = former.reversed().map { version in
      Dictionary(version.entities.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  func names(of entity: CoreDataModel.Entity) -> [String] {
    let earlier = versions.compactMap { $0[entity.identity]?.name }
    return Self.distinct(earlier + [entity.identity], besides: entity.name)
  }

  func names(of name: String, _ identifier: String?, in entity: CoreDataModel.Entity) -> [String] {
    let identity = identifier ?? name
    var earlier: [String] = []
    for version in versions {
      guard let former = version[entity.identity] else { continue }
      earlier += former.attributes.filter { ($0.renamingIdentifier ?? $0.name) == identity }.map(\.name)
      earlier += former.relationships.filter { ($0.renamingIdentifier ?? $0.name) == identity }.map(\.name)
    }
    return Self.distinct(earlier + [identity], besides: name)
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
