import TrellisSchema

// Stands in for the reader of model files until that is part of the package: delete this file then. Its types hide those of
// TrellisModelFile as long as it is here.

struct ModelFile {
  static func parse(_ bytes: [UInt8], path: String) -> ModelFileResult { ModelFileResult(path: path, description: nil) }
}

struct ModelFileResult {
  let path: String
  let description: ModelDescription?

  func rendered() -> String { "\(path):1:1: error: This build of trellis-gen cannot read model files yet.\n" }
}
