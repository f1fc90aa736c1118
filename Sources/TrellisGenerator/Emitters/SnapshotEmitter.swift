/// Emits `snapshot` and `committed`.
///
/// In a hierarchy their type differs by class, which overriding cannot express, and properties of different types in a
/// class and its parent class are ambiguous. Protocol extensions with ever narrower `Self` are not ambiguous: the
/// narrowest wins.
enum SnapshotAccessEmitter {
  private static let snapshotDoc = "/// The stored values as they are now."
  private static let committedDoc =
    "/// The stored values as they were when last fetched or saved; nil for an object that was never saved."

  static func emitMembers(_ plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.isInHierarchy { return emitHelpers(plan, to: &writer) }
    writer.blank()
    writer.line(snapshotDoc)
    writer.line("public var snapshot: Snapshot { _willRead(-1); return \(unsafeMark)_row }")
    writer.blank()
    writer.line(committedDoc)
    writer.block("public var committed: Snapshot?", returning: committedRow)
  }

  static func emitExtensions(_ plan: EntityPlan, to writer: inout CodeWriter) {
    guard plan.isInHierarchy else { return }
    writer.blank()
    writer.block("nonisolated extension \(TypeName.identifiedObject) where Self: \(plan.name)") { writer in
      writer.line(snapshotDoc)
      let snapshot = "public var snapshot: \(plan.name).Snapshot"
      writer.block(snapshot, returning: "\(PrivateNames.snapshot(of: plan.name))()")
      writer.blank()
      writer.line(committedDoc)
      let committed = "public var committed: \(plan.name).Snapshot?"
      writer.block(committed, returning: "\(PrivateNames.committed(of: plan.name))()")
    }
  }

  private static let committedRow = "_committedRow(or: \(unsafeMark)_row)"

  private static func emitHelpers(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.blank()
    let snapshot = "fileprivate final func \(PrivateNames.snapshot(of: plan.name))() -> Snapshot"
    let committed = "fileprivate final func \(PrivateNames.committed(of: plan.name))() -> Snapshot?"
    guard let parent = plan.parentName else {
      writer.block(snapshot) { writer in
        writer.line("_willRead(-1)")
        writer.line("return \(unsafeMark)_row")
      }
      writer.blank()
      return writer.block(committed, returning: committedRow)
    }
    let own = plan.hasRow ? ", \(unsafeMark)_row" : ""
    writer.block(snapshot, returning: "Snapshot(\(PrivateNames.snapshot(of: parent))()\(own))")
    writer.blank()
    let old = plan.hasRow ? ", \(unsafeMark)_committed?.part(\(EntityPlan.ownFieldsType).self) ?? _row" : ""
    writer.block(committed) { writer in
      writer.line("guard let inherited = \(PrivateNames.committed(of: parent))() else { return nil }")
      writer.line("return Snapshot(inherited\(old))")
    }
  }
}

// MARK: - Snapshot conformance emitter

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
    writer.block("public static func == (left: Self, right: Self) -> Swift.Bool") { writer in
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
