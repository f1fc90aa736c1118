import Foundation
import PackagePlugin

/// Runs the command line tool in the package's folder.
///
///     swift package trellis check Sources/MyApp/Diary.model.json
@main struct TrellisCommand: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    let process = Process()
    process.executableURL = try context.tool(named: "TrellisTool").url
    process.arguments = arguments
    process.currentDirectoryURL = context.package.directoryURL
    try process.run()
    process.waitUntilExit()
    // The tool has said why; SwiftPM fails when the plugin does.
    if process.terminationReason == .exit, process.terminationStatus == 0 { return }
    exit(process.terminationReason == .exit ? process.terminationStatus : 1)
  }
}
