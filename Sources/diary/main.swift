import Foundation

// `swift run diary` runs the story. With a command, it keeps a real diary in a file.
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  if arguments.isEmpty {
    try await Story().play()
  } else {
    try Commands(arguments).run()
  }
} catch let mistake as Commands.Mistake {
  FileHandle.standardError.write(Data("\(mistake)\n".utf8))
  exit(64)
} catch {
  FileHandle.standardError.write(Data("diary: \(error)\n".utf8))
  exit(1)
}
