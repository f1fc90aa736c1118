import Foundation
import Trellis
import TrellisTestSupport

/// A container on a store of its own in memory.
func makeContainer() throws -> PersistentContainer {
  try PersistentContainer(model: .shapes, store: .memory) { _ in }
}

func makeContext() throws -> ManagedObjectContext { try makeContainer().newContext() }
