// The floor: statements prepared once, columns read by number into hand-written classes, references resolved through
// dictionaries. By default with the schema that Trellis makes; with BENCH_BARE=1 without versions, unique keys and foreign keys.
import Workload

let floor = Floor(Settings())
floor.run()
