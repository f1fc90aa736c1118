import TrellisModel

/// What a value of a document may be.
indirect enum DocumentShape: Hashable {
  enum TextFormat: String {
    case plain, dateTime, uuid, base64, url, decimal
  }

  struct Member: Hashable {
    let key: String
    let shape: DocumentShape
    /// Whether the key may be absent.
    let isOptional: Bool
    let doc: String?
  }

  case text(TextFormat)
  case constant(String)
  case integer(ClosedRange<Int64>)
  case number
  case bool
  case any
  /// A case of an enum, by the name of its type.
  case choice(String)
  case list(DocumentShape)
  /// An object whose keys are data.
  case dictionary(DocumentShape)
  case object([Member])
  /// An object of a type, by its name.
  case named(String)
  case union([DocumentShape])
  case nullable(DocumentShape)

  /// A value that is one of some shapes, or null.
  static func one(of shapes: [DocumentShape], isNullable: Bool) -> DocumentShape {
    var flat: [DocumentShape] = []
    var isNullable = isNullable
    for var shape in shapes {
      if case .nullable(let inner) = shape { (isNullable, shape) = (true, inner) }
      for part in shape.parts where !flat.contains(part) { flat.append(part) }
    }
    let shape = flat.count == 1 ? flat[0] : flat.isEmpty ? .any : .union(flat)
    return isNullable ? .nullable(shape) : shape
  }

  private var parts: [DocumentShape] { if case .union(let parts) = self { parts } else { [self] } }
}

/// A type of documents with a name.
struct DocumentType {
  enum Content {
    case object([DocumentShape.Member])
    case union([String])
    case choice(EnumDescription)
  }

  let name: String
  let doc: String?
  let content: Content
}
