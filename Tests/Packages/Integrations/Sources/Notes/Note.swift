extension Note {
  /// The text with its stars.
  public var line: String { String(repeating: "*", count: Int(stars)) + " " + text }
}
