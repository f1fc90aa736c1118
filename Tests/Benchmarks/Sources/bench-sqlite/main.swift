// The floor: statements prepared once, columns read by number into hand-written classes, references resolved by key. By default
// with the schema that Trellis makes; with BENCH_BARE=1 without versions, unique keys and foreign keys. Where there is no
// database, it is Foundation's coders and arrays. With BENCH_NO_STATISTICS=1 SQLite keeps no statistics of memory, as for Trellis.
import CSQLite3
import Workload

let settings = Settings()
if settings.isOn("BENCH_NO_STATISTICS") { precondition(bench_switch_off_statistics() == SQLITE_OK) }
try Runner(Floor(settings), settings).run()
