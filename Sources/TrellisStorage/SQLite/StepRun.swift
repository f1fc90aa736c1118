internal import CSQLite
import Foundation
import TrellisModel

/// Runs the steps of a migration within its transaction.
///
/// The transaction is not committed, so another connection still reads the former rows: the log keeps both. If the file
/// is older than a step's version, the rules bring a copy of it to that version first.
struct StepRun {
  let path: String
  let model: Model
  let options: OpenOptions
  /// The file's model before the migration.
  let stored: Model

  func run(_ steps: [CodedStep], _ database: Database) throws(StoreError) {
    var copy: FormerCopy?
    defer { copy?.remove() }
    for step in steps {
      try options.observer?.check(path)
      let former = try step.model()
      let isCopied =
        !Migration(from: stored, to: former).isIdentity
        || !TextBytes.areEqual(stored.signatureWithDerivations, former.signatureWithDerivations)
      if isCopied && copy == nil { copy = try FormerCopy(of: path, options, stored) }
      do {
        let store = try SQLiteStore(
          url: URL(fileURLWithPath: copy.map { isCopied ? $0.path : path } ?? path), model: former,
          options: formerOptions(isCopied: isCopied))
        defer { store.close() }
        let current = SQLiteStore(within: database, path: path, model: model, options: options)
        defer { current.close() }
        try step.run(
          StepStores(former: store, formerModel: former, current: current) { try options.observer?.check(path) })
      } catch {
        throw .stepFailed(step, of: path, error)
      }
    }
    try checkReferences(database)
  }

  private func formerOptions(isCopied: Bool) -> OpenOptions {
    var options = options
    options.observer = nil
    options.isReadOnly = !isCopied
    // The rules decide for the copy as they do for the file.
    options.migration = isCopied ? MigrationPolicy(mode: options.migration.mode) : .refused
    return options
  }

  /// The migration's connection does not check references.
  private func checkReferences(_ database: Database) throws(StoreError) {
    guard let table = try database.text("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1") else { return }
    throw StoreError(
      .danglingReference,
      "The migration of \(path) would leave a row of \(table) that refers to a deleted one; nothing was changed.",
      remedy: "Set or delete what refers to an object before a step deletes it.")
  }
}

/// A copy of a file for the duration of a migration. Its name is the file's with the ending `.migrating`; a copy that a
/// killed program has left is replaced by the next one.
private struct FormerCopy {
  let path: String

  init(of original: String, _ options: OpenOptions, _ model: Model) throws(StoreError) {
    path = original + ".migrating"
    remove()
    do {
      let own = ["", "-wal", "-shm", "-journal"].map { original + $0 }
      let copy = try BackupFile(path, replacing: true, own: own, files: options.files)
      let database = try Database(path: original, options: options)
      let folder = ExternalFolder(
        besides: options.files.resolved(original), largestInRow: options.largestInRow, files: options.files)
      let target = options.files.resolved(path)
      let externals = ExternalCopy(of: folder, besides: target)
      try copy.write(orDiscard: externals.discard) { _, temporary in
        try database.copy(to: temporary, named: path)
        if model.hasExternalData { try externals.copy(Database.references(inCopy: temporary, options, model)) }
      }
    } catch let error as StoreError {
      throw StoreError(
        error.code, "\(original) is not migrated, because a step needs a copy of it: \(error.message)",
        remedy: error.remedy)
    } catch {
      throw StoreError(
        .inputOutput, "\(original) is not migrated, because a step needs a copy of it: \(error).",
        remedy: "Check the disk and the folder.")
    }
  }

  func remove() {
    for ending in ["", "-wal", "-shm", "-journal"] { PlatformFiles.remove(path + ending) }
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent)) ?? []
    // The copy's own copy, if its rules lose something, and its external data.
    let name = (path as NSString).lastPathComponent
    for found in names where found.hasPrefix(name + ".") {
      try? manager.removeItem(
        atPath: ((path as NSString).deletingLastPathComponent as NSString).appendingPathComponent(found))
    }
  }
}
