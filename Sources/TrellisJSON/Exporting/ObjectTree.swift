package import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// Writes objects as JSON by the mapping that an import reads them by.
struct ObjectTree {
  private let map: JSONMap
  /// The relationships whose partners are nested, by the path to them; nil for all mapped ones.
  private let nested: Set<[Int]>?
  /// The objects that enclose the present one. An object is not nested in itself.
  private var enclosing: Set<Int64> = []
  /// The objects that the document has in full, or will have, if all that is mapped is nested. Their key stands for them.
  private var written: Set<Int64> = []
  private var count = 0

  /// So many objects are nested in one element at most.
  static let mostObjects = 100_000

  init(_ map: JSONMap, nesting nested: Set<[Int]>?) {
    self.map = map
    self.nested = nested
  }

  mutating func element(_ object: ManagedObject) throws -> JSONTree {
    count = 0
    enclosing = []
    let entity = try mapped(object)
    if nested == nil { written.insert(object._key) }
    return try tree(object, entity, [])
  }

  private func mapped(_ object: ManagedObject) throws -> EntityMap {
    do throws(JSONMappingFault) { return try map.map(of: type(of: object)._entity) } catch {
      throw JSONExportError(message: error.message)
    }
  }

  /// - Parameter isKeyOnly: Whether the document has the object already, so that its key alone is written.
  private mutating func tree(
    _ object: ManagedObject, _ entity: EntityMap, _ path: [Int], isKeyOnly: Bool = false
  ) throws -> JSONTree {
    count += 1
    guard count <= Self.mostObjects, enclosing.count < JSONScanner.maximumDepth - 8 else {
      throw JSONExportError(
        message:
          "An object of '\(entity.entity.name)' would have more than \(Self.mostObjects) objects nested in it, or more than \(JSONScanner.maximumDepth - 8) levels: let the request prefetch what is to be nested, and export with nesting: .prefetched.",
        isTooLarge: true)
    }
    enclosing.insert(object._key)
    defer { enclosing.remove(object._key) }
    object._willRead(-1)
    let tree = JSONTree()
    tree.setEmpty(isObject: true)
    if let path = entity.entityPath {
      path.reduce(tree) { $0.member(String(decoding: $1, as: UTF8.self)) }.set(entity.entityValue)
    }
    let keyProperties = isKeyOnly ? entity.key?.properties : nil
    var partners = try partners(of: object, entity, path, keyProperties)
    for property in entity.entity.properties where keyProperties?.contains(property.index) != false {
      switch property {
      case .attribute(let attribute):
        guard let field = entity.fields.first(where: { $0.attribute === attribute }) else { continue }
        if let group = entity.entity.optionalGroup(of: attribute.index), object._value(group.presence).isNull {
          continue
        }
        write(object._value(attribute.index), field, to: tree)
      case .relationship(let relationship):
        if let link = entity.links.first(where: { $0.relationship === relationship }) {
          let partners = partners.removeValue(forKey: relationship.index) ?? []
          try write(link, partners, to: tree, path + [relationship.index])
        }
      }
    }
    return tree
  }

  /// A partner, and how it is written.
  private struct Partner {
    enum Form {
      case nested
      /// Nested, but with the key only, which has several properties.
      case nestedKey
      case key
      /// It encloses the object, and has no key.
      case leftOut
    }

    let object: ManagedObject
    let form: Form
  }

  /// The partners of an object by relationship.
  ///
  /// Those that are nested are known before any of them is written, so that objects lie as few levels deep as possible.
  private mutating func partners(
    of object: ManagedObject, _ entity: EntityMap, _ path: [Int], _ properties: [Int]?
  ) throws -> [Int: [Partner]] {
    var found: [Int: [Partner]] = [:]
    for link in entity.links where properties?.contains(link.relationship.index) != false {
      let relationship = link.relationship
      var partners: [ManagedObject]
      if relationship.isToMany {
        partners = try object.members(of: relationship.index)
        if !relationship.isOrdered { partners.sort { $0._key < $1._key } }
      } else {
        partners = try object.partner(of: relationship.index).map { [$0] } ?? []
      }
      let path = path + [relationship.index]
      found[relationship.index] = partners.map { Partner(object: $0, form: form(of: $0, link, path)) }
    }
    return found
  }

  private mutating func form(of partner: ManagedObject, _ link: LinkMap, _ path: [Int]) -> Partner.Form {
    let isEnclosing = enclosing.contains(partner._key)
    let isWanted = !link.isReference && nested?.contains(path) != false
    if link.reference != nil, isEnclosing || !isWanted || nested == nil && written.contains(partner._key) {
      return .key
    }
    if isEnclosing { return .leftOut }
    if nested == nil, !written.insert(partner._key).inserted,
      let key = map.entities[type(of: partner)._entity]?.key, key.properties.count > 1
    {
      return .nestedKey
    }
    return .nested
  }

  // MARK: Attributes

  private func write(_ value: StoredValue, _ field: FieldMap, to tree: JSONTree) {
    if field.attribute.role == .presence, !value.isNull {
      place(at: field.path.steps[...], in: tree)?.setEmpty(isObject: true)
      return
    }
    guard field.path.isPlural else {
      if let place = place(at: field.path.steps[...], in: tree) { place.set(field.value.json(value)) }
      return
    }
    let steps = field.path.steps
    if value.isNull {
      // The list itself is null, as it is read.
      let list = steps.prefix { $0 != .elements && $0 != .entries }
      if !list.isEmpty { place(at: list, in: tree)?.set(Array("null".utf8)) }
      return
    }
    let values = field.value.items(value)
    write(values.map { JSONTree(field.value.json($0)) }, steps[...], to: tree, keys: nil)
  }

