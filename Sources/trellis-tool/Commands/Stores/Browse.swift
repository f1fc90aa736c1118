import Foundation
import TrellisBrowser
import TrellisDiagram
import TrellisStorage

/// `trellis browse`: pages about a store, for a browser on this machine.
enum Browse {
  static func run(_ path: String, writes: Bool, port: String?) throws(ToolFailure) -> ExitStatus {
    guard let number = UInt16(port ?? "0") else {
      throw .usage("\((port ?? "").inMessage) is no port; ports are numbers up to 65535.", of: .browse)
    }
    #if os(Windows)
      throw ToolFailure(.unavailable, "error: browse does not run on Windows.")
    #else
      let store = try StoreOperand(path)
      do {
        let site = try Site(
          name: store.shortName, isWritable: writes,
          picture: { model, address in Diagram(model).svg { address($0.name) } }
        ) {
          // The store may have another model by the next time.
          try StoreOperand(path).container(readOnly: !writes)
        }
        let running = try RunningSite(site, port: number)
        Console.print(
          "\(running.address)\n\(writes ? "The store may be changed." : "The store is only read.") Stop with Control-C.\n"
        )
        running.run()
        return .success
      } catch {
        throw ToolFailure(store: error, store.name)
      }
    #endif
  }
}

// MARK: - Command

extension Browse {
  static let command = Command(
    operands: "STORE", needed: "a STORE", count: 1...1,
    options: [
      .init(name: "write", value: nil, summary: "let the pages change the store, under the rules of its model"),
      .init(name: "port", value: "NUMBER", summary: "listen on this port instead of a free one"),
    ], summary: "show a store in a browser on this machine",
    details: """
      The address is printed. It has a random part, which is good until the command ends, and leads to this machine only.
      Without --write nothing can be changed. A store that programs have open is shown as they save it.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], writes: arguments.has("write"), port: arguments.value(of: "port"))
  }
}
