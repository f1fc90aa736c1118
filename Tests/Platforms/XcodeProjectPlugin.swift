// The part of Xcode's module for plugins that the plugins use.
public import Foundation
public import PackagePlugin

public struct XcodePluginContext {
  public let pluginWorkDirectoryURL: URL
  public func tool(named name: String) throws -> PluginContext.Tool { throw CocoaError(.featureUnsupported) }
}

public struct XcodeTarget {
  public let displayName: String
  public let inputFiles: FileList
}

public protocol XcodeBuildToolPlugin: BuildToolPlugin {
  func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command]
}
