// Works on a store as its arguments say: the command, the path, and what the command needs. The keys are in the environment.
import Ciphers
import Foundation
import Trellis

let words = Array(CommandLine.arguments.dropFirst())
let key = Cipher.key("VAULT_KEY")
let url = URL(filePath: words[1])

func open() throws -> PersistentContainer {
  try PersistentContainer(
    model: .vault, store: .sqlite(at: url, busyTimeout: 30, filesAbove: 1_000, key: key), log: nil)
}

/// Saves notes with these numbers, a picture with each twentieth.
func save(_ numbers: Range<Int>, _ seed: UInt64, _ context: ManagedObjectContext) throws {
  for number in numbers {
    let text = Secret.text(seed, number)
    let note = Note(in: context, number: Int64(number), text: text, extra: "extra \(text)")
    if number % 20 == 0 { note.picture = Secret.picture(text) }
    note.tags.append(Tag(in: context, name: text))
  }
  try context.save()
}

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

do {
  try Cipher.use()
  switch words[0] {
  case "fill", "loop":
    let seed = UInt64(words[2]) ?? 0
    let most = words[0] == "fill" ? Int(words[3]) ?? 0 : .max
    let container = try open()
    let context = container.newContext()
    var count = try context.count(Note.all)
    while count < most {
      try save(count..<min(most, count + 10), seed, context)
      count += 10
      context.reset()
      say("\(count)")
    }
    container.close()
  case "check":
    let seed = UInt64(words[2]) ?? 0
    let container = try open()
    let context = container.newContext()
    for finding in try container.check() { say("found \(finding)") }
    let notes = try context.fetch(Note.all.sorted { $0.number.ascending })
    for (place, note) in notes.enumerated() {
      let text = Secret.text(seed, place)
      let picture = place % 20 == 0 ? Secret.picture(text) : nil
      if Int(note.number) != place || note.text != text || note.picture != picture { say("note \(place) differs") }
    }
    if let first = notes.first, try context.count(Note.where("text CONTAINS[c] \(first.text)")) != 1 {
      say("search differs")
    }
    say("notes \(notes.count)")
    container.close()
  case "rekey":
    guard let key, let next = Cipher.key("VAULT_NEW_KEY") else { exit(2) }
    try EncryptedStore.changeKey(at: url, from: key, to: next)
  case "copy":
    try EncryptedStore.copy(at: url, key: key, to: URL(filePath: words[2]), key: Cipher.key("VAULT_NEW_KEY"))
  case "backup":
    let container = try open()
    try container.backUp(to: URL(filePath: words[2]))
    container.close()
  case "hold":
    // A program may open its store more than once.
    let containers = try [open(), open()]
    say("open")
    _ = FileHandle.standardInput.availableData
    for container in containers { container.close() }
  default: exit(2)
  }
} catch let error as StoreError {
  say("error \(error.code.rawValue)")
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
