/// Emits `snapshot` and, in a hierarchy, `committed`. That of other classes is a member of `FetchableObject`.
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
      return writer.block(committed, returning: "_committedRow()")
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

// MARK: - Snapshot visit emitter

/// Emits the function by which the runtime compares, encodes and decodes a snapshot.
enum SnapshotVisitEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.blank()
    let parameters = ["with other: Self", "_ visitor: \(TypeName.snapshotVisitor)"]
    writer.function("@_spi(Generated) public mutating func _visit", parameters) { writer in
      writer.line("visitor.visit(&objectID, other.objectID, \"objectID\")")
      for field in plan.rowFields {
        let call = field.rowType.hasSuffix("?") ? "visitOptional" : "visit"
        let name = field.name
        let key = field.isField ? field.attribute?.name ?? "" : name.name
        let value = name.member(besides: "other", "visitor")
        writer.line("visitor.\(call)(&\(value), other.\(name.member), \"\(key)\")")
      }
    }
  }
}
