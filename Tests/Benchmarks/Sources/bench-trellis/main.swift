// The same work done with Trellis, as its documentation recommends. BENCH_MEMORY_STORE=1 takes the memory store.
import Workload

let settings = Settings()
try Runner(TrellisBench(settings), settings).run()
