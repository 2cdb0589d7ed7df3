import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigurationError } from '@gateway/process/config'
import { readBridgeConfig, USAGE } from './bridge-config.ts'
import { openBridge } from './bridge.ts'
import { readLines } from './read-lines.ts'

// stdout carries messages and nothing else; whatever is to be said to a person goes to stderr.

const say = (text: string) => void process.stderr.write(`${text}\n`)

if (process.argv.includes('--help')) {
  say(USAGE)
  process.exit(0)
}

const config = configOrExit()
const bridge = openBridge({
  ...config,
  send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  say,
  fetch,
  newKey: randomUUID,
  now: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }),
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(0))
process.stdout.on('error', () => process.exit(0)) // the client has gone
for await (const line of readLines(process.stdin)) bridge.take(line)
process.exit(0) // what is under way goes on at the service

function configOrExit() {
  try {
    return readBridgeConfig(process.argv.slice(2), process.env)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    say(['gateway-mcp-bridge can not start:', ...error.problems.map((problem) => `  ${problem}`), '', USAGE].join('\n'))
    process.exit(78)
  }
}
