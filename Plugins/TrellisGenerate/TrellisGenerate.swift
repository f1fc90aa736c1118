import Foundation
import PackagePlugin

/// Writes `X.trellis.swift` beside each `X.model.json` of a target, for packages that keep generated code in their
/// repository. A large model has further files, `X.trellis.2.swift` and so on.
///
///     swift package trellis-generate --target MyApp
///     swift package trellis-generate --check
@main struct TrellisGenerate: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let onlyChecks = extractor.extractFlag(named: "check") > 0
    if let unknown = extractor.remainingArguments.first {
      throw Failure("'\(unknown)' is no option. Use --target NAME, as often as needed, and --check.")
    }
    let targets = try targets(of: context.package, named: names)
    let tool = try context.tool(named: "trellis-gen").url
    var stale: [URL] = []
    for target in targets {
      for (number, model) in target.models.enumerated() {
        let output = model.deletingLastPathComponent().appending(path: model.generatedName)
        let written = onlyChecks ? context.pluginWorkDirectoryURL.appending(path: model.generatedName) : output
        var arguments = ([model, written] + target.models[..<number]).map(\.toolPath)
        let history = try model.releasedVersions
        if !history.isEmpty { arguments += ["--history"] + history.map(\.toolPath) }
        try run(tool, arguments)
        if onlyChecks {
          stale += try different(written, output)
        } else {
          for file in output.numberedFiles { print("\(file.toolPath)") }
        }
      }
    }
    for file in stale { Diagnostics.error("\(file.toolPath): The model has changed since this file was generated.") }
    if !stale.isEmpty { throw Failure("Run `swift package trellis-generate` and commit what it writes.") }
  }

  /// The files of a model in the repository that are not what was generated: others, missing ones, and superfluous ones.
  private func different(_ generated: URL, _ kept: URL) throws -> [URL] {
    let count = max(generated.numberedFiles.count, kept.numberedFiles.count, 1)
    return (1...count).filter { number in
      (try? Data(contentsOf: generated.numbered(number))) != (try? Data(contentsOf: kept.numbered(number)))
    }.map(kept.numbered)
  }

  /// The targets to generate code for.
  ///
  /// - Parameter names: The targets that are asked for. If there are none, these are the targets with generated files:
  ///   in another one the build tool plugin generates the same types.
  private func targets(of package: Package, named names: [String]) throws -> [ModelTarget] {
    let all = try package.targets.compactMap { try $0.sourceModule.map { try ModelTarget($0) } }
    if names.isEmpty {
      let found = all.filter(\.hasGeneratedFiles)
      guard found.isEmpty else { return found }
      let possible = all.filter { !$0.models.isEmpty }.map { "--target \($0.name)" }
      throw Failure(
        possible.isEmpty
          ? "No target of this package has a file that ends in '\(URL.modelEnding)'."
          : "No target has generated files yet. Name one with \(possible.joined(separator: " or "))."
      )
    }
    return try names.map { name in
      guard let target = all.first(where: { $0.name == name }) else {
        throw Failure("The package has no target '\(name)'; it has \(all.map(\.name).joined(separator: ", ")).")
      }
      guard !target.models.isEmpty else {
        throw Failure("The target '\(name)' has no file that ends in '\(URL.modelEnding)'.")
      }
      return target
    }
  }

  private func run(_ tool: URL, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    // The tool has printed what is wrong, with file and line.
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure("\(arguments[0]): No Swift was generated.")
    }
  }
}

/// A target with its model files, in the order of their paths.
private struct ModelTarget {
  let name: String
  let models: [URL]
  let hasGeneratedFiles: Bool

  /// Models are looked for in the target's folder, since the manifest excludes them from the target's sources.
  init(_ module: any SourceModuleTarget) throws {
    name = module.name
    let folder = module.directoryURL
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
    models = paths.filter { $0.hasSuffix(URL.modelEnding) }.sorted().map { folder.appending(path: $0) }
    hasGeneratedFiles = models.contains { model in
      let file = model.deletingLastPathComponent().appending(path: model.generatedName)
      return FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
    }
  }
}

private struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension URL {
  fileprivate static let modelEnding = ".model.json"

  /// The name of the file that is generated from this model.
  fileprivate var generatedName: String { "\(lastPathComponent.dropLast(URL.modelEnding.count)).trellis.swift" }

  /// The file of a model with a number from 1, if this is the first one: `X.trellis.2.swift`.
  fileprivate func numbered(_ number: Int) -> URL {
    if number == 1 { return self }
    return deletingPathExtension().appendingPathExtension("\(number)").appendingPathExtension(pathExtension)
  }

  /// The existing files of a model, if this is the first one. Their numbers have no gaps.
  fileprivate var numberedFiles: [URL] {
    var files: [URL] = []
    while true {
      let file = numbered(files.count + 1)
      guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return files }
      files.append(file)
    }
  }

  /// The files of the released versions of this model; none if there is no folder of them.
  fileprivate var releasedVersions: [URL] {
    get throws {
      let name = "\(lastPathComponent.dropLast(URL.modelEnding.count)).history"
      let folder = deletingLastPathComponent().appending(path: name)
      guard FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else { return [] }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
      return names.filter { !$0.hasPrefix(".") }.sorted().map { folder.appending(path: $0) }
    }
  }

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
