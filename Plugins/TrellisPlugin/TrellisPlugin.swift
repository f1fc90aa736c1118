import Foundation
import PackagePlugin

/// Generates `X.trellis.swift` from each `X.model.json` of a target before the target is compiled. A large model has
/// further files, `X.trellis.2.swift` and so on.
@main struct TrellisPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let module = target.sourceModule else { return [] }
    return commands(
      for: module.sourceFiles.map(\.url), of: target.name, tool: try context.tool(named: "trellis-gen").url,
      in: context.pluginWorkDirectoryURL)
  }

  /// The commands for the models among the files of a target.
  private func commands(for files: [URL], of target: String, tool: URL, in directory: URL) -> [Command] {
    let models = files.filter { ModelFileName.isModel($0) }.sorted { $0.path < $1.path }
    guard areDistinct(models, in: target) else { return [] }
    return models.indices.map { number in
      command(for: models[number], besides: Array(models[..<number]), tool: tool, in: directory)
    }
  }

  /// The command that generates the files of a model.
  ///
  /// A build plan is reused until the set of files changes, so an edit of the model does not change the number of
  /// outputs. Therefore the tool gets the number, and writes the whole model to that many files, whatever it contains.
  ///
  /// - Parameter besides: The models before this one. Their names are not available to this model, so that a clash is
  ///   reported once.
  private func command(for model: URL, besides: [URL], tool: URL, in directory: URL) -> Command {
    let outputs = (1...fileCount(of: model)).map { number in
      directory.appending(path: ModelFileName.output(of: model, number: number))
    }
    let history = history(of: model)
    var arguments = [model.toolPath, outputs[0].toolPath] + besides.map(\.toolPath)
    arguments += ["--files", "\(outputs.count)"]
    if !history.isEmpty { arguments += ["--history"] + history.map(\.toolPath) }
    return .buildCommand(
      displayName: "Generating \(outputs[0].lastPathComponent)", executable: tool, arguments: arguments,
      inputFiles: [model] + besides + history, outputFiles: outputs)
  }

  /// The number of files that the tool writes by itself for the present model, which only the compile time depends on:
  /// one for each 20 entities. The tool reports what is wrong with a model that cannot be read here.
  private func fileCount(of model: URL) -> Int {
    guard let content = try? Data(contentsOf: model),
      let object = try? JSONSerialization.jsonObject(with: content) as? [String: Any],
      let entities = object["entities"] as? [String: Any]
    else { return 1 }
    return max(1, (entities.count + 19) / 20)
  }

  /// The files of the released versions of a model. They are looked for in their folder, since a manifest may exclude
  /// it from the target's sources. As inputs of a command, SwiftPM does not report them as unhandled.
  private func history(of model: URL) -> [URL] {
    let folder = ModelFileName.history(of: model)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted().map { folder.appending(path: $0) }
  }

  /// Whether all models have distinct names. Two models with the same name would generate the same file, and a Swift
  /// module cannot contain two files with the same name.
  private func areDistinct(_ models: [URL], in target: String) -> Bool {
    var seen: [String: URL] = [:]
    var isGood = true
    for model in models {
      // Case-insensitive file systems cannot distinguish names that differ only in case.
      guard let first = seen.updateValue(model, forKey: ModelFileName.output(of: model, number: 1).lowercased()) else {
        continue
      }
      isGood = false
      Diagnostics.error(
        "\(model.toolPath): the target '\(target)' has another model file of this name, \(first.toolPath); rename one."
      )
    }
    return isGood
  }
}

#if canImport(XcodeProjectPlugin)
  import XcodeProjectPlugin

  /// The same for a target of an Xcode project, which names the models among its own files.
  extension TrellisPlugin: XcodeBuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
      commands(
        for: target.inputFiles.map(\.url), of: target.displayName, tool: try context.tool(named: "trellis-gen").url,
        in: context.pluginWorkDirectoryURL)
    }
  }
#endif

/// The names of model files and of generated files.
enum ModelFileName {
  static let ending = ".model.json"

  static func isModel(_ url: URL) -> Bool { url.lastPathComponent.hasSuffix(ending) }

  static func output(of model: URL, number: Int) -> String {
    let name = model.lastPathComponent.dropLast(ending.count)
    return number == 1 ? "\(name).trellis.swift" : "\(name).trellis.\(number).swift"
  }

  /// The folder of the released versions of a model.
  static func history(of model: URL) -> URL {
    model.deletingLastPathComponent().appending(path: "\(model.lastPathComponent.dropLast(ending.count)).history")
  }
}

extension URL {
  /// The path for the tool's arguments: without percent escapes, and on Windows without the slash before the drive.
  fileprivate var toolPath: String {
    let path = path(percentEncoded: false)
    #if os(Windows)
      return path.hasPrefix("/") ? String(path.dropFirst()) : path
    #else
      return path
    #endif
  }
}
