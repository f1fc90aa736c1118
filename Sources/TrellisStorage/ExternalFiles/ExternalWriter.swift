import Foundation
package import TrellisSchema

/// The files that one save writes. It is used by one thread at a time.
package final class ExternalWriter {
  private let folder: ExternalFolder
  private var written: [ContentDigest: ExternalFile] = [:]
  private var values: [(value: ExternalData, file: ExternalFile)] = []
  /// Why a file could not be written; the save must fail then.
  package private(set) var problem: StoreError?

  package init(_ folder: ExternalFolder) { self.folder = folder }

  /// The file that holds a value; nil for one that lies in the row.
  package func file(for value: ExternalData) -> ExternalFile? {
    switch value.place {
    case .file(let file): return kept(file)
    case .memory(let bytes):
      guard bytes.count > folder.largestInRow else { return nil }
      guard let file = file(holding: bytes) else { return nil }
      values.append((value, file))
      return file
    }
  }

  private func file(holding bytes: Data) -> ExternalFile? {
    let digest = bytes.withUnsafeBytes { ContentDigest(of: $0) }
    if let file = written[digest] { return file }
    do throws(StoreError) {
      let file = try folder.write(bytes, digest)
      written[digest] = file
      return file
    } catch {
      if problem == nil { problem = error }
      return nil
    }
  }

  /// A file that is there already, which a row may refer to again.
  package func kept(_ file: ExternalFile) -> ExternalFile? {
    if file.origin === folder, (try? folder.files.stamp(folder.path(of: file.digest)))??.size == Int64(file.size) {
      return file
    }
    do {
      guard let bytes = try file.origin?.bytes(of: file) else { return nil }
      return self.file(holding: Data(bytes))
    } catch {
      if problem == nil { problem = error as? StoreError }
      return nil
    }
  }

  /// Brings the names of the files to the disk. The save commits afterwards.
  package func finish() throws(StoreError) {
    if let problem { throw problem }
    if !written.isEmpty { try folder.syncNames() }
  }

  /// The save is committed: what is in files need not be in memory.
  package func didCommit() {
    for (value, file) in values { value.settle(in: file) }
    forget()
  }

  /// The save begins, or has failed; files that it has written are collected later.
  package func forget() {
    written = [:]
    values = []
    problem = nil
  }
}
