/// Emits an entity: its class, and the types and fetches that belong to it.
enum EntityEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.blank()
    writer.line("// MARK: - \(plan.name)")
    writer.blank()
    writer.doc(plan.description.doc)
    writer.block(header(of: plan)) { writer in
      emitStorage(of: plan, to: &writer)
      InitialiserEmitter.emit(plan, to: &writer)
      AccessorEmitter.emit(plan, to: &writer)
      SnapshotAccessEmitter.emitMembers(plan, to: &writer)
      writer.blank()
      writer.line("// MARK: What Trellis calls")
      RowReadingEmitter.emit(plan, to: &writer)
      RowWritingEmitter.emit(plan, to: &writer)
      RowAccessEmitter.emit(plan, to: &writer)
      RowCopyEmitter.emit(plan, to: &writer)
      TransientCopyEmitter.emit(plan, to: &writer)
      HookEmitter.emitOverrides(plan, to: &writer)
      KeyPathEmitter.emit(plan, to: &writer)
      writer.blank()
      DescriptionEmitter.emit(plan, to: &writer)
    }
    writer.blank()
    writer.block("nonisolated extension \(plan.name)") { writer in
      RowStructEmitter.emit(plan, to: &writer)
      writer.blank()
      ColumnsEmitter.emit(plan, to: &writer)
      writer.blank()
      FetchEmitter.emit(plan, to: &writer)
      RequestEmitter.emit(plan, to: &writer)
      HookEmitter.emitProtocol(plan, to: &writer)
    }
    HookEmitter.emitConformance(plan, to: &writer)
    SnapshotAccessEmitter.emitExtensions(plan, to: &writer)
  }

  private static func header(of plan: EntityPlan) -> String {
    let kind = plan.height == 0 ? "public nonisolated final class" : "public nonisolated class"
    let identifiable = plan.isIdentifiable ? ", Swift.Identifiable" : ""
    return "\(kind) \(plan.name): \(plan.parentName ?? TypeName.managedObject)\(identifiable)"
  }

  private static func emitStorage(of plan: EntityPlan, to writer: inout CodeWriter) {
    let attributes = "@exclusivity(unchecked) private final var"
    if plan.hasRow { writer.line("\(attributes) _row: \(plan.rowType)") }
    for field in plan.ownPlaces {
      writer.line("/// The place among `\(field.name.name).\(field.inverseName ?? "")`.")
      writer.line("\(attributes) \(field.storage): Swift.Int64?")
    }
    for field in plan.ownTransients { writer.line("\(attributes) \(field.storage): \(field.type)") }
    if plan.hasRow || !plan.ownTransients.isEmpty { writer.blank() }
  }
}
