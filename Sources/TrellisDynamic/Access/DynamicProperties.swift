package import TrellisModel
@_spi(Generated) import TrellisRuntime

extension DynamicObject {
  /// The object's key, which is the primary key of its row.
  package final var key: Int64 { _key }

  /// The name of the object's entity.
  package final var entityName: String { _entityName }

  /// The value of an attribute, in its stored form; null for nil, and for a name that is no attribute.
  ///
  /// ```swift
  /// let title = diary["title"]
  /// ```
  /// A value that cannot be loaded is reported to the container, as for a generated property.
  package final subscript(name: String) -> StoredValue {
    entity?.property(named: name)?.attribute.map { value(of: $0) } ?? .null
  }

  /// The value of an attribute, in its stored form.
  ///
  /// - Throws: ``DynamicError`` for a name that is no attribute; ``ContextError`` if the object cannot be loaded.
  package final func value(_ name: String) throws -> StoredValue {
    let attribute = try ownEntity().needAttribute(name)
    let found = value(of: attribute)
    try managedObjectContext?.throwPendingFailure()
    return found
  }

  /// The value of an attribute of the object's entity.
  package final func value(of attribute: Attribute) -> StoredValue {
    if attribute.description.derivation != nil { return _derivedValue(attribute.index) }
    _willRead(attribute.index)
    return row.value(attribute.index)
  }

  /// Sets an attribute.
  ///
  /// ```swift
  /// try diary.set("title", .text("바다"))
  /// ```
  /// The value must be of the attribute's type. The rules of the model are checked by the next save.
  ///
  /// - Throws: ``DynamicError`` with the code `wrong-value` if the value is none of the attribute's type, and for a
  ///   name that is no attribute; ``ContextError`` if the object is deleted or cannot be loaded.
  package final func set(_ name: String, _ value: StoredValue) throws {
    let entity = try ownEntity()
    let attribute = try entity.needAttribute(name)
    let checked = try entity.checked(value, for: attribute)
    try checkWritable()
    if _willWrite(attribute.index) { row.values[attribute.index] = checked }
    if attribute.isField { complete(attribute, entity) }
    try managedObjectContext?.throwPendingFailure()
  }

  /// Keeps a composite whole after one of its attributes was set: a value of a field is one of the whole, and without a
  /// value of the whole no field has one.
  private func complete(_ attribute: Attribute, _ entity: Entity) {
    func write(_ number: Int, _ value: StoredValue) {
      if row.values[number] != value, _willWrite(number) { row.values[number] = value }
    }
    for group in entity.optionalGroups {
      if group.presence == attribute.index, row.values[attribute.index].isNull {
        for field in group.fields { write(field, .null) }
      } else if group.fields.contains(attribute.index), !row.values[attribute.index].isNull,
        row.values[group.presence].isNull
      {
        write(group.presence, .integer(1))
      }
    }
  }

  // MARK: Relationships

  /// The partner of a to-one relationship; nil if there is none.
  ///
  /// - Throws: ``DynamicError`` for a name that is no to-one relationship; ``ContextError`` if it cannot be loaded.
  package final func partner(_ name: String) throws -> DynamicObject? {
    try partner(of: ownEntity().needRelationship(name, toMany: false).property) as? DynamicObject
  }

  /// The key that a to-one relationship has in the object's row, even if no object has the key any more; 0 for nil.
  ///
  /// - Throws: the same errors as ``partner(_:)``.
  package final func partnerKey(_ name: String) throws -> Int64 {
    let relationship = try ownEntity().needRelationship(name, toMany: false)
    guard relationship.column != nil else { return try partner(of: relationship.property)?._key ?? 0 }
    _willRead(relationship.property)
    try managedObjectContext?.throwPendingFailure()
    return _reference(relationship.property)
  }

  /// The members of a to-many relationship.
  ///
  /// - Throws: ``DynamicError`` for a name that is no to-many relationship; ``ContextError`` if they cannot be loaded.
  package final func members(_ name: String) throws -> [DynamicObject] {
    try members(of: ownEntity().needRelationship(name, toMany: true).property).compactMap { $0 as? DynamicObject }
  }

  /// The keys of the members of a to-many relationship. The objects are not loaded.
  ///
  /// - Throws: the same errors as ``members(_:)``.
  package final func memberKeys(_ name: String) throws -> [Int64] {
    try keysOfMembers(of: ownEntity().needRelationship(name, toMany: true).property)
  }

  /// Sets the partner of a to-one relationship. The inverse is updated.
  ///
  /// - Throws: ``DynamicError`` for a name that is no to-one relationship, and with the code `wrong-partner`;
  ///   ``ContextError`` if an object is deleted, belongs to another context, or cannot be loaded.
  package final func set(_ name: String, _ partner: DynamicObject?) throws {
    let relationship = try ownEntity().needRelationship(name, toMany: false)
    if let partner { try check([partner], for: relationship) }
    try setPartner(of: relationship.property, partner)
  }

  /// Makes some objects the members of a to-many relationship, in their order. The inverse is updated.
  ///
  /// - Throws: the errors of ``set(_:_:)-(_,DynamicObject?)``, for to-many relationships.
  package final func set(_ name: String, _ members: [DynamicObject]) throws {
    let relationship = try ownEntity().needRelationship(name, toMany: true)
    try check(members, for: relationship)
    try replaceMembers(of: relationship.property, with: members)
  }

  /// Adds a member to a to-many relationship, or moves it if it is one.
  ///
  /// - Parameter position: The position in an ordered relationship, beyond the end counts as the end; nil for the end.
  /// - Throws: the same errors as ``set(_:_:)-(_,[DynamicObject])``.
  package final func add(_ member: DynamicObject, to name: String, at position: Int? = nil) throws {
    let relationship = try ownEntity().needRelationship(name, toMany: true)
    try check([member], for: relationship)
    try add(member, to: relationship.property, at: position)
  }

  /// Removes a member of a to-many relationship, without deleting it. Does nothing if it is none.
  ///
  /// - Throws: the same errors as ``set(_:_:)-(_,[DynamicObject])``.
  package final func remove(_ member: DynamicObject, from name: String) throws {
    let relationship = try ownEntity().needRelationship(name, toMany: true)
    try check([member], for: relationship)
    try remove(member, from: relationship.property)
  }

  // MARK: Checks

  /// The entity of the object.
  ///
  /// - Throws: ``DynamicError`` for a placeholder without one.
  package final func ownEntity() throws(DynamicError) -> Entity {
    if let entity { return entity }
    throw DynamicError(.missingObject, "", nil, "The object was created for a context that is gone.")
  }

  /// The generated classes have types for this.
  private final func check(_ partners: [DynamicObject], for relationship: Relationship) throws(DynamicError) {
    guard let model = managedObjectContext?.model else { return }
    let destination = model.entities[relationship.destination]
    for partner in partners where partner.managedObjectContext === managedObjectContext {
      guard let entity = partner.entity, !destination.subtree.contains(entity.index) else { continue }
      throw DynamicError(
        .wrongPartner, _entityName, relationship.name,
        "\(_entityName).\(relationship.name) must lead to objects of \(destination.name), and \(partner) is none.")
    }
  }
}
