import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

// A process that runs workflows of steps with DBOS, as shown in its README. Arguments: the library's entry, the address
// of its database, a port, the name of this executor. GET responds once it is ready; POST `{ workflows, concurrency,
// steps }` runs them.

interface Dbos {
  setConfig(config: object): void
  launch(): Promise<void>
  runStep<T>(step: () => Promise<T>, config: { name: string }): Promise<T>
  registerWorkflow<A extends unknown[], T>(
    work: (...args: A) => Promise<T>,
    config: { name: string },
  ): (...args: A) => Promise<T>
}
interface Load {
  workflows: number
  concurrency: number
  steps: number
}

const [entry, databaseUrl, port, executor] = process.argv.slice(2)
process.env['DBOS__VMID'] = executor
const { DBOS } = (await import(pathToFileURL(entry!).href)) as { DBOS: Dbos }
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: databaseUrl, systemDatabasePoolSize: 20, logLevel: 'error' })

const flow = DBOS.registerWorkflow(
  async (text: string, steps: number) => {
    let value = text
    for (let n = 0; n < steps; n++)
      value = await DBOS.runStep(() => Promise.resolve(`${value.slice(0, 40)} ${n}`), { name: 'write' })
    return value
  },
  { name: 'flow' },
)
await DBOS.launch()

async function run({ workflows, concurrency, steps }: Load): Promise<number> {
  let next = 0
  const startMs = performance.now()
  const one = async () => {
    while (next < workflows) await flow(`text ${next++}`, steps)
  }
  await Promise.all(Array.from({ length: concurrency }, one))
  return performance.now() - startMs
}

createServer((req, res) => {
  if (req.method !== 'POST') return void res.end('ready')
  const parts: Buffer[] = []
  req.on('data', (part: Buffer) => parts.push(part))
  req.on('end', () => {
    void run(JSON.parse(Buffer.concat(parts).toString()) as Load).then((tookMs) => res.end(JSON.stringify({ tookMs })))
  })
}).listen(Number(port), '127.0.0.1')
