import Foundation

extension PersistentContainer {
  /// Prints a problem to standard error.
  public static let printProblem: @Sendable (ContextError) -> Void = { problem in
    FileHandle.standardError.write(Data("Trellis: \(problem)\n".utf8))
  }
}
