// Writes a diary as it is told on its standard input: `add TEXT`, `change TEXT`, `delete TEXT`. Answers each line with `ok`.
import DiaryModel
import Foundation
import Trellis

func write(_ path: String) throws {
  let container = try PersistentContainer(model: .diary, store: .sqlite(at: URL(filePath: path)))
  let context = container.newContext()
  while let line = readLine() {
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { continue }
    let found = try context.first(EmotionDiary.where { $0.content == parts[1] })
    switch (parts[0], found) {
    case ("delete", let entry?): try context.delete(entry)
    case ("change", let entry?): entry.content += "!"
    default: EmotionDiary(in: context, emotion: .calm, content: parts[1]).createdAt = Date(timeIntervalSince1970: 0)
    }
    try context.save()
    print("ok")
    fflush(nil)
  }
}

try write(CommandLine.arguments[1])
