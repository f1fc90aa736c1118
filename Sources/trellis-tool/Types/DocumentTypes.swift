import TrellisJSON
import TrellisModel

/// The types of the documents that an export of objects writes, by the mapping of the model.
struct DocumentTypes {
  let model: Model
  private let map: JSONMap
  private(set) var types: [DocumentType] = []
  /// The names of types for objects, for keys of objects, and for objects of an entity with descendants.
  private var objectNames: [Int: String] = [:]
  private var keyNames: [Int: String] = [:]
  private var familyNames: [Int: String] = [:]

  /// - Throws: ``JSONMappingFault`` if the mapping does not fit the model.
  init(_ model: Model) throws(JSONMappingFault) {
    self.model = model
    map = try JSONMap(model)
    nameTypes()
    for choice in model.description.enums where uses(choice) {
      types.append(DocumentType(name: choice.name, doc: choice.doc, content: .choice(choice)))
    }
    for case let own? in map.entities {
      let doc = own.entity.description(in: model)?.doc
      if let name = objectNames[own.entity.index] {
        types.append(DocumentType(name: name, doc: doc, content: .object(members(of: own, keyOnly: false))))
      }
      if let name = keyNames[own.entity.index] {
        types.append(
          DocumentType(
            name: name, doc: "What tells one \(own.entity.name) from others.",
            content: .object(members(of: own, keyOnly: true))))
      }
      if let name = familyNames[own.entity.index] {
        types.append(
          DocumentType(
            name: name, doc: doc, content: .union(own.entity.subtree.compactMap { objectNames[$0] })))
      }
    }
  }

  private mutating func nameTypes() {
    var taken = Set(model.description.enums.map(\.name))
    func unique(_ name: String) -> String {
      var name = name
      while !taken.insert(name).inserted { name += "_" }
      return name
    }
    for case let own? in map.entities where !own.entity.isAbstract && !own.isScalar {
      objectNames[own.entity.index] = unique(own.entity.name)
    }
    for case let own? in map.entities {
      if own.entity.subtree.count > 1 { familyNames[own.entity.index] = unique("Any\(own.entity.name)") }
      if (own.key?.properties.count ?? 0) > 1, objectNames[own.entity.index] != nil {
        keyNames[own.entity.index] = unique("\(own.entity.name)Key")
      }
    }
  }

  private func uses(_ choice: EnumDescription) -> Bool {
    map.entities.contains { own in own?.fields.contains { $0.attribute.enumeration?.name == choice.name } == true }
  }

  /// The name of the type of objects of an entity.
  func name(of entity: Entity) -> String? { familyNames[entity.index] ?? objectNames[entity.index] }

  // MARK: Objects

  private func members(of own: EntityMap, keyOnly: Bool) -> [DocumentShape.Member] {
    let root = ShapeNode()
    if let path = own.entityPath {
      root.node(at: path.map { .name(String(decoding: $0, as: UTF8.self)) }[...], isOptional: false).leaves.append(
        .constant(own.entityValue))
    }
    for property in own.entity.properties where !keyOnly || own.key?.properties.contains(property.index) == true {
      switch property {
      case .attribute(let attribute):
        if let field = own.fields.first(where: { $0.attribute === attribute }) { add(field, own, to: root) }
      case .relationship(let relationship):
        if let link = own.links.first(where: { $0.relationship === relationship }) { add(link, to: root) }
      }
    }
    return root.members
  }

  private func add(_ field: FieldMap, _ own: EntityMap, to root: ShapeNode) {
    switch field.path.steps.first {
    case .key, .value, .enclosing, nil: return
    case .name, .entries, .elements, .element, .matching: break
    }
    // What lies in an object that is null is not written.
    let group = own.entity.optionalGroup(of: field.attribute.index)
    var isOptional = false
    if let group {
      let whole = own.fields.first { $0.attribute.index == group.presence }
      isOptional = whole.map { !field.path.steps.starts(with: $0.path.steps) } ?? true
    }
    let isRequired = group?.required.contains { $0.number == field.attribute.index } == true
    let isNil = field.attribute.isOptional && !isRequired
    if field.attribute.role == .presence {
      let node = root.node(at: field.path.steps[...], isOptional: isOptional)
      (node.isNullable, node.isObject) = (true, true)
      return
    }
    guard field.path.isPlural else {
      let node = root.node(at: field.path.steps[...], isOptional: isOptional)
      node.leaves.append(Self.shape(of: field.value))
      node.isNullable = node.isNullable || isNil
      node.doc = field.attribute.description.doc
      return
    }
    let list = field.path.steps.prefix { $0 != .elements && $0 != .entries }
    let node = root.node(at: list, isOptional: isOptional)
    node.isNullable = node.isNullable || isNil
    node.doc = field.attribute.description.doc
    root.node(at: field.path.steps[...], isOptional: isOptional).leaves.append(Self.shape(of: field.value))
  }

