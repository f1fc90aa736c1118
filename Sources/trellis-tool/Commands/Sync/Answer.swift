import Foundation
import TrellisSync

/// `trellis answer`: the server of those who exchange by a folder.
enum Answer {
  static func run(_ path: String, in place: String, isOnce: Bool) throws(ToolFailure) -> ExitStatus {
    let folder = try Sync.folder(place)
    let container = try StoreOperand(path).container(readOnly: false)
    defer { container.close() }
    return try ToolFailure.catching(path) {
      let server = FolderServer(try SyncServer(container), in: folder)
      try server.removeLeftovers()
      while true {
        let count = try server.answerAll()
        if isOnce {
          Console.print("\(count) answers\n")
          return .success
        }
        if count == 0 { Thread.sleep(forTimeInterval: 0.2) }
      }
    }
  }
}

// MARK: - Command

extension Answer {
  static let command = Command(
    operands: "STORE FOLDER", needed: "a STORE and a FOLDER", count: 2...2,
    options: [.init(name: "once", value: nil, summary: "answer what lies there now, and end")],
    summary: "be the server of replicas that exchange by a folder",
    details: """
      Whoever may write to the folder can read and change the objects of the store, under the rules of its model. Stop
      with Control-C; what is not answered then is answered the next time.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], in: arguments.operands[1], isOnce: arguments.has("once"))
  }
}
