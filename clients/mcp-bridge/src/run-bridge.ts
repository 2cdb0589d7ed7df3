import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { BridgeConfig } from './bridge-config.ts'
import { openBridge } from './bridge.ts'
import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'

/**
 * Speaks MCP over stdin and stdout until the client closes them; then the process ends. stdout carries only messages;
 * text for a user goes to stderr.
 */
export async function runBridge(config: BridgeConfig): Promise<never> {
  const bridge = openBridge({
    ...config,
    send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    say: (text) => void process.stderr.write(`${text}\n`),
    fetch,
    newKey: randomUUID,
    now: () => performance.now(),
    wait: (ms, signal) => wait(ms, undefined, { signal }),
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(0))
  process.stdout.on('error', () => process.exit(0)) // the client has closed it
  for await (const line of readLines(process.stdin)) bridge.take(line)
  process.exit(0) // calls in flight continue in the service
}

/** Yields the lines of a stream that are not blank. */
async function* readLines(stream: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) if (line.trim() !== '') yield line
}
