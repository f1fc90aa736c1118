import Foundation

// The file comes as the only argument; each save that is done is told by its number.
guard CommandLine.arguments.count == 2 else { exit(2) }
do {
  try PictureLoop.run(URL(filePath: CommandLine.arguments[1]))
} catch {
  print("failed: \(error)")
  exit(1)
}
