import { setTimeout as wait } from 'node:timers/promises'
import type { FuzzOptions } from './arguments.ts'
import type { FuzzRequest } from './draft.ts'
import type { FuzzStack, LoggedError } from './fuzz-stack.ts'
import { judge } from './judge.ts'
import { makeRequest, relationOf, type Worlds } from './make-request.ts'
import { openSender, type FuzzAnswer } from './send.ts'
import { formatFinding, openTally, type Tally } from './tally.ts'
import { createWorld, type World } from './world.ts'

export interface FuzzReport extends Tally {
  seed: number
  sent: number
  tookMs: number
  /** Services that ended during the run. */
  ended: string[]
  /** What the books have wrong. */
  books: string[]
  errors: LoggedError[]
}

interface Deps {
  stack: FuzzStack
  log: (line: string) => void
  stop?: AbortSignal
}

const CONNECTIONS = 16
/** Requests may block, empty or rename what others need: a new organization takes over after this many. */
const REQUESTS_PER_WORLD = 2_000
const PROGRESS_MS = 10_000
const LOOK_MS = 500

/** Sends requests until there were enough, the time is over or a service has ended, then checks the books. */
export async function fuzz({ requests, seed, seconds }: FuzzOptions, { stack, log, stop }: Deps): Promise<FuzzReport> {
  const { gateways, console } = stack.services
  const sender = openSender({ gateway: gateways[0]!.url, console: console!.url })
  const tally = openTally()
  const worlds: Worlds = { other: await createWorld(stack), current: await createWorld(stack) }
  const startedAt = performance.now()
  let sent = 0
  let over = false
  let renewal: Promise<unknown> = Promise.resolve()

  async function renewWorld(): Promise<void> {
    const next = await createWorld(stack)
    worlds.other = worlds.current
    worlds.current = next
  }

  async function connection(): Promise<void> {
    while (!over && sent < requests) {
      const world = worlds.current
      if (++world.requests === REQUESTS_PER_WORLD) {
        renewal = renewWorld()
        renewal.catch(() => (over = true)) // thrown below
      }
      const request = makeRequest(seed, sent++, worlds)
      for (const answer of await sender.send(request)) {
        for (const finding of tally.count(request, answer, judge(request, answer))) log(formatFinding(finding))
        learn(world, request, answer)
      }
    }
  }

  async function watch(): Promise<void> {
    let nextProgressMs = PROGRESS_MS
    while (!over) {
      await wait(LOOK_MS)
      const ms = performance.now() - startedAt
      if (ms > seconds * 1000 || stop?.aborted || stack.ended().length > 0) over = true
      if (ms < nextProgressMs) continue
      nextProgressMs += PROGRESS_MS
      log(tally.progress(sent, ms))
    }
  }

  const watching = watch()
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, connection))
    await renewal
  } finally {
    over = true
    sender.close()
    await watching
  }
  const tookMs = performance.now() - startedAt
  const ended = stack.ended()
  log(`${sent} requests sent; waiting until nothing is reserved, then checking the books`)
  const books = await stack.checkBooks()
  return { ...tally, seed, sent, tookMs, ended, books, errors: stack.loggedErrors() }
}

/** Remembers what later requests may use. */
function learn({ pool, kept, names }: World, { operation, body, method, path }: FuzzRequest, answer: FuzzAnswer): void {
  const { status, headers, text } = answer
  const sent = new TextDecoder().decode(body ?? undefined)
  if (operation.name === 'PUT /api/v2/me/password' && status === 204)
    names.password = (firstJson(sent) as { password: string }).password
  if (status !== 200 && status !== 201) return
  const relation = relationOf(operation)
  if (relation && (method === 'POST' || method === 'PUT')) {
    const id =
      method === 'PUT'
        ? decodeURIComponent(path.split('?')[0]!.split('/').at(-1)!)
        : (firstJson(sent) as { user: string }).user
    if (!kept.has(id)) pool.add(relation, id)
    return
  }
  if (method !== 'POST' || !text.startsWith('{')) return
  const made = firstJson(text)
  pool.harvest(made, kept)
  const { code } = (made ?? {}) as { code?: unknown }
  if (typeof code === 'string') pool.keepSecret('code', code)
  const cookie = headers['set-cookie']?.split(';')[0]
  if (cookie !== undefined) pool.keepSecret('cookie', cookie)
}

/** The body, or the first line of a stream. */
function firstJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
