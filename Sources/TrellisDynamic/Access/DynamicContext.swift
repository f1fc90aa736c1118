package import TrellisModel
@_spi(Generated) package import TrellisRuntime

extension ManagedObjectContext {
  /// Inserts an object.
  ///
  /// ```swift
  /// let tag = try context.insert("Tag", ["name": .text("sea")])
  /// ```
  /// The model's defaults apply to attributes that are not given. Relationships are set afterwards.
  ///
  /// - Parameters:
  ///   - name: The name of an entity that is not abstract.
  ///   - values: The values of attributes by name, in stored form.
  /// - Throws: ``DynamicError``: `missing-value` for an attribute that has no default and is not given, `wrong-value`,
  ///   and for names. Then nothing is inserted.
  @discardableResult package func insert(
    _ name: String, _ values: [String: StoredValue] = [:]
  ) throws -> DynamicObject {
    let entity = try model.needEntity(name)
    if let problem = try insertProblems(entity, values).first { throw problem }
    var row = DynamicRow(values: [StoredValue](repeating: .null, count: entity.properties.count))
    for case let attribute? in entity.properties.map(\.attribute) {
      row.values[attribute.index] =
        try values[attribute.name].map { value throws(DynamicError) in try entity.checked(value, for: attribute) }
        ?? attribute.initialValue ?? .null
    }
    for group in entity.optionalGroups.reversed() { group.complete(&row.values) }
    let object = EntityClasses.entityClass(of: entity.index).init(inserting: row, of: entity, into: self)
    if !entity.uniqueKeys.isEmpty {
      for name in values.keys {
        guard let attribute = entity.property(named: name)?.attribute,
          attribute.isOptional || attribute.description.defaultValue != nil
        else { continue }
        object._markAssigned(attribute.index)
      }
    }
    object._finishInsert()
    try throwPendingFailure()
    return object
  }

  /// Everything that prevents an insert of an object with some values, by property.
  ///
  /// - Throws: ``DynamicError`` with the code `abstract-entity`.
  package func insertProblems(
    _ entity: Entity, _ values: [String: StoredValue]
  ) throws(DynamicError) -> [DynamicError] {
    guard !entity.isAbstract else {
      throw DynamicError(
        .abstractEntity, entity.name, nil, "\(entity.name) is abstract: only its subentities have objects.")
    }
    var problems: [DynamicError] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      do throws(DynamicError) {
        _ = try entity.checked(value, for: try entity.needAttribute(name))
      } catch {
        problems.append(error)
      }
    }
    for case let attribute? in entity.properties.map(\.attribute)
    where values[attribute.name] == nil && attribute.initialValue == nil && attribute.description.derivation == nil {
      problems.append(
        DynamicError(
          .missingValue, entity.name, attribute.name,
          "\(entity.name).\(attribute.name) needs a value: it is neither optional nor has a default."))
    }
    return problems
  }

  // MARK: Requests

  /// The objects of an entity and its subentities that match a predicate, as if the unsaved changes were saved.
  ///
  /// ```swift
  /// let found = try context.objects(
  ///   "EmotionDiary", where: "content CONTAINS %@", [.value(.text("sea"), .text)], sortedBy: ["-createdAt"], limit: 10)
  /// ```
  /// - Throws: ``DynamicError`` for the entity; ``PredicateFormatError``; ``StoreError`` if the store fails.
  package func objects(
    _ entity: String, where format: String? = nil, _ arguments: [FormatArgument] = [], sortedBy sort: [String] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> [DynamicObject] {
    let request = try request(
      for: model.needEntity(entity).index, format: format, arguments: arguments, sort: sort, limit: limit,
      offset: offset)
    return try objects(of: request).compactMap { $0 as? DynamicObject }
  }

  /// The number of objects of an entity and its subentities that match a predicate.
  ///
  /// - Throws: the same errors as ``objects(_:where:_:sortedBy:limit:offset:)``.
  package func count(
    _ entity: String, where format: String? = nil, _ arguments: [FormatArgument] = []
  ) throws -> Int {
    try count(of: request(for: model.needEntity(entity).index, format: format, arguments: arguments))
  }

  /// The object of an entity or one of its subentities with a key; nil if there is none.
  ///
  /// - Throws: ``DynamicError`` for the entity; ``StoreError`` if the store fails.
  package func object(_ entity: String, _ key: Int64) throws -> DynamicObject? {
    try objects([key], entity: model.needEntity(entity).index)[key] as? DynamicObject
  }
}