  private func add(_ link: LinkMap, to root: ShapeNode) {
    let node = root.node(at: link.path.steps[...], isOptional: false)
    node.leaves.append(partner(link))
    let isToMany = link.relationship.isToMany
    if !isToMany, link.relationship.isOptional || link.reference == nil { node.isNullable = true }
    let place =
      isToMany ? root.node(at: link.path.steps.prefix { $0 != .elements && $0 != .entries }, isOptional: false) : node
    place.doc = link.relationship.description.doc
  }

  /// A partner is an object, or its key where the document has the object already.
  private func partner(_ link: LinkMap) -> DocumentShape {
    var shapes: [DocumentShape] = []
    if !link.isReference {
      for number in model.entities[link.relationship.destination].subtree {
        guard let own = map.entities[number] else { continue }
        if own.isScalar, let field = own.valueField {
          shapes.append(Self.shape(of: own.fields[field].value))
        } else if let name = objectNames[number] {
          shapes.append(.named(name))
          if let key = keyNames[number] { shapes.append(.named(key)) }
        }
      }
      let family = familyNames[link.relationship.destination]
      let keys = shapes.filter { shape in !model.entities.contains { objectNames[$0.index].map { .named($0) } == shape }
      }
      if let family, shapes.count > keys.count { shapes = [.named(family)] + keys }
    }
    if let reference = link.reference { shapes.append(Self.shape(of: reference)) }
    return .one(of: shapes, isNullable: false)
  }

  // MARK: Values

  private static func shape(of map: ValueMap) -> DocumentShape {
    if map.type == .date { return map.hasNumericDates ? .number : .text(map.hasISODates ? .dateTime : .plain) }
    if !map.take.isEmpty, map.type != .bool { return .text(.plain) }
    return shape(of: map.type)
  }

  private static func shape(of type: AttributeType) -> DocumentShape {
    switch type {
    case .string: .text(.plain)
    case .url: .text(.url)
    case .uuid: .text(.uuid)
    case .data: .text(.base64)
    case .decimal: .text(.decimal)
    case .date: .text(.dateTime)
    case .bool: .bool
    case .integer: .integer(type.integerRange)
    case .float, .double: .number
    case .enumeration(let name): .choice(name)
    case .array(let element): .list(shape(of: element))
    case .codable: .any
    }
  }
}

extension Entity {
  fileprivate func description(in model: Model) -> EntityDescription? { model.description.entities[index] }
}

/// A place of a document, put together from paths.
private final class ShapeNode {
  var leaves: [DocumentShape] = []
  var isNullable = false
  /// Whether the place has an object, whatever is known to lie in it.
  var isObject = false
  var doc: String?
  private var children: [(key: String, node: ShapeNode, isOptional: Bool)] = []
  private var element: ShapeNode?
  private var entry: ShapeNode?
  /// The elements that paths tell apart. What lies in one of them does not lie in each.
  private var selectors: Set<JSONPath.Step> = []

  func node(at steps: ArraySlice<JSONPath.Step>, isOptional: Bool) -> ShapeNode {
    guard let step = steps.first else { return self }
    let rest = steps.dropFirst()
    switch step {
    case .name(let key): return child(key, isOptional).node(at: rest, isOptional: false)
    case .entries:
      let node = entry ?? ShapeNode()
      entry = node
      return node.node(at: rest, isOptional: false)
    case .elements: return listElement(step).node(at: rest, isOptional: false)
    case .element:
      let node = listElement(step)
      // The places before it may be empty.
      node.isNullable = true
      return node.node(at: rest, isOptional: true)
    case .matching(let names, _):
      let node = listElement(step)
      let filter = node.node(at: names.map { .name($0) }[...], isOptional: true)
      if !filter.leaves.contains(.text(.plain)) { filter.leaves.append(.text(.plain)) }
      return node.node(at: rest, isOptional: true)
    case .enclosing, .key, .value: return self
    }
  }

  private func listElement(_ step: JSONPath.Step) -> ShapeNode {
    let node = element ?? ShapeNode()
    element = node
    selectors.insert(step)
    return node
  }

  private func child(_ key: String, _ isOptional: Bool) -> ShapeNode {
    if let place = children.firstIndex(where: { $0.key == key }) {
      children[place].isOptional = children[place].isOptional && isOptional
      return children[place].node
    }
    let node = ShapeNode()
    children.append((key, node, isOptional))
    return node
  }

  var members: [DocumentShape.Member] {
    children.map {
      DocumentShape.Member(key: $0.key, shape: $0.node.shape, isOptional: $0.isOptional, doc: $0.node.doc)
    }
  }

  private var shape: DocumentShape {
    var shapes = leaves
    if isObject || !children.isEmpty { shapes.append(.object(members)) }
    if let element { shapes.append(.list(element.shape)) }
    if let entry { shapes.append(.dictionary(entry.shape)) }
    return .one(of: shapes, isNullable: isNullable)
  }
}
