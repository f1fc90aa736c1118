import TrellisQuery
import TrellisSchema

/// Parses the predicates of fetch requests and checks them against the model, as the first fetch would at run time.
/// Their variables become parameters in Swift.
enum FetchPredicates {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    guard draft.entities.contains(where: { $0.fetchRequests.contains { $0.predicate != nil } }),
      let model = try? Model(draft.description)
    else { return }
    for (number, entity) in draft.entities.enumerated() {
      for request in entity.fetchRequests {
        guard let predicate = request.predicate else { continue }
        let path = "\(entity.name.value).\(request.name.value)"
        do throws(PredicateFormatError) {
          let checked = try CheckedFormat(predicate.value, of: number, in: model)
          for variable in checked.variables { check(variable, of: path, in: predicate, findings) }
        } catch {
          findings.error(
            .badPredicate, at: predicate.offset, inText: error.offset,
            "In the predicate of fetch request '\(path)': \(message(error))")
        }
      }
    }
  }

  private static func message(_ error: PredicateFormatError) -> String {
    error.code == .missingArgument
      ? "A model has no arguments for '%@' and its like; write a variable such as $name, which becomes a parameter in Swift."
      : error.message
  }

  /// Checks a variable, which becomes the label of a parameter.
  private static func check(
    _ variable: FormatVariable, of path: String, in predicate: Located<String>, _ findings: Findings
  ) {
    let name = variable.name
    let isName =
      name.utf8.first.map { $0.isWord && $0 != UInt8(ascii: "_") } ?? false
      && name.utf8.allSatisfy { $0.isWord || $0.isDigit }
    if !isName || name.utf8.count > Limits.nameLength {
      findings.error(
        .badName, at: predicate.offset, inText: variable.offset,
        "\("$\(name)".quoted) cannot be a parameter of fetch request '\(path)': a name is a letter (A–Z, a–z), then letters, "
          + "digits and underscores.")
    } else if ReservedNames.swiftWords.contains(name) {
      findings.error(
        .reservedName, at: predicate.offset, inText: variable.offset,
        "The variable '$\(name)' of fetch request '\(path)' has a name that Swift needs for itself; choose another name."
      )
    }
  }
}
