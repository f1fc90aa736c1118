import Foundation
import Synchronization

/// The log of a program, one line for each event: the time, and words that tabs separate.
///
/// A line is written by one call, so it is whole, or missing, if the program is killed.
public final class Journal: Sendable {
  private let file: FileHandle?

  /// - Parameter path: nil for no journal.
  public init(_ path: String?) throws {
    guard let path else {
      file = nil
      return
    }
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    guard descriptor >= 0 else { throw UsageError(description: "\(path) cannot be written") }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  public func note(_ words: String...) {
    let time = String(format: "%.3f", Date.now.timeIntervalSince1970)
    let texts = words.map { $0.replacing("\n", with: " ").replacing("\t", with: " ") }
    try? file?.write(contentsOf: Data((([time] + texts).joined(separator: "\t") + "\n").utf8))
  }
}
