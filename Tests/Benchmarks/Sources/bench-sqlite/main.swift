// The floor: statements prepared once, columns read by number into hand-written classes, references resolved by key. By default
// with the schema that Trellis makes; with BENCH_BARE=1 without versions, unique keys and foreign keys. Where there is no
// database, it is Foundation's coders and arrays.
import Workload

let settings = Settings()
try Runner(Floor(settings), settings).run()
