/// Emits comparing, encoding and decoding of a snapshot.
///
/// The code is written out in short calls, because derived conformances would make up most of an entity's compile time.
enum SnapshotConformanceEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    emitEquality(plan, to: &writer)
    writer.blank()
    writer.block("public init(from decoder: any Swift.Decoder) throws") { writer in
      writer.line("let values = try \(TypeName.snapshotDecoder)(decoder)")
      writer.line("objectID = values.value(\"objectID\")")
      for field in plan.rowFields {
        let call = field.rowType.hasSuffix("?") ? "valueIfPresent" : "value"
        writer.line("\(target(field)) = values.\(call)(\"\(field.name.name)\")")
      }
      writer.line("try values.finish()")
    }
    writer.blank()
    writer.block("public func encode(to encoder: any Swift.Encoder) throws") { writer in
      writer.line("let values = \(TypeName.snapshotEncoder)(encoder)")
      writer.line("values.put(objectID, \"objectID\")")
      for field in plan.rowFields {
        let call = field.rowType.hasSuffix("?") ? "putIfPresent" : "put"
        writer.line("values.\(call)(\(target(field)), \"\(field.name.name)\")")
      }
      writer.line("try values.finish()")
    }
  }

  private static func emitEquality(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.blank()
    writer.line("/// Whether both would be stored alike: texts are compared by their bytes.")
    writer.block("public static func == (left: Snapshot, right: Snapshot) -> Swift.Bool") { writer in
      writer.line("guard left.objectID == right.objectID else { return false }")
      for field in plan.rowFields {
        let name = field.name.member
        writer.line("guard left.\(name).isSameStored(as: right.\(name)) else { return false }")
      }
      writer.line("return true")
    }
  }

  private static func target(_ field: Field) -> String {
    field.name.member(besides: "values", "decoder", "encoder")
  }
}
