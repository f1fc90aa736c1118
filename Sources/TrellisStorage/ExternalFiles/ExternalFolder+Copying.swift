import Foundation
import TrellisSchema

extension ExternalFolder {
  /// Prevents collection of files while `body` runs, so that a copy of the store made in it finds all files it refers
  /// to.
  package func keepingFiles<Result>(_ body: () throws -> Result) rethrows -> Result {
    shared.withLock { $0.copies += 1 }
    defer { shared.withLock { $0.copies -= 1 } }
    return try body()
  }

  /// Copies the files to the folder of a copy of the store, and marks it for collection, because some may be
  /// unreferenced there. Files of earlier copies stay: the same name means the same content.
  ///
  /// - Parameter store: the path of the copy's file.
  /// - Throws: ``StoreError``.
  package func copyFiles(besides store: String) throws(StoreError) {
    let copy = ExternalFolder(besides: store, largestInRow: largestInRow, files: files)
    defer { copy.close() }
    let contents = try contents()
    for digest in contents { try copyFile(digest, to: copy) }
    if !contents.isEmpty { try copy.syncNames() }
  }

  /// Copies a file as it is. Detecting damage is left to a check.
  private func copyFile(_ digest: ContentDigest, to copy: ExternalFolder) throws(StoreError) {
    var unread: FileProblem?
    do throws(StoreError) {
      try copy.write(digest) { target throws(FileProblem) in
        var unwritten: FileProblem?
        do throws(FileProblem) {
          try files.read(path(of: digest), inPiecesOf: SystemFiles.pieceSize, followingLinks: false) {
            piece in
            do throws(FileProblem) { try target.write(piece) } catch { unwritten = error }
            return unwritten == nil
          }
        } catch {
          unread = error
          throw error
        }
        if let unwritten { throw unwritten }
      }
    } catch {
      throw unread?.externalError("copied", path(of: digest)) ?? error
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
