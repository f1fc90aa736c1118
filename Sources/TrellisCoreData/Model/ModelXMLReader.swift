import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Reads the file `contents` of an `.xcdatamodel`.
///
/// What is not part of the known grammar is noted and left out, because newer versions of Xcode add to it.
enum ModelXMLReader {
  /// The largest file.
  static let sizeLimit = 64 * 1024 * 1024

  /// - Parameter path: the name of the file in messages.
  /// - Throws: ``CoreDataError``.
  static func read(_ bytes: [UInt8], path: String) throws(CoreDataError) -> CoreDataModel {
    guard bytes.count <= sizeLimit else {
      throw CoreDataError(.limit, "\(path) has \(bytes.count) bytes.", remedy: "Models have \(sizeLimit) at most.")
    }
    // Foundation's parser traps on bytes that are none of their encoding, so it gets nothing but UTF-8. Without the
    // other checks it could read the same bytes in another encoding than these, in which they say something else.
    guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0), XMLDeclaration(bytes).isOfUTF8 else {
      throw CoreDataError(
        .noModel, "\(path) is not in UTF-8, as models are.", remedy: "Restore the file as Xcode has written it.")
    }
    // A document type could define texts that grow when they are replaced; a model has none.
    guard !contains("<!DOCTYPE", in: bytes), !contains("<!ENTITY", in: bytes) else {
      throw CoreDataError(
        .noModel, "\(path) has a document type, which models do not have.",
        remedy: "Give the file contents of an .xcdatamodel, as Xcode writes it.")
    }
    let handler = ModelXMLHandler()
    let parser = XMLParser(data: Data(bytes))
    parser.shouldResolveExternalEntities = false
    parser.delegate = handler
    let isParsed = parser.parse()
    if handler.isTooDeep {
      throw CoreDataError(
        .noModel, "\(path) is nested too deep.", remedy: "Give the file contents of an .xcdatamodel.")
    }
    // The parser goes on after tags that do not match.
    guard isParsed, parser.parserError == nil, handler.isBalanced else {
      let place = "line \(parser.lineNumber), column \(parser.columnNumber)"
      throw CoreDataError(
        .noModel, "\(path) is no XML from \(place) on.", remedy: "Restore the file as Xcode has written it.")
    }
    guard handler.isModel else {
      throw CoreDataError(
        .noModel, "\(path) is no Core Data model: its outermost element is not <model>.",
        remedy: "Give an .xcdatamodeld or .xcdatamodel of Xcode 4 or later.")
    }
    return handler.model
  }

  private static func contains(_ text: String, in bytes: [UInt8]) -> Bool {
    let part = Array(text.utf8)
    guard bytes.count >= part.count else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      var place = 0
      while place <= bytes.count - part.count {
        if bytes[place] == part[0], part.indices.allSatisfy({ bytes[place + $0] == part[$0] }) { return true }
        place += 1
      }
      return false
    }
  }
}

// MARK: - Declaration

/// The declaration at the start of a file, `<?xml version="1.0" encoding="UTF-8"?>`, however long it is.
private struct XMLDeclaration {
  /// The encoding that it names; nil for none.
  private let encoding: String?
  /// Whether it has an end.
  private let isClosed: Bool

  init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    guard rest.starts(with: "<?xml".utf8) else {
      (encoding, isClosed) = (nil, true)
      return
    }
    rest = rest.dropFirst(5)
    guard let end = rest.indices.first(where: { rest[$0...].starts(with: "?>".utf8) }) else {
      (encoding, isClosed) = (nil, false)
      return
    }
    isClosed = true
    let parts = String(decoding: rest[..<end], as: UTF8.self).lowercased().split(
      separator: "encoding", maxSplits: 1, omittingEmptySubsequences: false)
    encoding =
      parts.count < 2
      ? nil : String(parts[1].drop { "= \t\r\n\"'".contains($0) }.prefix { !"\"' \t\r\n".contains($0) })
  }

  /// Whether the file is in UTF-8 by it, or in ASCII, which is a part of that.
  var isOfUTF8: Bool { isClosed && (encoding.map(["utf-8", "utf8", "us-ascii", "ascii"].contains) ?? true) }
}

// MARK: - Handler

/// Collects the elements of a model.
private final class ModelXMLHandler: NSObject, XMLParserDelegate {
  private(set) var model = CoreDataModel()
  private(set) var isModel = false
  private(set) var isTooDeep = false
  private var hasStrayEnd = false
  /// Whether each element has ended, in the reverse order.
  var isBalanced: Bool { path.isEmpty && !hasStrayEnd }

