/// The change of a note: a few bytes under a name that a program keeps in a store beside its objects.
///
/// Notes are written in the transaction of a save, so that they are never ahead of the objects or behind them.
package struct StoreNote: Hashable, Sendable {
  /// The name of the note.
  package var name: String
  /// The bytes that the note must have; nil if there must be none. Otherwise nothing is saved.
  package var former: [UInt8]?
  /// The new bytes; nil to delete the note.
  package var value: [UInt8]?

  package init(_ name: String, former: [UInt8]?, value: [UInt8]?) {
    self.name = name
    self.former = former
    self.value = value
  }
}

extension StoreNote {
  /// The beginning of the names of what a replica keeps about itself.
  package static let ofReplica = "replica."
  /// The beginning of the names of what the server of a replica set keeps.
  package static let ofServer = "server."
}

/// The refusal of a save because a note had other bytes than expected: another writer has changed it. Nothing was written.
package struct StoreNoteConflict: Error, Hashable, CustomStringConvertible {
  /// The name of the note.
  package let name: String

  package init(name: String) { self.name = name }

  package var description: String { "The note \(name) was changed by another writer." }
}

/// A connection to a store that keeps notes.
package protocol NoteConnection: StoreConnection {
  /// The notes whose names begin with a prefix.
  ///
  /// - Throws: ``StoreError``.
  func notes(beginningWith prefix: String) throws -> [String: [UInt8]]
}
