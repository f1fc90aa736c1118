import TrellisStorage

/// A document in the file system. It is read and replaced as a whole, and never written in place.
///
/// A replacement is written beside the document, synced to the disk and then renamed over it, so the path always leads
/// to the complete old or the complete new document. The names of the two files beside it are derived from its own
/// name, so a crash leaves at most one file of each kind, which the next opening of the document removes or takes over.
struct DocumentFile: Sendable {
  /// The known state of the document.
  struct Known: Sendable {
    var stamp: FileStamp
    var checksum: UInt64
    /// Whether another program could have written since without changing the stamp, because clocks of file systems are
    /// coarse.
    var isYoung: Bool
  }

  let path: String
  let files: any FileOperations
  let durability: Durability

  private var place: FilePlace { FilePlace(path) }
  private var folder: String { place.folder }
  var temporaryPath: String { place.temporaryPath }
  var lockPath: String { place.lockPath }

  // MARK: Reading

  /// The document's content. Nil if the file is missing or empty.
  func read() throws(FileProblem) -> (bytes: [UInt8], known: Known)? {
    do throws(FileProblem) {
      let (bytes, stamp) = try files.read(path, limit: DocumentFormat.maximumSize)
      return (bytes, Known(stamp: stamp, checksum: bytes.contentChecksum, isYoung: stamp.isYoung))
    } catch {
      if case .missing = error.kind { return nil }
      throw error
    }
  }

  /// The known state after a check of the file. Nil if another program has changed or removed it.
  ///
  /// The content is compared only if the stamp differs or is too recent to be reliable.
  func confirmed(_ known: Known) throws(FileProblem) -> Known? {
    guard let stamp = try files.stamp(path) else { return nil }
    if stamp == known.stamp && !known.isYoung { return known }
    guard stamp.size == known.stamp.size, let (_, found) = try read() else { return nil }
    return found.checksum == known.checksum ? found : nil
  }

  // MARK: Replacing

  /// The stage at which a replacement failed.
  enum Failure: Error {
    /// The document is unchanged.
    case before(StoreError)
    /// The new document is in place, but may not survive a power failure.
    case after(StoreError)
  }

  /// - Parameter known: the required state of the document. Nil if it must be missing or empty.
  func replace(_ known: Known?, by bytes: [UInt8]) throws(Failure) -> Known {
    // Renaming needs only the permissions of the folder.
    guard known == nil || files.mayWrite(to: path) else {
      throw .before(
        StoreError(
          .readOnly, "\(path) may not be written to.",
          remedy: "Give its owner the right to write to it, or open the document for reading only."))
    }
    let stamp: FileStamp
    do throws(FileProblem) {
      try? files.remove(temporaryPath)
      stamp = try writeBeside(bytes, permissions: known?.stamp.permissions ?? 0o600)
    } catch {
      try? files.remove(temporaryPath)
      throw .before(error.error("written", path))
    }
    do throws(Failure) {
      try rename(over: known)
    } catch {
      try? files.remove(temporaryPath)
      throw error
    }
    do throws(FileProblem) {
      if durability == .durable { try files.syncFolder(folder) }
    } catch {
      throw .after(error.error("brought to the disk for good", path))
    }
    return Known(stamp: stamp, checksum: bytes.contentChecksum, isYoung: true)
  }

  /// Ensures that the renamed document survives a power failure.
  func bringNameToDisk() throws(StoreError) {
    do throws(FileProblem) { try files.syncFolder(folder) } catch {
      throw error.error("brought to the disk for good", path)
    }
  }

  private func writeBeside(_ bytes: [UInt8], permissions: UInt32) throws(FileProblem) -> FileStamp {
    let file = try files.create(temporaryPath, permissions: permissions)
    do throws(FileProblem) {
      var problem: FileProblem?
      bytes.withUnsafeBytes { bytes in
        do throws(FileProblem) { try file.write(bytes) } catch { problem = error }
      }
      if let problem { throw problem }
      // This applies to `relaxed`, too: if the name reached the disk before the content, the document would be torn.
      try file.sync()
      let stamp = try file.stamp()
      try file.close()
      return stamp
    } catch {
      try? file.close()
      throw error
    }
  }

  /// Checks the file again before renaming, because writing may have taken a while.
  private func rename(over known: Known?) throws(Failure) {
    do throws(FileProblem) {
      let found = try files.stamp(path)
      if found == known?.stamp || known == nil && found?.size == 0 { return try files.rename(temporaryPath, to: path) }
    } catch {
      throw .before(error.error("replaced", path))
    }
    throw .before(Self.changedByOthers(path))
  }

  static func changedByOthers(_ path: String) -> StoreError {
    StoreError(
      .changedByOthers, "\(path) was changed, replaced or removed by another program while it was open.",
      remedy:
        "Open the store again to work with what is in the file now; what this program has not saved stays unsaved.")
  }
}

extension FileProblem {
  /// Converts the problem to a store's error: the operation that failed and the document.
  func error(_ done: String, _ path: String) -> StoreError {
    let message = "\(path) could not be \(done): \(reason)."
    switch kind {
    case .full: return StoreError(.full, message, remedy: "Make room on the disk and save again.")
    case .readOnly:
      return StoreError(.readOnly, message, remedy: "Allow this program to write to the file and its folder.")
    case .missing, .exists, .busy, .irregular, .tooLarge, .other:
      return StoreError(.inputOutput, message, remedy: "Check the disk and the folder, and save again.")
    }
  }
}

extension [UInt8] {
  /// A checksum that detects accidental differences.
  var contentChecksum: UInt64 {
    withUnsafeBytes { bytes in
      var hash = 0xCBF2_9CE4_8422_2325 ^ UInt64(truncatingIfNeeded: bytes.count)
      var place = 0
      while place + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        place += 8
      }
      while place < bytes.count {
        hash = (hash ^ UInt64(bytes[place])) &* 0x0000_0100_0000_01B3
        place += 1
      }
      return hash
    }
  }
}
