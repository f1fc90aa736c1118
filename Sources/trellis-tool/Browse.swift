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
      _ = try StoreFile(path)
      do {
        let site = try Site(
          name: URL(fileURLWithPath: path).lastPathComponent, isWritable: writes,
          picture: { model, address in Diagram(model).svg { address($0.name) } }
        ) {
          // The file may have another model by the next time.
          try StoreFile(path).container(readOnly: !writes)
        }
        let running = try RunningSite(site, port: number)
        Console.print(
          "\(running.address)\n\(writes ? "The store may be changed." : "The store is only read.") Stop with Control-C.\n"
        )
        running.run()
        return .success
      } catch {
        throw ToolFailure(store: error, path)
      }
    #endif
  }
}
