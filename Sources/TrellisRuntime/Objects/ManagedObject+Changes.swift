import TrellisSchema
import TrellisStorage

extension ManagedObject {
  /// Adds the numbers of the properties that were set and have another stored value than the copy.
  final func collectChanges(since copy: RowCopyBase, _ info: EntityInfo, into changed: inout [Int]) {
    collectDifferences(from: copy, among: changedBits, info, into: &changed)
  }

  /// Adds the numbers of those properties that have another stored value than the copy.
  final func collectDifferences(
    from copy: RowCopyBase, among properties: UInt64, _ info: EntityInfo, into changed: inout [Int]
  ) {
    var marked = properties & info.storedMask.bits
    while marked != 0 {
      let property = marked.trailingZeroBitCount
      marked &= marked - 1
      if property == 63 {
        // The last bit stands for property 63 and all beyond it.
        for number in info.entity.storedProperties where number >= 63 && !_value(number).isSame(as: copy.value(number))
        {
          changed.append(number)
        }
      } else if !_value(property).isSame(as: copy.value(property)) {
        changed.append(property)
      }
    }
  }

  /// The numbers of the stored properties that differ from the committed row.
  final var changedNumbers: [Int] {
    guard changedBits != 0, let committed = extras?.committed, let context = link.context else { return [] }
    var changed: [Int] = []
    collectChanges(since: committed, context.info(of: self), into: &changed)
    return changed
  }

  /// Whether a stored value differs from the committed row.
  final var isEdited: Bool { changedBits != 0 && !changedNumbers.isEmpty }
}

extension Entity {
  /// The numbers of the properties that are stored in the row.
  var storedProperties: [Int] {
    properties.filter { property in
      switch property {
      case .attribute(let attribute): attribute.column != nil
      case .relationship(let relationship): if case .column = relationship.home { true } else { false }
      }
    }.map(\.index)
  }
}
