// Saves to a JSON document until somebody kills it, and says on its standard output how far it came.
// Each save raises a counter, adds a parent with two children, and takes the parent before the last one along with its own.

import Foundation
import TrellisFile
import TrellisSchema
import TrellisStorage

try SaveLoop(path: CommandLine.arguments.dropFirst().first ?? "").run()