  /// The names of the open elements.
  private var path: [String] = []
  private var entity: CoreDataModel.Entity?
  private var composite: CoreDataModel.Composite?
  private var attribute: CoreDataModel.Attribute?
  private var relationship: CoreDataModel.Relationship?
  private var fetchedProperty: CoreDataModel.FetchedProperty?
  private var index: CoreDataModel.Index?
  private var uniqueKey: [String]?
  private var configuration: CoreDataModel.Configuration?

  private static let deepest = 64

  // MARK: Elements

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes values: [String: String]
  ) {
    let parent = path.last
    path.append(name)
    guard path.count <= Self.deepest else {
      isTooDeep = true
      return parser.abortParsing()
    }
    var element = XMLElementValues(name, values)
    switch (name, parent) {
    case ("model", nil): startModel(&element)
    case ("entity", "model"): startEntity(&element)
    case ("composite", "model"):
      composite = CoreDataModel.Composite(name: element.text("name") ?? "")
      element.skip("versionHashModifier", "syncable")
    case ("attribute", "entity"), ("attribute", "composite"): startAttribute(&element)
    case ("relationship", "entity"): startRelationship(&element)
    case ("fetchedProperty", "entity"):
      fetchedProperty = CoreDataModel.FetchedProperty(name: element.text("name") ?? "")
      element.skip("optional", "syncable", "transient", "spotlightIndexingEnabled", "storedInTruthFile")
    case ("fetchRequest", "fetchedProperty"):
      fetchedProperty?.entity = element.text("entity")
      fetchedProperty?.predicate = element.text("predicateString")
      element.skipAll()
    case ("fetchRequest", "model"): addTemplate(&element)
    case ("fetchIndex", "entity"):
      index = CoreDataModel.Index(name: element.text("name"))
      if element.text("partialIndexPredicate", "predicateString") != nil { index?.isPartial = true }
    case ("fetchIndexElement", "fetchIndex"): addIndexElement(&element)
    case ("compoundIndex", "compoundIndexes"): index = CoreDataModel.Index()
    case ("index", "compoundIndex"):
      // An element of the legacy form may have a sign for its direction.
      index?.elements.append(CoreDataModel.Index.Element(property: element.text("value")))
    case ("uniquenessConstraint", "uniquenessConstraints"): uniqueKey = []
    case ("constraint", "uniquenessConstraint"): if let value = element.text("value") { uniqueKey?.append(value) }
    case ("configuration", "model"):
      configuration = CoreDataModel.Configuration(name: element.text("name") ?? "")
      element.skip("usedWithCloudKit")
    case ("memberEntity", "configuration"):
      if let member = element.text("name") { configuration?.entities.append(member) }
    case ("entry", "userInfo"): addUserInfo(&element)
    case ("compoundIndexes", "entity"), ("uniquenessConstraints", "entity"), ("userInfo", _): break
    case ("elements", "model"), ("element", "elements"): element.skipAll()
    default:
      if !isInsideUnknown {
        note(.leftOut, subject, "has an element <\(name)> that is not known here")
      }
      element.skipAll()
    }
    for rest in element.rest {
      note(.ignored, subject, "has the attribute \(rest) at <\(name)>, which is not known here")
    }
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    if path.popLast() != name { hasStrayEnd = true }
    switch (name, path.last) {
    case ("entity", "model"): if let entity { model.entities.append(entity) }; entity = nil
    case ("composite", "model"): if let composite { model.composites.append(composite) }; composite = nil
    case ("attribute", "entity"): if let attribute { entity?.attributes.append(attribute) }; attribute = nil
    case ("attribute", "composite"): if let attribute { composite?.attributes.append(attribute) }; attribute = nil
    case ("relationship", "entity"):
      if let relationship { entity?.relationships.append(relationship) }; relationship = nil
    case ("fetchedProperty", "entity"):
      if let fetchedProperty { entity?.fetchedProperties.append(fetchedProperty) }
      fetchedProperty = nil
    case ("fetchIndex", "entity"), ("compoundIndex", "compoundIndexes"):
      if let index { entity?.indexes.append(index) }
      index = nil
    case ("uniquenessConstraint", "uniquenessConstraints"):
      if let uniqueKey, !uniqueKey.isEmpty { entity?.uniqueness.append(uniqueKey) }
      uniqueKey = nil
    case ("configuration", "model"):
      if let configuration { model.configurations.append(configuration) }
      configuration = nil
    default: break
    }
  }

  private static let containers: Set<String> = [
    "model", "entity", "composite", "attribute", "relationship", "fetchedProperty", "fetchRequest", "fetchIndex",
    "fetchIndexElement", "compoundIndexes", "compoundIndex", "index", "uniquenessConstraints", "uniquenessConstraint",
    "constraint", "configuration", "memberEntity", "userInfo", "entry", "elements", "element",
  ]

  /// Whether an enclosing element is unknown and was noted.
  private var isInsideUnknown: Bool { path.dropLast().contains { !Self.containers.contains($0) } }

  // MARK: Model and entities

  private func startModel(_ element: inout XMLElementValues) {
    isModel = true
    model.versionIdentifier = element.text("userDefinedModelVersionIdentifier").flatMap { $0.isEmpty ? nil : $0 }
    model.isForCloudKit = element.flag("usedWithCloudKit")
    element.skip(
      "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "macOSVersion",
      "iOSVersion", "sourceLanguage", "usedWithSwiftData", "name", "xmlns")
  }

  private func startEntity(_ element: inout XMLElementValues) {
    var entity = CoreDataModel.Entity(name: element.text("name") ?? "")
    entity.className = element.text("representedClassName").flatMap(Self.className)
    entity.isAbstract = element.flag("isAbstract")
    entity.parent = element.text("parentEntity")
    entity.renamingIdentifier = element.text("elementID", "renamingIdentifier")
    entity.hashModifier = element.text("versionHashModifier")
    entity.spotlightExpression = element.text("coreSpotlightDisplayNameExpression")
    // Core Data ignores this spelling.
    if element.flag("abstract") {
      model.notes.append(
        CoreDataNote(.ignored, entity.name, "has the attribute abstract, which Core Data does not read"))
    }
    count(&element, "syncable", "codeGenerationType")
    self.entity = entity
  }

  /// The name of a class without its module.
  static func className(_ text: String) -> String? {
    let name = text.split(separator: ".").last.map(String.init) ?? ""
    return name.isEmpty || name == "NSManagedObject" ? nil : name
  }

  private func count(_ element: inout XMLElementValues, _ keys: String...) {
    for key in keys where element.text(key) != nil { model.editorAttributes[key, default: 0] += 1 }
  }

  // MARK: Properties

  private static let kinds: [String: CoreDataModel.AttributeKind] = [
    "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64, "Decimal": .decimal,
    "Double": .double, "Float": .float, "String": .string, "Boolean": .boolean, "Date": .date, "Binary": .binary,
    "Binary Data": .binary, "UUID": .uuid, "URI": .uri, "Transformable": .transformable, "Undefined": .undefined,
    "ObjectID": .objectID, "Object ID": .objectID,
  ]

  private func startAttribute(_ element: inout XMLElementValues) {
    var attribute = CoreDataModel.Attribute(name: element.text("name") ?? "", kind: .undefined)
    let type = element.text("attributeType")
    let compositeName = element.text("composite")
    if type == "Composite" {
      attribute.kind = .composite(compositeName ?? "")
    } else if let type {
      if let kind = Self.kinds[type] {
        attribute.kind = kind
      } else {
        note(.leftOut, "\(owner).\(attribute.name)", "has the type \(type), which is not known here")
      }
    }
    attribute.isOptional = element.flag("optional")
    attribute.isTransient = element.flag("transient")
    attribute.defaultValue =
      element.number("defaultDateTimeInterval").map { .date($0) }
      ?? element.text("defaultValueString").map { .text($0) }
    attribute.minimum = bound(&element, "minDateTimeInterval", "minValueString")
    attribute.maximum = bound(&element, "maxDateTimeInterval", "maxValueString")
    attribute.pattern = element.text("regularExpressionString")
    attribute.valueTransformer = element.text("valueTransformerName").flatMap { $0.isEmpty ? nil : $0 }
    attribute.customClass = element.text("customClassName").flatMap { $0.isEmpty ? nil : $0 }
    attribute.allowsExternalStorage = element.flag("allowsExternalBinaryDataStorage")
    let isDerived = element.flag("derived")
    let expression = element.text("derivationExpression")
    if isDerived || expression != nil { attribute.derivation = expression ?? "" }
    attribute.renamingIdentifier = element.text("elementID", "renamingIdentifier")
    attribute.hashModifier = element.text("versionHashModifier")
    attribute.isIndexed = element.flag("indexed")
    for option in ["spotlightIndexingEnabled", "storedInTruthFile", "allowsCloudEncryption", "preserveAfterDeletion"] {
      if element.flag(option) { attribute.otherOptions.append(option) }
    }
    if element.flag("ephemeral") { attribute.isTransient = true }
    count(&element, "usesScalarValueType", "syncable")
    self.attribute = attribute
  }

  private func bound(_ element: inout XMLElementValues, _ date: String, _ value: String) -> ArchivedValue? {
    let seconds = element.number(date)
    let text = element.text(value)
    return seconds.map { .date($0) } ?? text.map { .text($0) }
  }

  private func startRelationship(_ element: inout XMLElementValues) {
    var relationship = CoreDataModel.Relationship(
      name: element.text("name") ?? "", destination: element.text("destinationEntity") ?? "")
    relationship.inverse = element.text("inverseName")
    relationship.inverseEntity = element.text("inverseEntity")
    relationship.isOptional = element.flag("optional")
    relationship.isTransient = element.flag("transient")
    let isMarkedToMany = element.flag("toMany")
    let maximum = element.text("maxCount").flatMap { Int($0) }
    relationship.minCount = max(0, element.text("minCount").flatMap { Int($0) } ?? 0)
    relationship.maxCount = max(0, maximum ?? (isMarkedToMany ? 0 : 1))
    // A to-one is exactly what leads to one object at most.
    relationship.isToMany = relationship.maxCount != 1
    relationship.isOrdered = element.flag("ordered")
    switch element.text("deletionRule") {
    case "Cascade": relationship.deleteRule = .cascade
    case "Deny": relationship.deleteRule = .deny
    case "No Action": relationship.deleteRule = .noAction
    case "Nullify", nil: relationship.deleteRule = .nullify
    case let rule?:
      note(
        .changed, "\(owner).\(relationship.name)", "has the delete rule \(rule), which is not known here; it is nullify"
      )
    }
    relationship.renamingIdentifier = element.text("elementID", "renamingIdentifier")
    relationship.hashModifier = element.text("versionHashModifier")
    for option in ["spotlightIndexingEnabled", "storedInTruthFile"] where element.flag(option) {
      relationship.otherOptions.append(option)
    }
    relationship.isIndexed = element.flag("indexed")
    count(&element, "syncable")
    self.relationship = relationship
  }

  // MARK: Indexes and requests

  private func addIndexElement(_ element: inout XMLElementValues) {
    let type = element.text("type")
    let order = element.text("order")
    let expression = element.text("expression")
    element.skip("expressionType", "name")
    index?.elements.append(
      CoreDataModel.Index.Element(
        property: element.text("property"), expression: expression, isDescending: order == "descending",
        isSpatial: type?.lowercased() == "rtree"))
  }

  private func addTemplate(_ element: inout XMLElementValues) {
    var template = CoreDataModel.Template(
      name: element.text("name") ?? "", entity: element.text("entity"), predicate: element.text("predicateString"))
    template.limit = element.text("fetchLimit").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    for option in ["fetchBatchSize", "resultType"] {
      if let value = element.text(option), value != "0" { template.otherOptions.append("\(option) \(value)") }
    }
    for option in ["returnDistinctResults", "returnsDistinctResults"] where element.flag(option) {
      template.otherOptions.append(option)
    }
    // The other flags say how Core Data loads the same objects.
    for key in element.rest where key.hasPrefix("include") || key.hasPrefix("return") || key.hasPrefix("shouldRefresh")
    {
      element.skip(key)
    }
    model.fetchRequests.append(template)
  }

  private func addUserInfo(_ element: inout XMLElementValues) {
    let entry = (key: element.text("key") ?? "", value: element.text("value") ?? "")
    if attribute != nil {
      attribute?.userInfo.append(entry)
    } else if relationship != nil {
      relationship?.userInfo.append(entry)
    } else if fetchedProperty == nil {
      entity?.userInfo.append(entry)
    }
  }

  // MARK: Notes

  private var owner: String { entity?.name ?? composite?.name ?? "the model" }

  private var subject: String {
    let property = attribute?.name ?? relationship?.name ?? fetchedProperty?.name
    return property.map { "\(owner).\($0)" } ?? owner
  }

  private func note(_ outcome: CoreDataNote.Outcome, _ subject: String, _ message: String) {
    model.notes.append(CoreDataNote(outcome, subject, message))
  }
}

// MARK: - Element values

/// The attributes of an element, of which those remain that nothing has read.
private struct XMLElementValues {
  private let values: [String: String]
  private var unread: Set<String>

  init(_ name: String, _ values: [String: String]) {
    self.values = values
    unread = Set(values.keys)
  }

  /// The names of the attributes that nothing has read, in order.
  var rest: [String] { unread.sorted() }

  /// The value of the first of some names that is there.
  mutating func text(_ names: String...) -> String? {
    unread.subtract(names)
    for name in names { if let value = values[name] { return value } }
    return nil
  }

  /// Whether an attribute is `YES`. Template files also write `true`.
  mutating func flag(_ name: String) -> Bool {
    guard let text = text(name) else { return false }
    return ["yes", "true", "1"].contains(text.lowercased())
  }

  mutating func number(_ name: String) -> Double? { text(name).flatMap { Double($0) } }

  mutating func skip(_ names: String...) { unread.subtract(names) }

  mutating func skipAll() { unread = [] }
}
