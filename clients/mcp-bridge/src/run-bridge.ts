import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { BridgeConfig } from './bridge-config.ts'
import { openBridge } from './bridge.ts'

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

/**
 * Yields the lines of a stream that are not blank. Only a line feed ends a line: JSON may contain U+2028 and U+2029, at
 * which `readline` splits too.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream) {
    const lines = decoder.decode(bytes, { stream: true }).split('\n')
    lines[0] = rest + lines[0]!
    rest = lines.pop()!
    for (const line of lines) if (line.trim() !== '') yield line.replace(/\r$/, '')
  }
  rest += decoder.decode()
  if (rest.trim() !== '') yield rest
}
