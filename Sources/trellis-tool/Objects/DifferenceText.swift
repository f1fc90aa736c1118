import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisTimeTravel

/// What differs of an object, as text and as JSON.
struct DifferenceText {
  private let difference: ObjectDifference
  private let model: Model

  private static let mostLetters = 60
  private static let mostNames = 10

  init(_ difference: ObjectDifference, _ model: Model) {
    self.difference = difference
    self.model = model
  }

  private func property(_ name: String) -> Property? {
    model.entity(named: difference.id.entity)?.property(named: name)
  }

  // MARK: Text

  /// The object in a line, and a line for each property.
  var text: String { "\(difference.kind.rawValue) \(difference.id)\n" + lines }

  /// A line for each property.
  var lines: String {
    TextTable(difference.properties.map { ["", $0.name, line($0)] }).text
  }

  private func line(_ change: ObjectDifference.PropertyDifference) -> String {
    switch (change.former, change.latter) {
    case (nil, nil): "changed"
    case (let only?, nil), (nil, let only?): text(only, change.name)
    case (let former?, let latter?): text(from: former, to: latter, change.name)
    }
  }

  private func text(
    from former: ObjectDifference.Content, to latter: ObjectDifference.Content, _ name: String
  ) -> String {
    if case .objects(let old) = former, case .objects(let new) = latter, property(name)?.relationship?.isToMany == true
    {
      let parts =
        old.filter { !new.contains($0) }.map { "- \($0)" } + new.filter { !old.contains($0) }.map { "+ \($0)" }
      return parts.isEmpty ? "in the order " + listed(new.map { "\($0)" }) : listed(parts)
    }
    return "\(text(former, name)) → \(text(latter, name))"
  }

  private func text(_ content: ObjectDifference.Content, _ name: String) -> String {
    switch content {
    case .value(let value):
      property(name)?.attribute.map { ValueText($0).shortText(value, length: Self.mostLetters) } ?? ""
    case .objects(let objects): objects.isEmpty ? "nil" : listed(objects.map { "\($0)" })
    }
  }

  private func listed(_ names: [String]) -> String {
    names.prefix(Self.mostNames).joined(separator: ", ") + (names.count > Self.mostNames ? ", …" : "")
  }

  // MARK: JSON

  /// The object, what happened to it, and the former and the latter content of each property.
  var json: String { JSONText.object(members) }

  var members: [(key: String, value: String)] {
    [
      ("object", JSONText.quoted("\(difference.id)")), ("change", JSONText.quoted(difference.kind.rawValue)),
      ("properties", JSONText.object(difference.properties.map { ($0.name, json($0)) })),
    ]
  }

  private func json(_ change: ObjectDifference.PropertyDifference) -> String {
    let contents = [("former", change.former), ("latter", change.latter)]
    return JSONText.object(
      contents.compactMap { key, content in content.map { (key: key, value: json($0, change.name)) } })
  }

  private func json(_ content: ObjectDifference.Content, _ name: String) -> String {
    switch content {
    case .value(let value): property(name)?.attribute.flatMap { ValueJSON.text(value, of: $0) } ?? "null"
    case .objects(let objects):
      property(name)?.relationship?.isToMany == true
        ? JSONText.list(objects.map { JSONText.quoted("\($0)") })
        : objects.first.map { JSONText.quoted("\($0)") } ?? "null"
    }
  }
}
