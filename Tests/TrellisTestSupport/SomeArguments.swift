/// What a parameterised test is run with, when that comes from a folder or a setting. None at all is a failure: without it, such a
/// test would pass and have looked at nothing.
///
/// - Throws: ``NoArguments``.
package func some<Argument>(_ arguments: [Argument], _ what: String) throws -> [Argument] {
  guard !arguments.isEmpty else { throw NoArguments(description: "There are no \(what) to test with.") }
  return arguments
}

/// A parameterised test has nothing to be run with.
package struct NoArguments: Error, CustomStringConvertible {
  package let description: String
}
