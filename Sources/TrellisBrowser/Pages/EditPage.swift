import TrellisDynamic
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// The form of an object, or of a new one. A save that breaks rules shows the form again, with each rule at its field.
struct EditPage {
  /// The greatest number of bytes of data, and of members, that a form shows to be edited.
  private static let mostBytes = 65_536
  private static let mostMembers = 500

  let site: Site
  let context: ManagedObjectContext
  let entity: Entity
  /// The object; nil for a new one.
  let object: DynamicObject?

  /// A field of the form.
  private struct Field {
    let property: Property
    /// The text that the form shows.
    var text: String
    /// Whether the value is nil.
    var isNil: Bool
    var faults: [String] = []

    var name: String { property.name }
    var nilName: String { "nil:" + property.name }
  }

  init(site: Site, context: ManagedObjectContext, entity: Entity, object: DynamicObject?) throws {
    guard object != nil || !entity.isAbstract else {
      throw PageFault(.notFound, "\(entity.name) is abstract: make an object of a subentity.")
    }
    self.site = site
    self.context = context
    self.entity = entity
    self.object = object
  }

  func response() throws -> HTTPResponse { HTTPResponse(page(try presentFields())) }

  // MARK: Fields

  private func presentFields() throws -> [Field] {
    try entity.properties.compactMap { property in
      switch property {
      case .attribute(let attribute): attribute.column == nil ? nil : try field(attribute)
      case .relationship(let relationship): relationship.isTransient ? nil : try field(relationship)
      }
    }
  }

  private func field(_ attribute: Attribute) throws -> Field? {
    let property = Property.attribute(attribute)
    guard let value = object.map({ $0.value(of: attribute) }) ?? attribute.initialValue else {
      return Field(property: property, text: "", isNil: false)
    }
    if value.isNull { return Field(property: property, text: "", isNil: true) }
    switch value {
    case .blob(let bytes) where bytes.count > Self.mostBytes: return nil
    case .file: return nil
    default: return Field(property: property, text: Self.returned(try ValueText(attribute).text(value)), isNil: false)
    }
  }

  private func field(_ relationship: Relationship) throws -> Field? {
    let property = Property.relationship(relationship)
    guard let object else { return Field(property: property, text: "", isNil: false) }
    guard relationship.isToMany else {
      let partner = try object.partner(relationship.name)
      return Field(property: property, text: partner.map { "\($0.description)" } ?? "", isNil: false)
    }
    guard try object.memberKeys(relationship.name).count <= Self.mostMembers else { return nil }
    let members = try object.members(relationship.name).map { "\($0.description)" }
    return Field(property: property, text: members.joined(separator: ", "), isNil: false)
  }

