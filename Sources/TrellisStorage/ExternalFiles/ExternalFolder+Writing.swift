import Foundation
import TrellisSchema

extension ExternalFolder {
  /// Writes bytes to their file and syncs it. The name is durable only after the folder is synced, too.
  ///
  /// An existing file is replaced, because only reading it would show whether it is intact.
  ///
  /// - Throws: ``StoreError``. At most an unused file is left behind.
  func write(_ bytes: Data, _ digest: ContentDigest) throws(StoreError) -> ExternalFile {
    guard bytes.count <= Self.largest else { throw Self.tooLarge.externalError("written", path(of: digest)) }
    // From here on, the file cannot be collected.
    let made = ExternalFile(digest, size: bytes.count, origin: self)
    try write(digest) { file throws(FileProblem) in
      var problem: FileProblem?
      bytes.withUnsafeBytes { bytes in
        do throws(FileProblem) { try file.write(bytes) } catch { problem = error }
      }
      if let problem { throw problem }
    }
    return made
  }

  /// Writes the file for a content.
  ///
  /// - Parameter body: receives a new, empty file and writes the content to it.
  /// - Throws: ``StoreError``. At most an unused file is left behind.
  func write(_ digest: ContentDigest, _ body: (any OpenFile) throws(FileProblem) -> Void) throws(StoreError) {
    try prepare()
    let name = beginTemporary(digest)
    defer { _ = shared.withLock { $0.temporaries.remove(name) } }
    let temporary = "\(path)/\(name)"
    do throws(FileProblem) {
      try? files.remove(temporary)
      try writeFile(temporary, body)
      try files.rename(temporary, to: path(of: digest))
    } catch {
      try? files.remove(temporary)
      throw error.externalError("written", path(of: digest))
    }
  }

  private func beginTemporary(_ digest: ContentDigest) -> String {
    shared.withLock { shared in
      shared.count += 1
      let name = "\(digest.text)-\(shared.count).new"
      shared.temporaries.insert(name)
      return name
    }
  }

  private func writeFile(
    _ path: String, _ body: (any OpenFile) throws(FileProblem) -> Void
  ) throws(FileProblem) {
    let file = try files.create(path, permissions: 0o600)
    defer { try? file.close() }
    try body(file)
    // Syncs for any durability, because a row without its file would be worse than a lost save.
    try file.sync()
    try file.close()
  }

  /// Syncs the folder with the names of the written files.
  func syncNames() throws(StoreError) {
    do throws(FileProblem) { try files.syncFolder(path) } catch {
      throw error.externalError("brought to the disk", path)
    }
  }

  /// Marks the folder for collection if it exists, because a save may leave unreferenced files. Called before each
  /// save, so it is cheap. A save that writes no file continues if the mark cannot be written; the only loss is disk
  /// space.
  package func noteSave() {
    if shared.withLock({ $0.isMarked }) { return }
    if (try? files.isFolder(path)) == true { try? prepare() }
  }

  // MARK: Folder

  /// Creates the folder, acquires a shared lock, and marks the folder for collection.
  private func prepare() throws(StoreError) {
    do throws(FileProblem) {
      if shared.withLock({ $0.isMarked && $0.lock != nil }) { return }
      try makeFolder()
      try share()
      try mark()
    } catch {
      throw error.externalError("used", path)
    }
  }

  private func makeFolder() throws(FileProblem) {
    if try files.isFolder(path) { return }
    do throws(FileProblem) {
      try files.makeFolder(path)
    } catch {
      // Another process may have created it meanwhile.
      guard case .exists = error.kind, try files.isFolder(path) else { throw error }
    }
    try files.syncFolder(FilePlace(path).folder)
  }

  /// Acquires a shared lock. A collection holds the exclusive lock only briefly, so this retries.
  private func share() throws(FileProblem) {
    if shared.withLock({ $0.lock != nil }) { return }
    var tries = 0
    while true {
      do throws(FileProblem) {
        let lock = try files.share(lockPath)
        return shared.withLock { shared in
          if shared.lock == nil { shared.lock = lock }
        }
      } catch {
        tries += 1
        guard case .busy = error.kind, tries < 500 else { throw error }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }

  private func mark() throws(FileProblem) {
    do throws(FileProblem) {
      let file = try files.create(markPath, permissions: 0o600)
      try file.sync()
      try file.close()
    } catch {
      guard case .exists = error.kind else { throw error }
    }
    shared.withLock { $0.isMarked = true }
  }
}
