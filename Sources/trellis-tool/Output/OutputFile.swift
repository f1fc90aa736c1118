import Foundation
import TrellisStorage

/// Files that commands write: whole or not at all, also if the machine stops.
enum OutputFile {
  /// Replaces the content of a file, which keeps its permissions, or creates it. A link stays a link to the file.
  static func replace(_ path: String, with text: [UInt8]) throws(ToolFailure) {
    let files = SystemFiles()
    let target = files.resolved(path)
    do throws(FileProblem) {
      let stamp = try files.stamp(target)
      if stamp != nil { try refuseIrregular(target, files) }
      if stamp != nil, !files.mayWrite(to: target) { throw FileProblem(.other, "it is read-only") }
      let permissions = stamp?.permissions ?? 0o644
      try write(text, beside: target, permissions) { temporary throws(FileProblem) in
        try files.rename(temporary, to: target)
      }
    } catch {
      throw unwritable(path, error.reason)
    }
  }

  /// A pipe or a device would be replaced by a file.
  private static func refuseIrregular(_ path: String, _ files: SystemFiles) throws(FileProblem) {
    do throws(FileProblem) { _ = try files.start(of: path, 1) } catch {
      if case .irregular = error.kind { throw error }
    }
  }

  /// Creates a file, which must not exist, with the permissions of another.
  static func create(_ path: String, _ text: [UInt8], permissionsOf model: String) throws(ToolFailure) {
    let files = SystemFiles()
    do throws(FileProblem) {
      // A version is data, even if the model is executable by mistake.
      let permissions = try files.stamp(model).map { $0.permissions & 0o666 } ?? 0o644
      try write(text, beside: path, permissions) { temporary throws(FileProblem) in
        try files.rename(temporary, toUnused: path)
      }
    } catch {
      throw unwritable(path, error.reason)
    }
  }

  /// Creates a file, which must not exist, piece by piece. It is for the user of the process only, since it has what a store has.
  ///
  /// - Parameter body: Passes pieces of the file on.
  /// - Throws: ``ToolFailure`` if there is a file of the name, or it cannot be written; errors of `body`.
  static func create(_ path: String, _ body: (_ write: ([UInt8]) throws -> Void) throws -> Void) throws {
    let files = SystemFiles()
    do {
      if try files.stamp(path) != nil { throw isThere(path) }
      var failure: (any Error)?
      do throws(FileProblem) {
        try write(beside: path, 0o600) { file throws(FileProblem) in
          do {
            try body { piece in try put(piece, into: file) }
          } catch let problem as FileProblem {
            throw problem
          } catch {
            failure = error
            throw FileProblem(.other, "it is not complete")
          }
        } finish: { temporary throws(FileProblem) in
          try files.rename(temporary, toUnused: path)
        }
      } catch {
        if let failure { throw failure }
        throw error
      }
    } catch let problem as FileProblem {
      throw problem.kind == .exists ? isThere(path) : unwritable(path, problem.reason)
    }
  }

  private static func isThere(_ path: String) -> ToolFailure {
    ToolFailure(
      .failure, "error: \(path) exists already, and a new file is written. Choose another name, or remove the file.")
  }

  private static func write(
    _ text: [UInt8], beside path: String, _ permissions: UInt32,
    _ finish: (_ temporary: String) throws(FileProblem) -> Void
  ) throws(FileProblem) {
    try write(
      beside: path, permissions, fill: { file throws(FileProblem) in try put(text, into: file) }, finish: finish)
  }

  private static func write(
    beside path: String, _ permissions: UInt32, fill: (any OpenFile) throws(FileProblem) -> Void,
    finish: (_ temporary: String) throws(FileProblem) -> Void
  ) throws(FileProblem) {
    let files = SystemFiles()
    // Each process has its own, because another one may be at work on the same file.
    let temporary = FilePlace("\(path).\(ProcessInfo.processInfo.processIdentifier)").temporaryPath
    try files.remove(temporary)
    do throws(FileProblem) {
      let file = try files.create(temporary, permissions: permissions)
      do throws(FileProblem) {
        try fill(file)
        try file.sync()
      } catch {
        try? file.close()
        throw error
      }
      try file.close()
      try finish(temporary)
    } catch {
      try? files.remove(temporary)
      throw error
    }
    try files.syncFolder(FilePlace(path).folder)
  }

  private static func put(_ text: [UInt8], into file: any OpenFile) throws(FileProblem) {
    let bytes = text
    let outcome: Result<Void, FileProblem> = bytes.withUnsafeBytes { bytes in
      Result { () throws(FileProblem) in try file.write(bytes) }
    }
    try outcome.get()
  }

  static func unwritable(_ path: String, _ reason: String) -> ToolFailure {
    ToolFailure(.unwritable, "\(path): error: The file cannot be written: \(reason).")
  }
}
