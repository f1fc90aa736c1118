import Foundation
import TrellisTestSupport

@testable import Trellis

/// A context that changes notes at random.
struct RandomScribe {
  let context: ManagedObjectContext
  private let name: String
  private var count = 0

  init(_ container: PersistentContainer, _ name: String) {
    context = container.newContext()
    context.author = name
    context.mergePolicy = .storeTrump
    context.undo.enable()
    self.name = name
  }

  /// Makes one change, or saves.
  ///
  /// - Returns: whether something may have been written to the store.
  mutating func step(_ random: inout SeededGenerator) throws -> Bool {
    count += 1
    switch random.below(100) {
    case 0..<8: _ = Folder(in: context, title: text(&random))
    case 8..<20: _ = Note(in: context, text: text(&random))
    case 20..<26: _ = Task(in: context, text: text(&random))
    case 26..<33: _ = Label(in: context, name: "\(name) \(count)")
    case 33..<70: try edit(&random)
    case 70..<76: try deleteOne(&random)
    case 76..<79: try undo(&random)
    case 79..<81: context.rollback()
    case 81..<84: return try batch(&random)
    default: return save(&random)
    }
    return false
  }

  private func text(_ random: inout SeededGenerator) -> String {
    ["sea", "lake", "river"][random.below(3)] + " \(count)"
  }

  private func save(_ random: inout SeededGenerator) -> Bool {
    do {
      try context.save()
      return true
    } catch {
      context.rollback()
      return false
    }
  }

  private func one<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ random: inout SeededGenerator
  ) throws -> Columns.Object? {
    let all = try context.fetch(request)
    return all.isEmpty ? nil : all[random.below(all.count)]
  }

  // MARK: Edits

  private func edit(_ random: inout SeededGenerator) throws {
    switch random.below(3) {
    case 0: if let folder = try one(Folder.all, &random) { try edit(folder, &random) }
    case 1: if let label = try one(Label.all, &random) { try edit(label, &random) }
    default: if let note = try one(Note.all, &random) { try edit(note, &random) }
    }
  }

  private func edit(_ folder: Folder, _ random: inout SeededGenerator) throws {
    switch random.below(6) {
    case 0: folder.title = text(&random)
    case 1:
      let parent = try one(Folder.all, &random)
      if parent !== folder { folder.parent = parent }
    case 2: if let note = try one(Note.all, &random) { folder.notes.append(note) }
    case 3:
      if let note = try one(Note.all, &random), !folder.notes.contains(note) {
        folder.notes.insert(note, at: random.below(folder.notes.count + 1))
      }
    case 4:
      let count = folder.notes.count
      if count > 1 { folder.notes.move(from: random.below(count), to: random.below(count)) }
    default: folder.cover = random.below(3) == 0 ? nil : try one(Note.all, &random)
    }
  }

  private func edit(_ label: Label, _ random: inout SeededGenerator) throws {
    switch random.below(4) {
    case 0: label.color = Int64(random.below(9))
    case 1: label.name = "\(name) \(count)"
    case 2: if let note = try one(Note.all, &random) { label.notes.append(note) }
    default:
      let count = label.notes.count
      if count > 1 { label.notes.move(from: random.below(count), to: random.below(count)) }
    }
  }

  private func edit(_ note: Note, _ random: inout SeededGenerator) throws {
    switch random.below(9) {
    case 0: note.text = text(&random)
    case 1: note.number = random.below(3) == 0 ? nil : Int64(random.below(9))
    case 2: note.remoteID = "r\(count)"
    case 3: if let label = try one(Label.all, &random) { note.labels.append(label) }
    case 4:
      let count = note.labels.count
      if count > 0 { _ = note.labels.remove(at: random.below(count)) }
    case 5: if let other = try one(Note.all, &random) { note.links.append(other) }
    case 6: note.twin = random.below(4) == 0 ? nil : try one(Note.all, &random)
    case 7: if let label = try one(Label.all, &random) { note.favorites.append(label) }
    default: if let task = note as? Task { task.isDone.toggle() } else { note.links.removeAll() }
    }
  }

  private func deleteOne(_ random: inout SeededGenerator) throws {
    let victim: ManagedObject? =
      switch random.below(3) {
      case 0: try one(Folder.all, &random)
      case 1: try one(Label.all, &random)
      default: try one(Note.all, &random)
      }
    if let victim { try context.delete(victim) }
  }

  private func undo(_ random: inout SeededGenerator) throws {
    if random.below(3) == 0 { try context.undo.redo() } else { try context.undo.undo() }
  }

  /// Changes many objects at once.
  private func batch(_ random: inout SeededGenerator) throws -> Bool {
    do {
      switch random.below(5) {
      case 0: _ = try context.updateAll(Label.where { $0.color < 3 }.storedOnly()) { $0.color.set(7) }
      case 1: _ = try context.updateAll(Note.where { $0.number > 3 }.storedOnly()) { $0.text.set("all \(count)") }
      case 2: _ = try context.deleteAll(Label.where { $0.color == 5 }.storedOnly())
      case 3: _ = try context.deleteAll(Note.where { $0.number == 2 }.storedOnly())
      default: _ = try context.deleteAll(Folder.where { $0.parent != nil && $0.title.hasPrefix("lake") }.storedOnly())
      }
      return true
    } catch {
      return false
    }
  }
}
