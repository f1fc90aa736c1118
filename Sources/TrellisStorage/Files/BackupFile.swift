/// A file that becomes a copy of a store. It is written under a temporary name, synced, and only then renamed.
package struct BackupFile {
  private let place: FilePlace
  private let files: any FileOperations
  private let isReplacing: Bool

  /// - Parameters:
  ///   - isReplacing: whether an existing file may be replaced.
  ///   - own: the store's own files, which are never overwritten.
  /// - Throws: ``StoreError`` if the path cannot be used.
  package init(
    _ path: String, replacing isReplacing: Bool, own: [String], files: any FileOperations
  ) throws(StoreError) {
    place = FilePlace(files.resolved(path))
    self.files = files
    self.isReplacing = isReplacing
    do throws(FileProblem) {
      guard let there = try files.stamp(place.path) else { return }
      guard isReplacing else { throw exists }
      for path in own {
        if try files.stamp(path)?.isSameFile(as: there) == true { throw FileProblem(.other, "it belongs to the store") }
      }
    } catch {
      throw error.backupError(place.path)
    }
  }

  private var exists: FileProblem { FileProblem(.exists, "there is a file already") }

  /// Creates the file.
  ///
  /// - Parameter body: receives a new, empty file, open and by its path, and writes the copy to it.
  /// - Throws: ``StoreError``, or errors of `body`. Nothing is left behind and an existing file is unchanged, except if
  ///   syncing the folder at the very end fails: then the copy is already in place.
  package func write(_ body: (any OpenFile, _ path: String) throws -> Void) throws {
    do {
      let lock = try files.lock(place.lockPath)
      // The lock file is removed first, so that no process acquires a lock on a file that is about to be removed.
      defer {
        try? files.remove(place.lockPath)
        try? lock.close()
      }
      try writeLocked(body)
    } catch let problem as FileProblem {
      throw problem.backupError(place.path)
    }
  }

  private func writeLocked(_ body: (any OpenFile, _ path: String) throws -> Void) throws {
    // Removes the leftover of a crashed process. No other process can be writing now.
    try? files.remove(place.temporaryPath)
    do {
      let file = try files.create(place.temporaryPath, permissions: 0o600)
      defer { try? file.close() }
      try body(file, place.temporaryPath)
      try file.sync()
      try file.close()
      try isReplacing
        ? files.rename(place.temporaryPath, to: place.path) : files.rename(place.temporaryPath, toUnused: place.path)
    } catch {
      try? files.remove(place.temporaryPath)
      throw error
    }
    try files.syncFolder(place.folder)
  }
}

extension FileProblem {
  fileprivate func backupError(_ path: String) -> StoreError {
    let message = "\(path) cannot be written as a copy: \(reason)."
    switch kind {
    case .exists:
      return StoreError(.fileExists, message, remedy: "Choose another name, or ask for the file to be replaced.")
    case .full: return StoreError(.full, message, remedy: "Make room on the disk and try again.")
    case .readOnly:
      return StoreError(.readOnly, message, remedy: "Allow this program to write to the folder, or choose another.")
    case .busy:
      return StoreError(.busy, message, remedy: "Close the store that uses the file, or choose another name.")
    case .missing: return StoreError(.cannotOpen, message, remedy: "Check that the folder exists.")
    case .irregular, .tooLarge, .other:
      return StoreError(.inputOutput, message, remedy: "Choose another file, or check the disk.")
    }
  }
}
