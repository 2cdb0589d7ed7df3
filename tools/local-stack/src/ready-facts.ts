import { renameSync, writeFileSync } from 'node:fs'
import type { Seeded } from '@gateway/prisma/seeded'
import { setTimeout as wait } from 'node:timers/promises'
import type { TiedProcess } from './end-with-starter.ts'

/** The content of `ready.json` (rules §8.1). */
export interface ReadyFacts extends Seeded {
  baseUrl: string
  /** The console's direct address; the gateway forwards /api/v2 and /console to it. */
  consoleUrl: string
  /** Control endpoint of the simulated provider. */
  providerControl: string
  /** Where each service serves its metrics, for this machine only. */
  metrics: string[]
}

/** Written for this user only, and atomically. */
export function writePrivateJson(file: string, content: unknown): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

/** The startup screen: the address, the key, and three commands that work unchanged. */
export function readyScreen(facts: ReadyFacts, readyFile: string): string {
  const { baseUrl, email, key, password, sandboxes } = facts
  const model = facts.models[0] ?? 'none is seeded'
  const body = { model, messages: [{ role: 'user', content: 'Say hello in one sentence.' }] }
  const authorization = `-H 'Authorization: Bearer ${key}'`
  const post = (flags: string, path: string, headers: string, content: object) =>
    `curl -sS ${flags}${baseUrl}${path} ${authorization} -H 'Content-Type: application/json'${headers} -d '${JSON.stringify(content)}'`
  // A new key on each use, so that the command runs again.
  const progress = ` -H 'Accept: application/x-ndjson' -H "Idempotency-Key: try-it-$(date +%s)"`
  const input = { topic: 'the sea', tone: 'dry' }
  const invoke = sandboxes && post('-N ', `/v1/sandbox/${sandboxes.mixed}/invoke`, progress, { input })
  return `
  The gateway is ready.

    address   ${baseUrl}/v1
    key       ${key}
    models    ${facts.models.join(', ')}
    console   ${baseUrl}/console  (${email}, ${password === null ? 'with the password you set' : `password ${password}`})

  What the key can call, a completion, and a flow that reports its progress:

curl -sS ${baseUrl}/v1/models ${authorization}

${post('', '/v1/chat/completions', '', body)}

${invoke ?? '(The flow was not made: see above.)'}

  The same as JSON: ${readyFile}
  Ctrl-C stops everything. The data stays for the next start.
`
}

/**
 * Polls `isReady` until it returns true, the program has ended, or `deadline` (milliseconds since the epoch) has
 * passed.
 */
export async function awaitReady(
  program: TiedProcess,
  isReady: () => Promise<boolean>,
  deadline: number,
): Promise<'ready' | 'ended' | 'late'> {
  const ended = program.ended.then(() => 'ended' as const)
  while (Date.now() < deadline) {
    const news = await Promise.race([ended, wait(20, null)])
    if (news === 'ended') return 'ended'
    if (await isReady()) return 'ready'
  }
  return 'late'
}
