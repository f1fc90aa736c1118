import Foundation

/// Writes every measurement to a file, for other programs.
struct JSONLines {
  private let file: FileHandle?

  init(_ path: String?) throws {
    guard let path else {
      file = nil
      return
    }
    try Data().write(to: URL(fileURLWithPath: path))
    file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  func write(_ lines: Data) throws { try file?.write(contentsOf: lines) }

  /// What the lines below it were measured with.
  func writeHeading(count: Int, round: Int, _ options: Options) throws {
    let heading: [String: Any] = [
      "count": count, "round": round, "isDurable": options.isDurable, "date": Machine.date,
      "processor": Machine.processor, "system": Machine.system,
    ]
    try write(JSONSerialization.data(withJSONObject: heading, options: .sortedKeys) + Data("\n".utf8))
  }
}
