/// Numbers the properties and columns of one entity, ancestor by ancestor.
struct EntityResolver {
  private let links: ModelLinks
  private var properties: [Property] = []
  private var columns: [Column] = []
  private var numbers: [String: Int] = [:]
  private var composites: [Composite] = []

  private init(_ links: ModelLinks) { self.links = links }

  static func entity(_ index: Int, _ links: ModelLinks) -> Entity {
    var resolver = EntityResolver(links)
    return resolver.resolve(index)
  }

  private mutating func resolve(_ index: Int) -> Entity {
    let line = Array(links.lineage(index).reversed())
    var firstOwnColumn = 0
    for ancestor in line {
      firstOwnColumn = columns.count
      append(ancestor, isRoot: ancestor == line[0])
    }
    numbers.reserveCapacity(properties.count)
    for property in properties { numbers[property.name] = property.index }
    let declared = links.description.entities[index]
    var keys: [UniqueKey] = []
    for ancestor in line {
      for names in links.description.entities[ancestor].uniqueKeys {
        keys.append(UniqueKey(entity: ancestor, properties: places(of: names)))
      }
    }
    let indexes = declared.indexes.map { entry in
      Index(
        elements: zip(places(of: entry.elements.map(\.property)), entry.elements).map {
          Index.Element(property: $0, isDescending: $1.isDescending)
        })
    }
    return Entity(
      index: index, name: declared.name, isAbstract: declared.isAbstract, parent: links.parents[index], root: line[0],
      subtree: links.subtree(of: index), properties: properties, columns: columns, firstOwnColumn: firstOwnColumn,
      uniqueKeys: keys, indexes: indexes, composites: composites, propertyNumbers: numbers)
  }

  /// The numbers of the named properties. The links were checked, so that each name has one.
  private func places(of names: [String]) -> [Int] { names.compactMap { numbers[$0] } }

  private mutating func append(_ number: Int, isRoot: Bool) {
    let entity = links.description.entities[number]
    let prefix = isRoot ? "" : "\(entity.name)."
    if let expansion = links.expansion(of: number, firstNumber: properties.count) {
      for field in expansion.fields {
        append(field.attribute, entity: number, prefix: prefix, role: field.role)
      }
      composites += expansion.composites
    } else {
      for attribute in entity.attributes { append(attribute, entity: number, prefix: prefix) }
    }
    var orders: [Column] = []
    let declarations = entity.relationships.indices.map { ModelLinks.Declaration(entity: number, place: $0) }
    let firstOrder = columns.count + declarations.count { links.link($0).home.isColumn }
    for declaration in declarations {
      let link = links.link(declaration)
      let relationship = links.relationship(declaration)
      let home = append(relationship, link, prefix: prefix, nextOrder: firstOrder + orders.count)
      if case .column(_, .some) = home {
        orders.append(
          Column(
            name: "\(prefix)_\(relationship.name)_order", content: .order(properties.count), storageClass: .integer,
            isOptional: true))
      }
      properties.append(
        .relationship(
          Relationship(
            relationship, index: properties.count, entity: number, entityName: entity.name,
            destination: link.destination, inverse: link.inverse.map(links.propertyNumber),
            partnerRule: link.inverse.map { links.relationship($0).deleteRule }, home: home)))
    }
    columns += orders
  }

  private mutating func append(
    _ attribute: AttributeDescription, entity: Int, prefix: String, role: Attribute.Role = .plain
  ) {
    let enumeration = attribute.type.enumName.flatMap(links.enumeration)
    let storageClass = attribute.type.storageClass { links.enumeration($0)?.rawType }
    let column = attribute.isTransient ? nil : columns.count
    if !attribute.isTransient {
      columns.append(
        Column(
          name: prefix + (role != .plain ? Self.columnName(ofField: attribute.name) : attribute.name),
          content: .attribute(properties.count),
          storageClass: storageClass, isOptional: attribute.isOptional))
    }
    properties.append(
      .attribute(
        Attribute(
          index: properties.count, entity: entity, column: column, storageClass: storageClass, description: attribute,
          enumeration: enumeration, role: role)))
  }

  /// The column of a field: `price_amount` for `price.amount`.
  private static func columnName(ofField path: String) -> String {
    String(decoding: path.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
  }

  private mutating func append(
    _ relationship: RelationshipDescription, _ link: ModelLinks.Link, prefix: String, nextOrder: Int
  ) -> RelationshipStorage {
    switch link.home {
    case .column(let isOrdered):
      columns.append(
        Column(
          name: prefix + relationship.name,
          content: .reference(properties.count, destination: link.destination), storageClass: .integer,
          isOptional: true))
      return .column(columns.count - 1, order: isOrdered ? nextOrder : nil)
    case .inverseColumn: return .inverseColumn
    case .joinTable(let table, let isFirst): return .joinTable(table, isFirst: isFirst)
    case .transient: return .transient
    }
  }
}
