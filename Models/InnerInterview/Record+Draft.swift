import Trellis

extension Record {
  /// What is typed begins as what was last confirmed.
  static func didFetch(_ record: Record) { record.draft = record.answer }

  /// A rewritten answer counts its revisions.
  static func willSave(_ record: Record) {
    if !record.isInserted && record.hasChanges(\.answer) { record.revision += 1 }
  }

  /// Makes what was typed the answer.
  public func confirmDraft() { answer = draft }
}
