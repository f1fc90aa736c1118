import Trellis

let container = try PersistentContainer(model: .notes, store: .memory)
let context = container.newContext()
_ = Note(in: context, text: "first")
try context.save()
print(try context.count(Note.all))
