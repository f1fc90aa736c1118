import TrellisSchema

/// Checks that each enum has cases with distinct names and raw values that Swift can tell apart.
enum EnumCases {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for enumeration in draft.enums {
      if enumeration.cases.isEmpty {
        findings.error(
          .emptyEnum, at: enumeration.name.offset, "Enum '\(enumeration.name.value)' has no cases; add one.")
      }
      checkReserved(enumeration, findings)
      checkDuplicates(enumeration, findings)
      checkPolicy(enumeration, findings)
    }
  }

  private static func checkReserved(_ enumeration: EnumDraft, _ findings: Findings) {
    for entry in enumeration.cases {
      guard let reason = reason(against: entry.name.value, enumeration.unknown) else { continue }
      findings.error(
        .reservedCase, at: entry.name.offset,
        "Enum '\(enumeration.name.value)' cannot have a case '\(entry.name.value)': \(reason); choose another name and keep "
          + "the stored value: {\"name\": \"…\", \"value\": …}.")
    }
  }

  private static func reason(against name: String, _ policy: EnumDescription.UnknownPolicy) -> String? {
    if ReservedNames.optionalCases.contains(name) {
      return "an optional attribute would confuse it with Optional.\(name)"
    }
    if name == "unknown", policy == .preserve { return "\"unknown\": \"preserve\" makes a case of that name" }
    if ReservedNames.swiftWords.contains(name) { return "Swift needs that name for itself" }
    return ReservedNames.cases.contains(name) ? "every generated enum has a member of that name" : nil
  }

  private static func checkDuplicates(_ enumeration: EnumDraft, _ findings: Findings) {
    var names: [String: Int] = [:]
    var values: [StoredValue: Located<String>] = [:]
    for entry in enumeration.cases {
      if let first = names[entry.name.value] {
        findings.error(
          .duplicateCase, at: entry.name.offset,
          "Enum '\(enumeration.name.value)' has the case '\(entry.name.value)' twice; keep one of the two.",
          notes: [("the first is here", first)])
      } else if let first = values[entry.rawValue.value] {
        findings.error(
          .duplicateRawValue, at: entry.rawValue.offset,
          "Cases '\(first.value)' and '\(entry.name.value)' of enum '\(enumeration.name.value)' have the same raw value; "
            + "give one of them another.", notes: [("case '\(first.value)' is here", first.offset)])
      }
      names[entry.name.value] = names[entry.name.value] ?? entry.name.offset
      values[entry.rawValue.value] = values[entry.rawValue.value] ?? entry.name
    }
  }

  private static func checkPolicy(_ enumeration: EnumDraft, _ findings: Findings) {
    guard case .useDefault(let name) = enumeration.unknown else { return }
    let names = enumeration.cases.lazy.map(\.name.value)
    guard !names.contains(name) else { return }
    findings.error(
      .unknownCase, at: enumeration.unknownOffset,
      "The default for unknown values of enum '\(enumeration.name.value)' is \(name.quoted), which is none of its cases"
        + findings.suggestions.clause(for: name, among: names).orFullStop)
  }
}

extension String {
  /// The clause, or a full stop if it is empty.
  var orFullStop: String { isEmpty ? "." : self }
}
