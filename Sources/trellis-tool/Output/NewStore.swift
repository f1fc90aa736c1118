import Foundation
import TrellisJSON
import TrellisStorage

/// A store that a command makes. What is not complete, or breaks rules, does not stay.
struct NewStore {
  let path: String
  let kind: StoreFile.Kind

  /// - Throws: ``ToolFailure`` if there is a file of the name.
  init(_ path: String) throws(ToolFailure) {
    self.path = path
    kind = path.lowercased().hasSuffix(".json") ? .document : .sqlite
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ToolFailure(
        .failure, "error: \(path) exists already, and a new store is written. Choose another name, or remove the file.")
    }
  }

  /// How the store is made and opened.
  var configuration: StoreConfiguration {
    let url = URL(fileURLWithPath: path)
    return switch kind {
    case .sqlite: .sqlite(at: url)
    case .document: .json(at: url)
    }
  }

  /// Makes the store and checks it by the rules of its model.
  func fill(
    keepsBroken: Bool, isChecked: Bool = true, _ body: () throws(ToolFailure) -> Void
  ) throws(ToolFailure) -> ExitStatus {
    do throws(ToolFailure) {
      try body()
      if !isChecked { return .success }
      let findings = try StoreFile(path).findings(limit: 1_000)
      if findings.isEmpty { return .success }
      for finding in findings { Console.complain("\(finding)\n") }
      if keepsBroken { return .failure }
      throw ToolFailure(
        .failure,
        "error: \(path) would break the rules of its model, so it was not kept. Repair the source, or keep it with --force."
      )
    } catch {
      remove()
      throw error
    }
  }

  func remove() {
    for ending in ["", "-wal", "-shm", "-journal", ".external"] {
      try? FileManager.default.removeItem(atPath: path + ending)
    }
  }
}
