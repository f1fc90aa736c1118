/// A value as a database of another program has it.
package enum ForeignValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A text whose bytes are not UTF-8.
  case unsound([UInt8])
  case blob([UInt8])

  package var isNull: Bool { self == .null }

  /// Texts are equal if their bytes are, as a database compares them: a composed letter is another one than a decomposed one.
  package static func == (left: ForeignValue, right: ForeignValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.unsound(let left), .unsound(let right)): left == right
    case (.blob(let left), .blob(let right)): left == right
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: break
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(var text):
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(UInt8(0xFF))
    case .unsound(let bytes), .blob(let bytes): hasher.combine(bytes)
    }
  }
}
