import TrellisJSON

/// Where an export writes: to a new file, which is not there before all of it is, or to the standard output.
struct ExportOutput {
  /// The path of the file; nil for the standard output.
  let file: String?

  /// Runs an export, and shows its progress.
  ///
  /// - Parameters:
  ///   - message: The message of an export that is refused.
  ///   - export: Passes pieces of the output on.
  func write(
    _ message: (JSONExportError) -> String = \.message,
    _ export: @escaping (_ write: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    let progress = Progress("bytes")
    defer { progress.end() }
    var count = 0
    func run(to write: ([UInt8]) throws -> Void) throws {
      do {
        try export { piece in
          try write(piece)
          count += piece.count
          progress.show(count)
        }
      } catch let error as JSONExportError {
        throw ToolFailure(.failure, "error: \(message(error))")
      }
    }
    guard let file else { return try run { try Console.print($0) } }
    try OutputFile.create(file) { write in try run(to: write) }
  }
}
