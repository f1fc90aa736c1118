/// The names of one scope of a program: each is legal there, and there once.
struct LanguageScope {
  /// Which names count as the same.
  enum Sameness {
    case ofCharacters
    /// Classes of names that differ in case alone have the same file on some disks.
    case ofLetters
    /// The accessors of properties are the same if only the case of the first letter differs.
    case ofAccessors
  }

  /// What has another meaning in the scope.
  private var reserved: Set<String>
  private let sameness: Sameness
  private var taken: Set<String> = []

  init(reserving reserved: Set<String>, _ sameness: Sameness) {
    self.reserved = reserved
    self.sameness = sameness
  }

  /// A legal name in camel case that no other one of the scope has, from a text that may have any letters.
  ///
  /// - Parameter isType: Whether the name begins with a capital letter.
  mutating func name(_ text: String, isType: Bool) -> String {
    let parts = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    var name = ""
    for part in parts {
      name += name.isEmpty && !isType ? String(part) : part.prefix(1).uppercased() + part.dropFirst()
    }
    if name.isEmpty { name = isType ? "Value" : "value" }
    if name.first?.isNumber == true { name = "_" + name }
    return unused(name)
  }

  /// A name that is legal already, with `_` behind it for each one that has it before.
  mutating func unused(_ wanted: String) -> String {
    var name = wanted
    while reserved.contains(name) || !taken.insert(key(name)).inserted { name += "_" }
    return name
  }

  private func key(_ name: String) -> String {
    switch sameness {
    case .ofCharacters: name
    case .ofLetters: name.lowercased()
    case .ofAccessors: name.prefix(1).uppercased() + name.dropFirst()
    }
  }
}
