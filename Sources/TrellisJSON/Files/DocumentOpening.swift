import TrellisMemory
import TrellisStorage

/// Opens or creates a document. A document that does not fit is not changed.
struct DocumentOpening {
  struct Opened {
    var loaded: LoadedDocument
    var known: DocumentFile.Known
    var size: Int
    var lock: (any OpenFile)?
  }

  let file: DocumentFile
  let document: DocumentLayout
  let isReadOnly: Bool

  func open() throws(StoreError) -> Opened {
    let lock = isReadOnly ? nil : try self.lock()
    do throws(StoreError) {
      var opened = try read()
      opened.lock = lock
      // A read-only store releases the lock, for programs that write.
      if let lock, opened.loaded.refusalOfWrites != nil {
        Self.release(lock, file)
        opened.lock = nil
      }
      // Removes the partially written file of a crashed program. No other program can be writing now.
      if opened.lock != nil { try? file.files.remove(file.temporaryPath) }
      return opened
    } catch {
      if let lock { Self.release(lock, file) }
      throw error
    }
  }

  /// Releases the lock. Its file is removed first, so that no program takes a lock that is about to be removed.
  static func release(_ lock: any OpenFile, _ file: DocumentFile) {
    try? file.files.remove(file.lockPath)
    try? lock.close()
  }

  private func lock() throws(StoreError) -> any OpenFile {
    do throws(FileProblem) {
      return try file.files.lock(file.lockPath)
    } catch {
      if case .busy = error.kind {
        throw StoreError(
          .busy, "\(file.path) is open for writing already, in this program or another.",
          remedy: "Close it there, share its container, or open it for reading only.")
      }
      throw cannotOpen("its lock cannot be taken: \(error.reason)")
    }
  }

  private func read() throws(StoreError) -> Opened {
    let found: (bytes: [UInt8], known: DocumentFile.Known)?
    do throws(FileProblem) { found = try file.read() } catch {
      if case .irregular = error.kind {
        throw StoreError(
          .cannotOpen, "\(file.path) cannot be opened: \(error.reason).", remedy: "Give the store the path of a file.")
      }
      throw cannotOpen(error.reason)
    }
    guard let (bytes, known) = found, !bytes.isEmpty else {
      guard !isReadOnly else {
        throw cannotOpen(found == nil ? "there is no such file" : "it is empty, and was to be opened for reading only")
      }
      return try create(over: found?.known)
    }
    if bytes.starts(with: Self.databaseStart) {
      throw StoreError(
        .foreignFile, "\(file.path) is a SQLite database, and no JSON document.", remedy: "Open it with .sqlite(at:).")
    }
    let loaded = try DocumentReader.read(bytes, file.path, document)
    // The container is about to reserve keys. Nothing is written before it is certain that this succeeds.
    guard isReadOnly || loaded.refusalOfWrites != nil || loaded.nextKey <= .max - KeyReservation.size else {
      throw KeyReservation.exhausted(file.path)
    }
    return Opened(loaded: loaded, known: known, size: bytes.count, lock: nil)
  }

  /// The first bytes of every SQLite database.
  private static let databaseStart = Array("SQLite format 3\u{0}".utf8)

  private func create(over empty: DocumentFile.Known?) throws(StoreError) -> Opened {
    let loaded = LoadedDocument(state: MemoryState(document.layout), nextKey: 1)
    let bytes = try DocumentWriter.text(loaded.state, nextKey: 1, loaded.lineage, document)
    do throws(DocumentFile.Failure) {
      return Opened(loaded: loaded, known: try file.replace(empty, by: bytes), size: bytes.count, lock: nil)
    } catch {
      switch error {
      case .before(let error), .after(let error): throw cannotOpen(error.message)
      }
    }
  }

  private func cannotOpen(_ reason: String) -> StoreError {
    StoreError(
      .cannotOpen, "\(file.path) cannot be opened: \(reason).",
      remedy: "Check that the folder exists and may be written to, or open the document for reading only.")
  }
}
