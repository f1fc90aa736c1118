/// How the objects of an entity are read from JSON documents and written to them, as declared by `"json"` in the model
/// file.
///
/// Only entities with a mapping can be imported. Their attributes are mapped by their names unless they say otherwise,
/// their relationships only if they have a mapping. Subentities inherit the mapping.
public struct EntityJSON: Hashable, Sendable {
  /// How names of properties are spelled as keys of objects.
  public enum Style: String, Hashable, Sendable, CaseIterable {
    /// `bornAt`, as in the model.
    case camelCase
    /// `born_at`
    case snakeCase = "snake_case"
    /// `born-at`
    case kebabCase = "kebab-case"
    /// `BornAt`
    case pascalCase = "PascalCase"
  }

  /// The properties of the unique key by which an import finds an object; empty for the key of the parent entity. Without
  /// any, an import always inserts new objects.
  public var key: [String]
  /// The spelling of names; nil for that of the parent entity.
  public var style: Style?
  /// The path to the text that tells the entity of an object; nil if all objects are of one entity.
  public var entityPath: String?
  /// The text that stands for this entity there; nil for its name.
  public var entityValue: String?

  /// Creates the mapping of an entity.
  public init(key: [String] = [], style: Style? = nil, entityPath: String? = nil, entityValue: String? = nil) {
    self.key = key
    self.style = style
    self.entityPath = entityPath
    self.entityValue = entityValue
  }
}

/// How a property is read from JSON and written to it.
public struct PropertyJSON: Hashable, Sendable {
  /// A change of a value on its way in.
  public enum Take: String, Hashable, Sendable, CaseIterable {
    /// The last component of a path or URL: `25` of `/api/v2/pokemon/25/`.
    case lastPathComponent
    /// The number that a text holds.
    case number
    /// The text of a number or of true and false.
    case text
    /// The text in small letters.
    case lowercase
    /// The text in capital letters.
    case uppercase
    /// The text without white space at its ends.
    case trimmed
    /// The truth value of a text or a number: `true`, `false`, `1` or `0`.
    case bool
  }

  /// What an import does with members that a to-many relationship has already.
  public enum Members: String, Hashable, Sendable, CaseIterable {
    /// The members are those of the document, in its order. Others are removed; those that belong to the object alone,
    /// because the delete rule is `cascade` or they require an owner, are deleted.
    case replace
    /// The members of the document are added.
    case add
    /// The members of the document are added if there are none yet.
    case keep
  }

  /// Whether the property is read and written.
  public var isMapped: Bool
  /// The path from the object to the value; nil for the name in the entity's style.
  public var path: String?
  /// The format of a date: `iso8601`, `seconds`, `milliseconds`, or a pattern such as `yyyy-MM-dd`; nil for `iso8601`.
  public var date: String?
  /// The changes of the value on its way in, in order.
  public var take: [Take]
  /// Whether a null leaves the value as it is, instead of clearing it.
  public var keepsOnNull: Bool
  /// Whether an empty text is read as null, after the changes of ``take``.
  public var emptyIsNull: Bool
  /// The attribute of the destination whose value a reference holds; nil if the objects themselves are nested, or
  /// referred to by their key.
  public var reference: String?
  /// What happens to former members. Only for to-many relationships.
  public var members: Members

  /// Creates the mapping of a property.
  public init(
    _ path: String? = nil, mapped: Bool = true, date: String? = nil, take: [Take] = [], keepsOnNull: Bool = false,
    emptyIsNull: Bool = false, reference: String? = nil, members: Members = .replace
  ) {
    isMapped = mapped
    self.path = path
    self.date = date
    self.take = take
    self.keepsOnNull = keepsOnNull
    self.emptyIsNull = emptyIsNull
    self.reference = reference
    self.members = members
  }
}

extension EntityJSON.Style {
  /// The name of a property, an identifier in camel case, in this spelling.
  ///
  /// Capitals in a row are one word: `imageURL` is `image_url`, `URLPath` is `url_path`. Digits belong to the word
  /// before them.
  package func spelling(of name: String) -> String {
    switch self {
    case .camelCase: name
    case .pascalCase: name.prefix(1).uppercased() + name.dropFirst()
    case .snakeCase: Self.words(of: name).joined(separator: "_")
    case .kebabCase: Self.words(of: name).joined(separator: "-")
    }
  }

  private static func words(of name: String) -> [String] {
    var words: [String] = []
    var word: [Character] = []
    let letters = Array(name)
    for (place, letter) in letters.enumerated() {
      let isStart =
        letter.isUppercase && place > 0
        && (!letters[place - 1].isUppercase || place + 1 < letters.count && letters[place + 1].isLowercase)
      if (isStart || letter == "_") && !word.isEmpty {
        words.append(String(word).lowercased())
        word = []
      }
      if letter != "_" { word.append(letter) }
    }
    if !word.isEmpty { words.append(String(word).lowercased()) }
    return words
  }
}
