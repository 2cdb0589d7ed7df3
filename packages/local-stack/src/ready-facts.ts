import { renameSync, writeFileSync } from 'node:fs'

/** What the seed made, or found as it had made it before. */
export interface SeededFacts {
  /** A person's token (svu_…) who may do everything in the tenant and is platform operator. */
  consoleToken: string
  email: string
  password: string
  tenant: string
  project: string
  key: string
  /** A key from before project binding: every endpoint refuses it. */
  legacyKey: string
  otherProject: { project: string; key: string }
  /** What `GET /v1/models` answers for the key. */
  models: string[]
  media?: { image: string; audio: string }
  sandboxes?: { chat: string; mixed: string }
}

/** The content of `ready.json` (decisions.md, section 9). */
export interface ReadyFacts extends SeededFacts {
  baseUrl: string
  /** The console service's own address; the gateway forwards /api/v2 and /console to it. */
  consoleUrl: string
  /** Control endpoint of the simulated origin. */
  originControl: string
}

/** For this user alone, and never seen half-written. */
export function writePrivateJson(file: string, content: unknown): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

/** The one screen: the address, the key, and three commands that work as they stand. */
export function readyScreen(facts: ReadyFacts, readyFile: string): string {
  const { baseUrl, consoleUrl, email, key, password } = facts
  const model = facts.models[0] ?? 'none is seeded'
  const body = { model, messages: [{ role: 'user', content: 'Say hello in one sentence.' }] }
  const call = (flags: string, content: object) =>
    `curl -sS ${flags}${baseUrl}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(content)}'`
  return `
  The gateway is ready.

    address   ${baseUrl}/v1
    key       ${key}
    models    ${facts.models.join(', ')}
    console   ${consoleUrl}  (${email}, password ${password})

  What the key can call, a completion, and a stream:

curl -sS ${baseUrl}/v1/models -H 'Authorization: Bearer ${key}'

${call('', body)}

${call('-N ', { ...body, stream: true })}

  The same as JSON: ${readyFile}
  Ctrl-C stops everything. The data stays for the next start.
`
}
