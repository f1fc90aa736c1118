package import TrellisModel

/// The value that a migration gives to an attribute of rows that have none.
package enum Filling: Hashable, Sendable {
  /// The attribute is optional and has neither a backfill nor a default.
  case null
  case value(StoredValue)
  /// The time of the migration.
  case now
  /// A new random UUID for each row.
  case newUUID
  /// A value that is computed from the stored row, by the number of the expression in ``Migration/expressions``.
  case expression(Int)
  /// The attribute is required, and the model does not say which value it gets.
  case unanswered

  /// Whether every row gets the same value.
  var isConstant: Bool {
    switch self {
    case .null, .value, .now: true
    case .newUUID, .expression, .unanswered: false
    }
  }

  /// Whether an expression over the stored row gives the value.
  var isComputed: Bool {
    if case .expression = self { true } else { false }
  }

  /// - Returns: the value of a default; nil if it cannot be stored.
  init?(_ value: DefaultValue, _ type: AttributeType) {
    switch value {
    case .now: self = .now
    case .new: self = .newUUID
    case .value(let value): self = .value(value)
    case .list(let values):
      guard case .array(let element) = type, let text = ListText.text(values, of: element) else { return nil }
      self = .value(.text(text))
    }
  }
}

/// An expression of a model's `backfill`, resolved for the stored rows that it is computed from.
package struct BackfillExpression: Hashable, Sendable {
  /// The stored entity.
  package let entity: Int
  package let operand: Operand
  /// The number of the conversion of its values; nil if they stay as they are.
  package let conversion: Int?
}

/// The reason why a model's `backfill` is not used for the rows of a stored entity.
package struct BackfillFault: Hashable, Sendable {
  /// The stored entity.
  package let origin: Int
  /// The current attribute, by its number in the current entity.
  package let property: Int
  /// Whether the stored entity does not have a property of the expression. Then a default is used.
  package let isOfOtherVersion: Bool
  package let message: String
}
