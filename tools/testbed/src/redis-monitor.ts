import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'

// What a Redis server is sent, by its MONITOR. The `monitor()` of ioredis fails if a command of another client arrives
// in one packet with the reply, so this reads the socket itself.

export interface RedisCommand {
  words: string[]
  /** Whether a script sent it. */
  isOfScript: boolean
}

export interface RedisMonitor {
  /** Resolves once `onCommand` has had every command that Redis has run by now. */
  caughtUp(): Promise<void>
  stop(): void
}

/** Calls `onCommand` for each command that any client sends to the server from now on. */
export async function monitorRedis(url: string, onCommand: (command: RedisCommand) => void): Promise<RedisMonitor> {
  const { hostname, port, password } = new URL(url)
  const asking = new Redis(url, { retryStrategy: null })
  const socket = connect(Number(port || 6379), hostname)
  const waiting = new Map<string, () => void>()
  const begun = Promise.withResolvers<void>()
  socket.on('error', begun.reject)
  createInterface({ input: socket, crlfDelay: Infinity }).on('line', (line) => {
    if (line.startsWith('-')) return begun.reject(new Error(line.slice(1)))
    if (line === '+OK') return begun.resolve()
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => unescaped(word!))
    waiting.get(words.join(' '))?.()
    onCommand({ words, isOfScript: / lua\]/.test(line.split('"', 1)[0]!) })
  })
  await once(socket, 'connect')
  socket.write(password ? `AUTH ${decodeURIComponent(password)}\r\nMONITOR\r\n` : 'MONITOR\r\n')
  await begun.promise
  let asked = 0
  return {
    async caughtUp() {
      const text = `${process.pid}-${++asked}`
      const seen = new Promise<void>((resolve) => waiting.set(`echo ${text}`, resolve))
      await asking.echo(text)
      await seen
    },
    stop() {
      socket.destroy()
      asking.disconnect()
    },
  }
}

/** As `sdscatrepr` of Redis writes it. */
function unescaped(word: string): string {
  return word.replaceAll(/\\(x[0-9a-f]{2}|.)/g, (_, one: string) =>
    one.length === 3 ? String.fromCharCode(parseInt(one.slice(1), 16)) : (plain[one] ?? one),
  )
}

const plain: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\u0007', b: '\b' }
