/// How the elements of an input are separated.
public enum JSONLayout: Hashable, Sendable {
  /// One JSON document.
  case document
  /// One JSON value in each line, as in NDJSON and JSON Lines.
  case lines
}

extension JSONLayout {
  /// How a file of a name usually separates its elements.
  package init(ofFile name: String) {
    let name = name.lowercased()
    self = name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") ? .lines : .document
  }
}