  /// The text that a browser sends back for an unchanged field.
  private static func returned(_ text: String) -> String {
    var returned = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\r": continue
      case "\n", "\t": returned.append(scalar)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": returned.append("\u{FFFD}")
      default: returned.append(scalar)
      }
    }
    return String(returned)
  }

  // MARK: Saving

  func save(_ form: FormFields) throws -> HTTPResponse {
    if let object, form["version"] != "\(object.rowVersion)" {
      throw PageFault(.conflict, "The object was changed meanwhile, so nothing was saved. Open the form again.")
    }
    var fields = try presentFields()
    var values: [String: StoredValue] = [:]
    var links: Links = []
    for index in fields.indices {
      let before = fields[index]
      guard let text = form[before.name] else { continue }
      fields[index].text = text.replacing("\r\n", with: "\n")
      fields[index].isNil = form[before.nilName] != nil
      let isUnchanged =
        TextBytes.areEqual(fields[index].text, before.text) && fields[index].isNil == before.isNil
      if isUnchanged && (object != nil || fields[index].text.isEmpty) { continue }
      do {
        switch before.property {
        case .attribute(let attribute): values[attribute.name] = try value(of: fields[index], before, attribute)
        case .relationship(let relationship):
          links.append((relationship, try partners(fields[index].text, relationship)))
        }
      } catch let error as FieldFault {
        fields[index].faults.append(error.message)
      }
    }
    guard fields.allSatisfy(\.faults.isEmpty) else {
      try noteBrokenRules(values, links, &fields)
      return HTTPResponse(page(fields), .unprocessable)
    }
    return try save(values, links, &fields)
  }

  /// Checks the values that could be read by the rules, beside others that could not. Nothing is saved.
  private func noteBrokenRules(
    _ values: [String: StoredValue], _ links: Links, _ fields: inout [Field]
  ) throws {
    let unread = Set(fields.filter { !$0.faults.isEmpty }.map(\.name))
    var values = values
    var notChecked = unread
    if object == nil {
      for problem in try context.insertProblems(entity, values) {
        guard let name = problem.property, let attribute = entity.property(named: name)?.attribute else { continue }
        if !unread.contains(name) { note(problem.message, name, &fields) }
        // The object needs some value, or its other values could not be checked.
        let placeholder = attribute.placeholder
        if placeholder.isNull { return }
        values[name] = placeholder
        notChecked.insert(name)
      }
    }
    do {
      try subject(values, links).validate()
    } catch let error as ValidationError {
      for failure in error.failures where !notChecked.contains(failure.property) && isOwn(failure) {
        note(failure.message, failure.property, &fields)
      }
    } catch let error as DynamicError {
      note(error.message, error.property ?? "", &fields)
    }
  }

  private typealias Links = [(relationship: Relationship, partners: [DynamicObject])]

  /// The object with other values and partners, or a new one.
  private func subject(_ values: [String: StoredValue], _ links: Links) throws -> DynamicObject {
    let edited: DynamicObject
    if let object {
      for (name, value) in values { try object.set(name, value) }
      edited = object
    } else {
      edited = try context.insert(entity.name, values)
    }
    for (relationship, partners) in links {
      if relationship.isToMany {
        try edited.set(relationship.name, partners)
      } else {
        try edited.set(relationship.name, partners.first)
      }
    }
    return edited
  }

  private func isOwn(_ failure: ValidationFailure) -> Bool {
    failure.object.entity == entity.name && (object == nil || failure.key == object?.key)
  }

  private struct FieldFault: Error {
    let message: String
  }

  private func value(of field: Field, _ before: Field, _ attribute: Attribute) throws(FieldFault) -> StoredValue {
    let hasNewText = !TextBytes.areEqual(field.text, before.text)
    if field.isNil && (!hasNewText || field.text.isEmpty) {
      if attribute.isOptional { return .null }
      throw FieldFault(message: "must have a value")
    }
    do throws(ValueMisfit) {
      return try ValueText(attribute).value(field.text)
    } catch {
      throw FieldFault(message: "must be \(error.expected)")
    }
  }

  /// The objects of a list such as `Tag#1, Tag#2` or `1, 2`.
  private func partners(_ text: String, _ relationship: Relationship) throws -> [DynamicObject] {
    let destination = context.model.entities[relationship.destination]
    var partners: [DynamicObject] = []
    for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
      let parts = part.split(separator: "#", omittingEmptySubsequences: false)
      let name = parts.count > 1 ? String(parts[0]) : destination.name
      guard parts.count <= 2, let key = Int64(parts[parts.count - 1]), context.model.entity(named: name) != nil,
        let partner = try context.object(name, key)
      else { throw FieldFault(message: "names \(part), which is no object") }
      guard destination.subtree.contains(try partner.ownEntity().index) else {
        throw FieldFault(message: "names \(part), which is no \(destination.name)")
      }
      partners.append(partner)
    }
    if !relationship.isToMany && partners.count > 1 { throw FieldFault(message: "leads to one object only") }
    return partners
  }

  private func save(
    _ values: [String: StoredValue], _ links: Links, _ fields: inout [Field]
  ) throws -> HTTPResponse {
    if object == nil, try !context.insertProblems(entity, values).isEmpty {
      try noteBrokenRules(values, links, &fields)
      return HTTPResponse(page(fields), .unprocessable)
    }
    do {
      let edited = try subject(values, links)
      try context.save()
      return HTTPResponse(goOnAt: site.address(of: edited))
    } catch let error as ValidationError {
      var others: [String] = []
      for failure in error.failures {
        if !isOwn(failure) || !note(failure.message, failure.property, &fields) { others.append(failure.description) }
      }
      return HTTPResponse(page(fields, others), .unprocessable)
    } catch let error as DynamicError {
      let isNoted = note(error.message, error.property ?? "", &fields)
      return HTTPResponse(page(fields, isNoted ? [] : [error.description]), .unprocessable)
    } catch let error as SaveConflict {
      throw PageFault(.conflict, "The object was changed meanwhile, so nothing was saved: \(error).")
    } catch let error as StoreError where [.full, .busy, .limit, .unstorableValue].contains(error.code) {
      // What was typed stays in the form.
      return HTTPResponse(page(fields, ["Nothing was saved. \(error)"]), PageFault(error).status)
    }
  }

  /// - Returns: whether the form has the field.
  @discardableResult private func note(_ message: String, _ name: String, _ fields: inout [Field]) -> Bool {
    guard let index = fields.firstIndex(where: { $0.name == name }) else { return false }
    fields[index].faults.append(message)
    return true
  }

  // MARK: Page

  private func page(_ fields: [Field], _ faults: [String] = []) -> HTML {
    let address =
      object.map { site.address("object", $0.entityName, "\($0.key)", "edit") }
      ?? site.address("entity", entity.name, "new")
    let version: HTML? = object.map { "<input type=hidden name=version value=\"\($0.rowVersion)\">" }
    let others: [HTML] = faults.map(Layout.fault)
    let content: HTML = """
      \(others)\(Layout(site).hookNote(entity, in: context.model))<form method=post action="\(address)" autocomplete=off>
      \(version)\(fields.map(html))
      <div class=actions><button>Save</button></div>
      </form>
      """
    var trail = [(entity.name, site.address("entity", entity.name))]
    if let object { trail.append((object.title, site.address(of: object))) }
    return Layout(site).page(object == nil ? "New \(entity.name)" : "Edit", trail, content)
  }

  private func html(_ field: Field) -> HTML {
    let faults: [HTML] = field.faults.map { "<div class=fault>\($0)</div>\n" }
    return """
      <div class=field><label for="f-\(field.name)">\(field.name) <span class=pale>\(kind(of: field.property))</span></label>
      \(input(field))\(nilBox(field))
      \(faults)</div>

      """
  }

  private func kind(of property: Property) -> String {
    switch property {
    case .attribute(let attribute): attribute.type.spelling + (attribute.isOptional ? "?" : "")
    case .relationship(let relationship):
      (relationship.isToMany ? "objects of " : "an object of ") + context.model.entities[relationship.destination].name
        + (relationship.isOrdered ? ", in order" : "")
    }
  }

  private func input(_ field: Field) -> HTML {
    if case .attribute(let attribute) = field.property {
      if let names = choices(attribute), names.contains(field.text) || field.text.isEmpty {
        let options: [HTML] = ([""] + names).map {
          "<option value=\"\($0)\"\($0 == field.text ? " selected" as HTML : "")>\($0)</option>"
        }
        return "<select id=\"f-\(field.name)\" name=\"\(field.name)\">\(options)</select>"
      }
      switch attribute.type {
      case .string, .array, .codable, .data:
        let rows = min(12, max(1, field.text.split(separator: "\n", omittingEmptySubsequences: false).count))
        // A browser drops a first line feed.
        return """
          <textarea id="f-\(field.name)" name="\(field.name)" rows="\(rows)" spellcheck=false>
          \(field.text)</textarea>
          """
      default: break
      }
    }
    return "<input type=text id=\"f-\(field.name)\" name=\"\(field.name)\" value=\"\(field.text)\" spellcheck=false>"
  }

  /// The texts of a type with few values.
  private func choices(_ attribute: Attribute) -> [String]? {
    switch attribute.type {
    case .bool: ["true", "false"]
    case .enumeration(let name): context.model.enumeration(named: name)?.cases.map(\.name)
    default: nil
    }
  }

  private func nilBox(_ field: Field) -> HTML? {
    guard case .attribute(let attribute) = field.property, attribute.isOptional else { return nil }
    return """
      <label class=pale><input type=checkbox name="\(field.nilName)"\(field.isNil ? " checked" as HTML : "")> nil</label>
      """
  }
}
