import Foundation
package import TrellisSchema

/// The files that one save writes. Used by one thread at a time.
package final class ExternalWriter {
  private let folder: ExternalFolder
  private var written: [ContentDigest: ExternalFile] = [:]
  private var values: [(value: ExternalData, file: ExternalFile)] = []
  /// The error that prevented writing a file. The save must then fail.
  package private(set) var problem: StoreError?

  package init(_ folder: ExternalFolder) { self.folder = folder }

  /// The file that contains a value; nil if the value is stored in the row.
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

  /// An existing file that a row may refer to again.
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

  /// Syncs the names of the files. The save commits afterwards.
  package func finish() throws(StoreError) {
    if let problem { throw problem }
    if !written.isEmpty { try folder.syncNames() }
  }

  /// Called after the commit: releases bytes from memory that are now in files.
  package func didCommit() {
    for (value, file) in values { value.settle(in: file) }
    forget()
  }

  /// Called at the start of a save and after a failed one. Files that a failed save wrote are collected later.
  package func forget() {
    written = [:]
    values = []
    problem = nil
  }
}
