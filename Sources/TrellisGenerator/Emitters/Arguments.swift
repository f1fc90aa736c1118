import TrellisSchema

/// The arguments of a description, without those that equal their default.
struct Arguments {
  private(set) var codes: [Code] = []

  mutating func add(_ code: Code) { codes.append(code) }
  mutating func add(_ label: String, _ code: Code) { codes.append(.labeled(label, code)) }

  mutating func add(_ label: String, _ list: [Code]) {
    if !list.isEmpty { add(label, .list(list)) }
  }

  mutating func add(_ label: String, _ text: String?) {
    if let text { add(label, .string(text)) }
  }

  mutating func add(_ label: String, _ flag: Bool) {
    if flag { add(label, .plain("true")) }
  }

  mutating func add(_ label: String, _ number: Int?) {
    if let number { add(label, .plain("\(number)")) }
  }

  mutating func add(_ label: String, _ value: StoredValue?) {
    if let value { add(label, Self.code(of: value)) }
  }

  mutating func add(_ userInfo: [UserInfoEntry]) {
    add("userInfo", userInfo.map { .filledCall(TypeName.userInfoEntry, [.string($0.key), .string($0.value)]) })
  }

  static func code(of value: StoredValue) -> Code {
    switch value {
    // A model never refers to a file.
    case .null, .file: .plain(".null")
    case .integer(let number): .plain(".integer(\(number))")
    case .real(let number): .plain(".real(\(Numbers.literal(number)))")
    case .text(let text): .call(".text", [.string(text)])
    case .blob(let bytes): .call(".blob", [.filledList(bytes.map { .plain("\($0)") })])
    }
  }
}
