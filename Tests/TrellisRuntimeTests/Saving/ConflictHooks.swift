import Trellis

extension Essay {
  /// A rule over two properties, which two writers may break together.
  static func validateUpdate(_ essay: Essay) throws {
    if essay.words < essay.least { throw ValidationFailure(essay, \.words, "must be at least the least number") }
  }
}
