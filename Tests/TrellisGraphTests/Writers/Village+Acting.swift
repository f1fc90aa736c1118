import Trellis
import TrellisRuntime

/// How an act ends, and what is looked at then.
extension Village {
  func carryOut(_ act: Act) throws {
    let writer = writers[act.writer % writers.count]
    // So that every state of the store is known.
    if checksSaves { _ = try truth() }
    try carryOut(act, writer)
    if checksSaves { for writer in writers where writer.parent == nil { writer.noteEdits() } }
    if comparesMemory { try checkLinks(after: act, of: writer) }
    for writer in writers {
      if let violation = writer.context.graph.stateViolations().first {
        throw Difference(description: "\(Act.name(of: writer.index)) is out of order: \(violation)")
      }
    }
  }

  /// Both ends of every relationship agree in each context that knows what others have done.
  private func checkLinks(after act: Act, of actor: Writer) throws {
    if let finding = findings?.take().first { throw Difference(description: finding) }
    var hasMerged = false
    if case .merge = act.deed { hasMerged = true }
    for writer in writers {
      if let violation = writer.context.linkViolations(hasMerged: hasMerged && writer === actor).first {
        throw Difference(description: "\(Act.name(of: writer.index)): \(violation)")
      }
    }
  }

  private func carryOut(_ act: Act, _ writer: Writer) throws {
    switch act.deed {
    case .merge(let looks):
      try merge(writer, looks: looks)
      if looks { try look(at: writer) }
    case .save(let policy, let look): try save(writer, policy, look)
    case .discardInvalidAndSave: try discardInvalidAndSave(writer)
    case .updateAll(let entity, let size):
      try change(writer) { try VillageTable.access(entity).updateSizes($0, size) }
    case .deleteAll(let entity, let size):
      try change(writer) { try VillageTable.access(entity).deleteOfSize($0, size) }
    default:
      if case .fetch = act.deed { try merge(writer, looks: false) }
      do { try writer.carryOut(act.deed) } catch { throw Difference(description: "it throws \(error)") }
      if plan.undoes { writer.context.undo.endStep() }
    }
  }

  private func observes(_ writer: Writer) -> Bool {
    comparesMemory && plan.observes
  }

  /// What is edited has to be there afterwards, and who observes is told of what is another one.
  private func merge(_ writer: Writer, looks: Bool) throws {
    let edits = comparesMemory ? Edits(self, writer) : nil
    let announcements = looks && observes(writer) ? try Announcements(self, writer) : nil
    writer.context.mergeChanges()
    // What a parent changes without a save is seen by its child's next refresh.
    if writer.parent != nil {
      writer.context.refreshAll()
      // That a parent has none of it any more is known once it is read.
      _ = try writer.picture()
    }
    writer.noteMerged()
    do {
      try edits?.check(writer.truth())
      try announcements?.check(writer.picture())
    } catch let difference as Difference {
      throw Difference(description: "\(Act.name(of: writer.index)): \(difference)")
    }
  }

  private enum Ending: Equatable {
    case saved, conflict
    case refused(ValidationError)
  }

  private func save(_ writer: Writer, _ policy: MergePolicy, _ look: Act.Look) throws {
    if look == .mergedBefore {
      try merge(writer, looks: true)
      try self.look(at: writer)
    }
    let edits = checksSaves ? Edits(self, writer) : nil
    let check = look == .before || look == .mergedBefore ? try check(before: policy, of: writer, look) : nil
    let hadChanges = writer.context.hasChanges
    let ending = try end(of: policy) { try writer.context.save(mergePolicy: policy) }
    if ending == .saved {
      if writer.context.hasChanges { throw Difference(description: "there are changes after a save") }
      let pairs = writer.pairs
      writer.noteSaved()
      try edits?.checkSaved(writer.truth(), policy)
      try check?.checkSaved()
      if checksSaves && policy != .rollback && !plan.hasKeys { try pairs.check(writer.truth()) }
    } else {
      if !hadChanges { throw Difference(description: "a save of nothing ended as \(ending)") }
      // Otherwise it has merged what others saved.
      do { if look == .mergedBefore { try check?.checkUnchanged() } } catch let difference as Difference {
        throw Difference(description: "\(ending) under \(policy), \(difference)")
      }
    }
    if look != .not {
      // What a save has merged is as it is before it failed; the next merge takes it over.
      if ending != .saved || writer.parent != nil { try merge(writer, looks: false) }
      try self.look(at: writer)
    }
  }

  private func end(of policy: MergePolicy, _ save: () throws -> Void) throws -> Ending {
    do {
      try save()
      return .saved
    } catch is SaveConflict {
      return .conflict
    } catch let refusal as ValidationError {
      return .refused(refusal)
    } catch {
      throw Difference(description: "a save under \(policy) throws \(error)")
    }
  }

  private func discardInvalidAndSave(_ writer: Writer) throws {
    let ending = try end(of: .error) { try writer.context.saveValidChanges(mergePolicy: .error) }
    if case .refused(let refusal) = ending {
      throw Difference(description: "a save of the valid changes was refused: \(refusal)")
    }
    if ending == .saved {
      writer.noteSaved()
    }
    try merge(writer, looks: true)
    try look(at: writer)
  }

  /// Changes of many objects at once are refused by unsaved ones, and by rules.
  private func change(_ writer: Writer, _ body: (ManagedObjectContext) throws -> Void) throws {
    do {
      try body(writer.context)
      // Only rows without unsaved changes are written.
      writer.noteSaved(hasPlaced: false)
    } catch is ValidationError {
    } catch is ContextError {
    } catch let error as StoreError where error.code == .unsupported {
    } catch {
      throw Difference(description: "it throws \(error)")
    }
  }
}
