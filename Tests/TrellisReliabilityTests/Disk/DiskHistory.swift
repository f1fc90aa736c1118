import TrellisTestSupport

/// What a disk may hold after the power went at some moment: all that was brought to it, and any part of the rest.
struct DiskHistory {
  /// What becomes of writes that were not brought to the disk.
  enum Loss: CaseIterable {
    /// None of them is there.
    case all
    /// Each is there, as after the death of the program alone.
    case none
    /// Each is there or is not, in any order.
    case some
    /// Each sector of 512 bytes is there or is not.
    case torn
  }

  private enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(Int)
  }

  /// A file's content, whatever its name.
  private struct Content {
    var safe: [UInt8] = []
    var pending: [Change] = []
  }

  /// A name that leads to a content, or to none any more. A rename changes two of them at once.
  private struct Entry {
    var name: String
    var content: Int?
    var lostName: String?

    var folder: String { DiskHistory.folder(of: name) }
  }

  private static let sector = 512
  private var contents: [Content] = []
  /// Names as programs see them, and as they are on the disk.
  private var names: [String: Int] = [:]
  private var safeNames: [String: Int] = [:]
  private var pendingEntries: [Entry] = []

  init() {}

  /// A disk that has all of an image.
  init(_ image: StoreImage) {
    for (name, content) in image.files.sorted(by: { $0.key < $1.key }) {
      let folder = Self.folder(of: name)
      if !folder.isEmpty && safeNames[folder + "/"] == nil { add(folder + "/", Content()) }
      add(name, Content(safe: Array(content)))
    }
    names = safeNames
  }

  private mutating func add(_ name: String, _ content: Content) {
    safeNames[name] = contents.count
    contents.append(content)
  }

  // MARK: Going on

  mutating func apply(_ step: DiskStep) {
    switch step.kind {
    case .open: if names[step.file] == nil { create(step.file) }
    case .write: change(step.file, .write(offset: step.offset, bytes: step.bytes))
    case .truncate: change(step.file, .truncate(step.length))
    case .sync:
      if let content = names[step.file] { bringDown(content) }
      if step.includesFolder { bringDownNames(of: Self.folder(of: step.file)) }
    case .delete:
      names[step.file] = nil
      pendingEntries.append(Entry(name: step.file, content: nil))
      if step.includesFolder { bringDownNames(of: Self.folder(of: step.file)) }
    case .rename:
      let content = names.removeValue(forKey: step.file)
      names[step.newName] = content
      pendingEntries.append(Entry(name: step.newName, content: content, lostName: step.file))
    case .makeFolder: create(step.file + "/")
    case .syncFolder: bringDownNames(of: step.file)
    case .read, .map: break
    }
  }

  /// The folder that a name lies in, relative to where the disk begins; a folder's own name ends in a slash.
  private static func folder(of name: String) -> String {
    let parts = name.split(separator: "/")
    return parts.dropLast().joined(separator: "/")
  }

  private mutating func create(_ name: String) {
    names[name] = contents.count
    pendingEntries.append(Entry(name: name, content: contents.count))
    contents.append(Content())
  }

  private mutating func change(_ name: String, _ change: Change) {
    if let content = names[name] { contents[content].pending.append(change) }
  }

  private mutating func bringDown(_ content: Int) {
    for change in contents[content].pending { Self.apply(change, to: &contents[content].safe) }
    contents[content].pending = []
  }

  private mutating func bringDownNames(of folder: String) {
    for entry in pendingEntries where entry.folder == folder { Self.apply(entry, to: &safeNames) }
    pendingEntries.removeAll { $0.folder == folder }
  }

  private static func apply(_ entry: Entry, to names: inout [String: Int]) {
    // A file that was made under the lost name and is there without the rename keeps it.
    if let lost = entry.lostName, names[lost] == entry.content { names[lost] = nil }
    names[entry.name] = entry.content
  }

  private static func apply(_ change: Change, to bytes: inout [UInt8]) {
    switch change {
    case .write(let offset, let new):
      let missing = offset + new.count - bytes.count
      if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
    case .truncate(let size):
      if size < bytes.count { bytes.removeLast(bytes.count - size) }
      if size > bytes.count { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
    }
  }

  // MARK: The power goes

  /// The files that are found afterwards.
  func image(_ loss: Loss, _ chance: inout SeededGenerator) -> [String: [UInt8]] {
    var draw = Draw(loss, chance)
    defer { chance = draw.chance }
    var found = safeNames
    for entry in pendingEntries where draw.isKept() { Self.apply(entry, to: &found) }
    var image: [String: [UInt8]] = [:]
    for (name, content) in found.sorted(by: { $0.key < $1.key }) where !name.hasSuffix("/") {
      let folder = Self.folder(of: name)
      // A folder that is lost takes along what is in it.
      if !folder.isEmpty && found[folder + "/"] == nil { continue }
      var bytes = contents[content].safe
      var lost: [Int: [Piece]] = [:]
      for change in contents[content].pending { apply(change, to: &bytes, &draw, &lost) }
      image[name] = bytes
    }
    return image
  }

  /// Decides what is kept. Of many writes all but a few, about half, or a few, so that each kind of loss is met.
  private struct Draw {
    let loss: Loss
    var chance: SeededGenerator
    private let keptOf64: Int

    init(_ loss: Loss, _ chance: SeededGenerator) {
      (self.loss, self.chance) = (loss, chance)
      keptOf64 = [4, 32, 60, 63][self.chance.below(4)]
    }

    mutating func isKept() -> Bool {
      switch loss {
      case .all: false
      case .none: true
      case .some, .torn: chance.below(64) < keptOf64
      }
    }
  }

  /// What a write puts into one sector.
  private struct Piece {
    let offset: Int
    let bytes: [UInt8]
  }

  /// - Parameter lost: What was not kept of earlier writes, by sector. A disk writes sectors as the system's cache has them, so
  ///   a write that is kept brings along what earlier ones have put into the same sector.
  private func apply(
    _ change: Change, to bytes: inout [UInt8], _ draw: inout Draw, _ lost: inout [Int: [Piece]]
  ) {
    guard case .write(let offset, let new) = change else {
      if draw.isKept() { Self.apply(change, to: &bytes) }
      return
    }
    let isWholeKept = draw.loss != .torn && draw.isKept()
    var start = 0
    while start < new.count {
      // Sectors lie where the disk has them, and not where the write begins.
      let sector = (offset + start) / Self.sector
      let end = min(new.count, (sector + 1) * Self.sector - offset)
      let piece = Piece(offset: offset + start, bytes: Array(new[start..<end]))
      start = end
      guard draw.loss == .torn ? draw.isKept() : isWholeKept else {
        lost[sector, default: []].append(piece)
        continue
      }
      for piece in (lost.removeValue(forKey: sector) ?? []) + [piece] {
        Self.apply(.write(offset: piece.offset, bytes: piece.bytes), to: &bytes)
      }
    }
  }
}
