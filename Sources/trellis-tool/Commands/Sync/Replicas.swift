import Foundation
import TrellisModel
import TrellisRuntime
@_spi(Generated) import TrellisStorage
import TrellisSync

/// `trellis replicas`: what a server's store says about its replicas.
enum Replicas {
  static func run(_ path: String, asJSON isJSON: Bool) throws(ToolFailure) -> ExitStatus {
    let container = try StoreOperand(path).container(readOnly: true)
    defer { container.close() }
    return try ToolFailure.catching(path) {
      let replicas = try ServedReplica.all(in: container)
      if isJSON {
        Console.print(
          JSONText.lines(
            replicas.map { replica in
              JSONText.object([
                ("replica", "\(replica.number)"), ("saves", "\(replica.saves)"),
                ("lastSave", replica.lastSave.map { JSONText.quoted(date($0)) } ?? "null"),
              ])
            }))
        return .success
      }
      if replicas.isEmpty {
        Console.print("no replicas\n")
        return .success
      }
      let rows = replicas.map { ["\($0.number)", "\($0.saves)", $0.lastSave.map(date) ?? "-"] }
      Console.print(TextTable([["replica", "saves", "last save"]] + rows, numbers: [0, 1]).text)
      return .success
    }
  }

  private static func date(_ date: Date) -> String { DateText.text(date.storedValue) }
}

// MARK: - Command

extension Replicas {
  static let command = Command(
    operands: "STORE", needed: "a STORE", count: 1...1, options: [.json],
    summary: "list the replicas that exchange with a store",
    details: """
      The store is that of the server, and is only read. Each replica has the number of its saves that the server has
      answered, and the time of the last one that it took.
      """
  ) { arguments throws(ToolFailure) in try run(arguments.operands[0], asJSON: arguments.has("json")) }
}
