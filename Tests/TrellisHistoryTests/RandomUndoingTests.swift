import Testing
import TrellisTestSupport
import TrellisTimeTravel

@testable import Trellis

/// Undoes saves of random graphs, and compares with pictures that were taken of every moment.
@Suite("Undo of random saves") struct RandomUndoingTests {
  /// `TRELLIS_UNDO_STEPS` sets the number of saves, `TRELLIS_UNDO_SEED` the first seed.
  @Test("An undone save leaves the store as before it, or as it would be without it", arguments: StoreKind.withHistory)
  func undo(_ kind: StoreKind) throws {
    let steps = TestSettings.number("TRELLIS_UNDO_STEPS", or: 120)
    let seed = TestSettings.seed("TRELLIS_UNDO_SEED")
    var totals = Totals()
    for episode in 0..<UInt64(max(1, steps / 40)) {
      var run = try UndoRun(kind, seed: seed &+ episode)
      let failures = try run.run(saves: min(steps, 40), &totals)
      #expect(failures.isEmpty, "seed \(seed &+ episode): \(failures.prefix(12).joined(separator: "\n"))")
      if !failures.isEmpty { return }
    }
    print("undo: \(kind) \(totals)")
    #expect(totals.undone > 0 && totals.undoneLater > 0 && totals.refused > 0)
  }
}

private struct Totals {
  var saves = 0
  var undone = 0
  var undoneLater = 0
  var refused = 0
  var broken = 0
}

private struct UndoRun {
  private let store: ShapesStore
  private var random: SeededGenerator
  private let scribe: ShapesScribe
  private var failures: [String] = []
  /// Each save with the content before and after it.
  private var saves: [(save: HistoryTransaction, before: StorePicture, after: StorePicture)] = []

  init(_ kind: StoreKind, seed: UInt64) throws {
    store = try ShapesStore(kind)
    random = SeededGenerator(seed: seed)
    scribe = ShapesScribe(store.container)
  }

  mutating func run(saves count: Int, _ totals: inout Totals) throws -> [String] {
    for _ in 0..<count where failures.isEmpty {
      guard try saveSome() else { continue }
      totals.saves += 1
      switch random.below(3) {
      case 0: try undoLast(&totals)
      case 1: try undoAny(&totals)
      default: break
      }
      let broken = try store.container.check()
      if !broken.isEmpty { failures.append("rules are broken: \(broken)") }
    }
    return failures
  }

  /// - Returns: whether something was saved.
  private mutating func saveSome() throws -> Bool {
    let before = try store.picture()
    for _ in 0..<(1 + random.below(8)) { try scribe.step(&random) }
    guard scribe.context.hasChanges else { return false }
    do { try scribe.context.save() } catch {
      scribe.context.rollback()
      return false
    }
    try store.container.settle()
    let save = try store.lastSave()
    if save.token == saves.last?.save.token { return false }
    saves.append((save, before, try store.picture()))
    return true
  }

  private func error(_ body: () throws -> Void) throws -> (any Error)? {
    do {
      try body()
      return nil
    } catch let refusal as UndoRefusal {
      return refusal
    } catch let broken as ValidationError {
      return broken
    } catch let error as StoreError where error.code == .notUnique {
      return error
    }
  }

  private mutating func undoLast(_ totals: inout Totals) throws {
    guard let (save, before, after) = saves.last else { return }
    if let problem = try error({ try store.undo(save) }) {
      failures.append("the last save \(save) is not undone: \(problem)")
      return
    }
    totals.undone += 1
    let now = try store.picture()
    failures += now.differences(from: before).map { "after the undo of \(save.changes): \($0)" }
    failures += try store.picture(asOf: store.container.historyToken()).differences(from: before).map { "as of: \($0)" }
    let undo = try store.lastSave()
    if undo.token == save.token { return }
    saves.append((undo, after, now))
    guard random.below(2) == 0 else { return }
    if let problem = try error({ try store.undo(undo) }) {
      failures.append("the undo of \(save) is not undone: \(problem)")
      return
    }
    let again = try store.picture()
    failures += again.differences(from: after).map { "after the undo of the undo of \(save.changes): \($0)" }
    saves.append((try store.lastSave(), now, again))
  }

