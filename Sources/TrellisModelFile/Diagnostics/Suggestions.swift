import TrellisSchema

/// Finds the name that a misspelled one most likely stands for, with a bound on the work per file.
final class Suggestions {
  private var budget = Limits.comparedNames

  /// `; did you mean 'name'?` for the closest candidate; empty if none is close.
  func clause(for name: String, among candidates: some Sequence<String>) -> String {
    closest(to: name, among: candidates).map { "; did you mean \($0.quoted)?" } ?? ""
  }

  /// The candidate closest to the name; nil if every candidate differs in more than a third of the name's letters.
  func closest(to name: String, among candidates: some Sequence<String>) -> String? {
    let affordable = candidates.prefix { _ in
      budget -= 1
      return budget >= 0
    }
    return NearestName.closest(to: name, among: affordable)
  }
}
