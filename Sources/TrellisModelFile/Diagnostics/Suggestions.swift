import TrellisSchema

/// Finds the name that was probably meant, with a bound on the work in one file.
final class Suggestions {
  private var budget = Limits.comparedNames

  /// `; did you mean 'name'?` for the closest candidate, or an empty text when none is close.
  func clause(for name: String, among candidates: some Sequence<String>) -> String {
    closest(to: name, among: candidates).map { "; did you mean \($0.quoted)?" } ?? ""
  }

  /// The candidate that differs least from the name: by a third of its letters at most.
  func closest(to name: String, among candidates: some Sequence<String>) -> String? {
    let affordable = candidates.prefix { _ in
      budget -= 1
      return budget >= 0
    }
    return NearestName.closest(to: name, among: affordable)
  }
}