  private mutating func undoAny(_ totals: inout Totals) throws {
    let (save, before, after) = saves[random.below(saves.count)]
    let present = try store.picture()
    let expectation = UndoExpectation(before: before, after: after, present: present)
    let problem = try error { try store.undo(save) }
    let now = try store.picture()
    if problem != nil {
      failures += now.differences(from: present).map { "after a refusal: \($0)" }
      if problem is UndoRefusal {
        totals.refused += 1
        if !expectation.hasConflict {
          failures.append("the undo of \(save.changes) has no reason for \(problem as Any)")
        }
      } else {
        totals.broken += 1
      }
      return
    }
    totals.undoneLater += 1
    failures += expectation.failures(of: now).map { "after the undo of \(save.changes): \($0)" }
    let last = try store.lastSave()
    if last.token != saves[saves.count - 1].save.token { saves.append((last, present, now)) }
  }
}

/// What the undo of a save has to do, from the contents of three moments.
private struct UndoExpectation {
  let before: StorePicture
  let after: StorePicture
  let present: StorePicture

  private var keys: [Int64] { Set(before.objects.keys).union(after.objects.keys).union(present.objects.keys).sorted() }

  /// Whether anything that the save changed is otherwise by now, or needs an object that is gone.
  var hasConflict: Bool {
    for key in keys where before.objects[key] != after.objects[key] {
      let (old, new, now) = (before.objects[key], after.objects[key], present.objects[key])
      guard let new else {
        if now != nil { return true }
        if let old, hasGone(old) { return true }
        continue
      }
      guard let now else { return true }
      guard let old else {
        if isChanged(new, now) { return true }
        continue
      }
      for name in new.keys where old[name] != new[name] {
        if new[name] != now[name] { return true }
        if before.ordered.contains(name) || !before.attributes.contains(name), hasGone([name: old[name] ?? []]) {
          return true
        }
      }
    }
    return isUsedOneWay
  }

  private func isChanged(_ new: [String: [String]], _ now: [String: [String]]) -> Bool {
    new.contains { name, value in Set(value) != Set(now[name] ?? []) }
  }

  /// Whether an object that the save inserted is referred to from one end only.
  private var isUsedOneWay: Bool {
    let inserted = Set(after.objects.keys.filter { before.objects[$0] == nil }.map(String.init))
    return present.objects.contains { key, values in
      ["seenBy", "ranking", "chief"].contains { name in
        !inserted.isDisjoint(with: Set(values[name] ?? []).subtracting(after.objects[key]?[name] ?? []))
      }
    }
  }

  private func hasGone(_ values: [String: [String]]) -> Bool {
    values.contains { name, partners in
      !before.attributes.contains(name) && name != "entity"
        && partners.contains { partner in
          guard let key = Int64(partner) else { return false }
          let isRestored = before.objects[key] != nil && after.objects[key] == nil
          // The partner may have found another one meanwhile.
          return !isRestored && (present.objects[key] == nil || present.objects[key] != after.objects[key])
        }
    }
  }

  /// What is not as it should be after the undo.
  func failures(of now: StorePicture) -> [String] {
    var found: [String] = []
    for key in keys {
      let (old, new) = (before.objects[key], after.objects[key])
      let isThere = (old != nil) == (new != nil) ? present.objects[key] != nil : old != nil
      guard isThere == (now.objects[key] != nil) else {
        found.append("#\(key) is \(isThere ? "missing" : "too much")")
        continue
      }
      guard let result = now.objects[key] else { continue }
      // A delete leaves these references to nothing, and what becomes of them later is no change of what the save did.
      for name in result.keys where name != "seen" && name != "guest" {
        // A list at the other end of a reference follows from that.
        let (was, left, is_) = (old?[name], new?[name], present.objects[key]?[name])
        let expected: [String]?
        if before.attributes.contains(name) || before.references.contains(name) || name == "entity" {
          expected = old != nil && (new == nil || was != left) ? was : is_
          if let expected, expected != result[name] {
            found.append("#\(key).\(name) is \(result[name] ?? []) instead of \(expected)")
          }
        } else {
          let pairs = Set(is_ ?? []).subtracting(Set(left ?? []).subtracting(was ?? []))
            .union(Set(was ?? []).subtracting(left ?? [])).filter { $0 == "nil" || now.objects[Int64($0) ?? 0] != nil }
          if pairs.subtracting(["nil"]) != Set(result[name] ?? []).subtracting(["nil"]) {
            found.append("#\(key).\(name) is \(result[name] ?? []) instead of \(pairs.sorted())")
          }
          if before.ordered.contains(name), left == is_, let was, was != result[name],
            Set(was) == Set(result[name] ?? [])
          {
            found.append("#\(key).\(name) is in the order \(result[name] ?? []) instead of \(was)")
          }
        }
      }
    }
    return found
  }
}
