/// Emits the table from key paths to properties, for Foundation predicates, which contain key paths but no names.
///
/// A key path differs from the parent class's key path to the same property, so each class lists all of them.
/// Properties that exist in memory only are left out, so that predicates cannot use them.
enum KeyPathEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    guard let identity = plan.identityKeyPaths else { return }
    let table = "_\(plan.name)KeyPaths"
    writer.blank()
    writer.block(
      "@_spi(Generated) public override class var _keyPaths: \(TypeName.keyPathTable)", returning: table)
    writer.blank()
    writer.line("private static let \(table) = \(TypeName.keyPathTable)([")
    writer.indent()
    for name in identity { writer.line("\\\(plan.name).\(name): \(TypeName.keyPathTable).identity,") }
    for field in plan.fields.filter(ColumnsEmitter.isStored) {
      writer.line("\\\(plan.name).\(field.name.spelled): \(field.number),")
    }
    writer.outdent()
    writer.line("])")
  }
}
