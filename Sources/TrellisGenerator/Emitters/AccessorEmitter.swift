import TrellisSchema

/// Emits the properties of a class.
enum AccessorEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    for field in plan.ownFields {
      writer.blank()
      writer.doc(field.doc)
      writer.block("public var \(field.name.spelled): \(field.type)") { writer in
        for accessor in accessors(of: field) { writer.line(accessor) }
      }
    }
    guard plan.providesID else { return }
    writer.blank()
    writer.line("public var id: \(TypeName.objectID)<\(plan.name)> { objectID }")
  }

  private static func accessors(of field: Field) -> [String] {
    let number = field.number
    switch field.kind {
    case .attribute(let attribute, _):
      let stored = "_row.\(field.name.member)"
      let value = field.isExternal ? "_load(\(unsafeMark)\(stored), \(number))" : unsafeMark + stored
      return [
        "get { _willRead(\(number)); return \(value) }",
        "set { if _willWrite(\(number)) { \(unsafeMark)\(stored) = \(newValue(of: field, attribute)) } }",
      ]
    case .transient(let attribute):
      return [
        "get { _willRead(\(number)); return \(unsafeMark)\(field.storage) }",
        "set { if _willWrite(\(number)) { \(unsafeMark)\(field.storage) = \(newValue(of: field, attribute)) } }",
      ]
    case .reference, .partner:
      return ["get { _partner(\(number)) }", "set { _setPartner(\(number), newValue) }"]
    case .toMany(let relationship):
      let type = relationship.isOrdered ? TypeName.orderedToMany : TypeName.toMany
      return ["get { \(type)(self, \(number)) }", "set { newValue._assign(to: self, \(number)) }"]
    }
  }

  private static func newValue(of field: Field, _ attribute: Attribute) -> String {
    field.kept("newValue", isOptional: attribute.isOptional)
  }
}
