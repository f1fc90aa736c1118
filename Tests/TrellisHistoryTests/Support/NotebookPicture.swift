@_spi(Generated) import Trellis
@_spi(Generated) import TrellisRuntime

/// The content of a store with notes: a line for each object and a list for each relationship, by key.
struct NotebookPicture: Equatable {
  /// The values and to-one relationships of each object.
  var objects: [Int64: String] = [:]
  /// The members by owner, each list under its name.
  var lists: [String: [Int64]] = [:]

  init() {}

  init(_ context: ManagedObjectContext) throws {
    for folder in try context.fetch(Folder.all) { add(folder) }
    for note in try context.fetch(Note.all) { add(note) }
    for label in try context.fetch(Label.all) { add(label) }
  }

  // MARK: Objects

  mutating func add(_ folder: Folder) {
    let key = folder.objectID.key
    objects[key] =
      "Folder \(folder.title) parent \(folder.parent?.objectID.key ?? 0) cover \(folder.cover?.objectID.key ?? 0)"
    lists["\(key).notes"] = folder.notes.map { $0.objectID.key }
  }

  mutating func add(_ note: Note) {
    let key = note.objectID.key
    var line = "Note \(note.text) \(note.number ?? -1) \(note.remoteID ?? "-") folder \(note.folder?.objectID.key ?? 0)"
    line += " twin \(note.twin?.objectID.key ?? 0)"
    if let task = note as? Task { line += " Task \(task.isDone) \(task.due?.timeIntervalSince1970 ?? 0)" }
    objects[key] = line
    lists["\(key).labels"] = note.labels.map { $0.objectID.key }
    lists["\(key).links"] = note.links.map { $0.objectID.key }.sorted()
    lists["\(key).favorites"] = note.favorites.map { $0.objectID.key }.sorted()
  }

  mutating func add(_ label: Label) {
    let key = label.objectID.key
    objects[key] = "Label \(label.name) \(label.color)"
    lists["\(key).owners"] = label.notes.map { $0.objectID.key }
  }

  private mutating func remove(_ key: Int64) {
    objects[key] = nil
    for name in ["notes", "labels", "links", "favorites", "owners"] { lists["\(key).\(name)"] = nil }
    for (name, members) in lists where members.contains(key) { lists[name] = members.filter { $0 != key } }
  }

  // MARK: Replaying

  /// Applies a transaction, as a program would that follows the history: what changed is read from the store as it was
  /// after the transaction.
  mutating func apply(_ transaction: HistoryTransaction, _ then: ManagedObjectContext) throws {
    guard transaction.isComplete else {
      self = try NotebookPicture(then)
      return
    }
    var folders: Set<Int64> = []
    for change in transaction.changes {
      let key = change.id.key
      // The members of a folder hold the reference to it, and their places.
      if let folder = folder(of: key) { folders.insert(folder) }
      if case .deleted = change {
        remove(key)
        continue
      }
      switch try then.object(with: change.id) {
      case let folder as Folder: add(folder)
      case let note as Note: add(note)
      case let label as Label: add(label)
      case nil: objects[key] = "missing \(change.id)"
      default: break
      }
      if let folder = folder(of: key) { folders.insert(folder) }
    }
    for key in folders where objects[key] != nil {
      if let folder = try then.object(with: ObjectID<Folder>(key)) { add(folder) }
    }
  }

  /// The folder of a note; nil for anything else.
  private func folder(of key: Int64) -> Int64? {
    guard let line = objects[key], line.hasPrefix("Note "), let start = line.range(of: " folder ") else { return nil }
    return Int64(line[start.upperBound...].prefix { $0.isNumber })
  }

  /// What the other picture has differently.
  func differences(from other: NotebookPicture) -> [String] {
    var lines: [String] = []
    for key in Set(objects.keys).union(other.objects.keys).sorted() where objects[key] != other.objects[key] {
      lines.append("#\(key): \(objects[key] ?? "none") instead of \(other.objects[key] ?? "none")")
    }
    for name in Set(lists.keys).union(other.lists.keys).sorted() where lists[name] != other.lists[name] {
      lines.append("\(name): \(lists[name] ?? []) instead of \(other.lists[name] ?? [])")
    }
    return lines
  }
}
