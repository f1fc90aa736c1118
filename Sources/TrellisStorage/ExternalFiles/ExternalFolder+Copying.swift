import Foundation
import TrellisSchema

extension ExternalFolder {
  /// While `body` runs, nobody collects files: a copy of the store that is made in it finds all that it refers to.
  package func keepingFiles<Result>(_ body: () throws -> Result) rethrows -> Result {
    shared.withLock { $0.copies += 1 }
    defer { shared.withLock { $0.copies -= 1 } }
    return try body()
  }

  /// Copies the files to the folder of a copy of the store, and marks it, since some may be of no use there. Files of earlier
  /// copies stay: whatever has the same name has the same content.
  ///
  /// - Parameter store: the path of the copy's file.
  /// - Throws: ``StoreError``.
  package func copyFiles(besides store: String) throws(StoreError) {
    let copy = ExternalFolder(besides: store, largestInRow: largestInRow, files: files)
    defer { copy.close() }
    let contents = try contents()
    for digest in contents { _ = try copy.write(try content(digest), digest) }
    if !contents.isEmpty { try copy.syncNames() }
  }

  /// A file as it is: what is damaged is for a check to find.
  private func content(_ digest: ContentDigest) throws(StoreError) -> Data {
    do throws(FileProblem) {
      return Data(try files.read(path(of: digest), limit: .max, followingLinks: false).bytes)
    } catch {
      throw error.externalError("copied", path(of: digest))
    }
  }

  private func contents() throws(StoreError) -> [ContentDigest] {
    do throws(FileProblem) {
      guard try files.isFolder(path) else { return [] }
      return try files.names(in: path).compactMap { ContentDigest($0) }
    } catch {
      throw error.externalError("copied", path)
    }
  }
}