  /// The value at a path that leads to one value; nil if it leads out of the object.
  private func place(at steps: ArraySlice<JSONPath.Step>, in tree: JSONTree) -> JSONTree? {
    var place = tree
    for step in steps {
      switch step {
      case .name(let name): place = place.member(name)
      case .element(let position): place = place.element(position)
      case .matching(let names, let text): place = place.element(where: names, is: text)
      case .elements, .entries, .enclosing, .key, .value: return nil
      }
    }
    return place
  }

  /// Writes values to a path that leads to several.
  private func write(
    _ values: [JSONTree], _ steps: ArraySlice<JSONPath.Step>, to tree: JSONTree, keys: [String]?
  ) {
    guard let start = steps.firstIndex(where: { $0 == .elements || $0 == .entries }),
      let list = place(at: steps[..<start], in: tree)
    else { return }
    let rest = steps[(start + 1)...]
    let isObject = steps[start] == .entries
    list.setEmpty(isObject: isObject)
    for (number, value) in values.enumerated() {
      let slot = isObject ? list.member(keys?[number] ?? "\(number)") : list.element(number)
      if rest.contains(where: { $0 == .elements || $0 == .entries }) {
        // A list in a list: one value each.
        write([value], rest, to: slot, keys: nil)
      } else {
        place(at: rest, in: slot)?.take(value)
      }
    }
  }

  // MARK: Relationships

  private mutating func write(
    _ link: LinkMap, _ partners: [Partner], to tree: JSONTree, _ path: [Int]
  ) throws {
    if link.relationship.isToMany {
      var values: [JSONTree] = []
      var keys: [String] = []
      for member in partners {
        guard let value = try value(member, link, path) else { continue }
        values.append(value)
        if let entity = map.entities[type(of: member.object)._entity], let field = entity.keyField {
          let attribute = entity.fields[field].attribute
          keys.append(entity.fields[field].value.text(member.object._value(attribute.index)))
        } else {
          keys.append("\(keys.count)")
        }
      }
      return write(values, link.path.steps[...], to: tree, keys: keys)
    }
    guard let place = place(at: link.path.steps[...], in: tree) else { return }
    if let partner = partners.first, let value = try value(partner, link, path) {
      place.take(value)
    } else {
      place.set(Array("null".utf8))
    }
  }

  /// A partner as a nested object, or as its key; nil if it is left out.
  private mutating func value(_ partner: Partner, _ link: LinkMap, _ path: [Int]) throws -> JSONTree? {
    let object = partner.object
    object._willRead(-1)
    switch partner.form {
    case .leftOut: return nil
    case .key:
      return link.reference.map { JSONTree($0.json(object._value($0.attribute.index))) }
    case .nested, .nestedKey:
      let entity = try mapped(object)
      if let number = entity.valueField, entity.root.isLeaf {
        let field = entity.fields[number]
        return JSONTree(field.value.json(object._value(field.attribute.index)))
      }
      return try tree(object, entity, path, isKeyOnly: partner.form == .nestedKey)
    }
  }
}

/// The reason why an export is given up.
public struct JSONExportError: Error, Sendable, CustomStringConvertible {
  /// Why the export was given up; a sentence.
  public let message: String
  /// Whether too much would be nested.
  package let isTooLarge: Bool

  package init(message: String, isTooLarge: Bool = false) {
    self.message = message
    self.isTooLarge = isTooLarge
  }

  public var description: String { message }
}

// MARK: - Values

extension ValueMap {
  /// The JSON text of a value.
  package func json(_ value: StoredValue) -> [UInt8] {
    var bytes: [UInt8] = []
    if value.isNull { return Array("null".utf8) }
    if case .file(let file) = value {
      // Data that cannot be read any more are absent.
      guard let content = try? file.origin?.bytes(of: file) else { return Array("null".utf8) }
      bytes.appendQuoted(Base64Text.text(content))
      return bytes
    }
    switch (type, value) {
    case (.date, .integer(let microseconds)): date.append(microseconds, to: &bytes)
    // What is read as the text of a number is written as one.
    case _ where !take.isEmpty && type != .bool: bytes.appendQuoted(text(value))
    default: if !bytes.append(value, as: form) { bytes = Array("null".utf8) }
    }
    return bytes
  }

  /// The text of a value, as it is read from one.
  package func text(_ value: StoredValue) -> String {
    switch (type, value) {
    case (.bool, .integer(let number)): number == 0 ? "false" : "true"
    case (.date, .integer(let microseconds)): date.plainText(microseconds)
    case (.uuid, .blob(let bytes)): UUIDText.text(bytes)
    case (_, .blob(let bytes)): Base64Text.text(bytes)
    case (_, .integer(let number)): String(number)
    case (.float, .real(let number)): String(Float(number))
    case (_, .real(let number)): String(number)
    case (_, .text(let text)): text
    case (_, .null), (_, .file): ""
    }
  }

  /// The elements of a list, if they are read one by one.
  package func items(_ list: StoredValue) -> [StoredValue] {
    guard case .text(let text) = list else { return [] }
    return ListText.values(text, of: type, attribute.enumeration) ?? []
  }
}

extension DateFormat {
  func append(_ microseconds: Int64, to bytes: inout [UInt8]) {
    switch json(microseconds) {
    case .text(let text): bytes.appendQuoted(text)
    case .verbatim(let text): bytes += Array(text.utf8)
    default: break
    }
  }

  func plainText(_ microseconds: Int64) -> String {
    switch json(microseconds) {
    case .text(let text), .verbatim(let text): text
    default: ""
    }
  }
}
