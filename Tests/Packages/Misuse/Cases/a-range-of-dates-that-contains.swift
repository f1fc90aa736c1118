// expect: write isIn after the attribute: $0.number.isIn(1..<3)
import Foundation
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ begin: Date, _ end: Date) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.sentAt.isIn(begin..<end) })
  #else
    _ = try context.fetch(Note.where { (begin..<end).contains($0.sentAt) })
  #endif
}
