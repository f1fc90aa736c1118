import Foundation
import PackagePlugin

/// Turns each `X.model.json` of a target into `X.trellis.swift` before the target is compiled.
@main struct TrellisPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let module = target.sourceModule else { return [] }
    let models = module.sourceFiles.map(\.url).filter { ModelFileName.isModel($0) }.sorted { $0.path < $1.path }
    guard areDistinct(models, in: target) else { return [] }
    let tool = try context.tool(named: "trellis-gen").url
    return models.indices.map { number in
      command(
        for: models[number], besides: Array(models[..<number]), tool: tool, in: context.pluginWorkDirectoryURL)
    }
  }

  /// One output, whose name does not depend on what is in the model: a build plan is kept until the set of files changes.
  ///
  /// - Parameter besides: The models before this one, whose names it may not use again; so a clash is reported once.
  private func command(for model: URL, besides: [URL], tool: URL, in directory: URL) -> Command {
    let output = directory.appending(path: ModelFileName.output(of: model))
    return .buildCommand(
      displayName: "Generating \(output.lastPathComponent)", executable: tool,
      arguments: [model.toolPath, output.toolPath] + besides.map(\.toolPath), inputFiles: [model] + besides,
      outputFiles: [output])
  }

  /// Two models of one name would write one file, and Swift cannot have two files of one name in a module either.
  private func areDistinct(_ models: [URL], in target: any Target) -> Bool {
    var seen: [String: URL] = [:]
    var isGood = true
    for model in models {
      // File systems that know no case would mix up names that differ only by that.
      guard let first = seen.updateValue(model, forKey: ModelFileName.output(of: model).lowercased()) else { continue }
      isGood = false
      Diagnostics.error(
        "\(model.toolPath): the target '\(target.name)' has another model file of this name, \(first.toolPath); rename one."
      )
    }
    return isGood
  }
}

/// How model files and what is made of them are called.
enum ModelFileName {
  static let ending = ".model.json"

  static func isModel(_ url: URL) -> Bool { url.lastPathComponent.hasSuffix(ending) }

  static func output(of model: URL) -> String { "\(model.lastPathComponent.dropLast(ending.count)).trellis.swift" }
}

extension URL {
  /// The path as the tool takes it: without percent escapes, and on Windows without the slash before the drive.
  fileprivate var toolPath: String {
    let path = path(percentEncoded: false)
    #if os(Windows)
      return path.hasPrefix("/") ? String(path.dropFirst()) : path
    #else
      return path
    #endif
  }
}
