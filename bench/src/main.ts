import { readArguments } from './arguments.ts'
import { benches } from './benches.ts'
import { openStops } from './stack/stops.ts'
import { keepResults } from './report/results-file.ts'

// npm run bench <name>
// Exit codes: 0 measured and the ledger verified, 1 not, 64 wrong usage, 130 interrupted.

const read = readArguments(process.argv.slice(2), benches)
if ('usage' in read) {
  process[read.wrong ? 'stderr' : 'stdout'].write(read.usage)
  process.exit(read.wrong ? 64 : 0)
}

const { name, options } = read
const stops = openStops()
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    interrupted = true
    void stops.run().finally(() => process.exit(130))
  })

const log = (line: string) => void process.stdout.write(`${line}\n`)
try {
  const report = await benches[name]!.run({ options, stops, log })
  log(`\n${report}`)
  if (options.keep) log(`\nKept in ${await keepResults(name, report)}`)
} catch (error) {
  process.exitCode = 1
  // A failure caused by a stopped server is not news.
  if (!interrupted)
    process.stderr.write(`\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
} finally {
  await stops.run()
}
