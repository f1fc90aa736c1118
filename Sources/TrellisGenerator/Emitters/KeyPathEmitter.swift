/// Which property a key path leads to, for predicates of Foundation: those know key paths and no names.
///
/// A key path differs from that of the class above to the same property, so each class has all of them. What lives in memory only
/// is left out, so that it cannot be asked for.
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
