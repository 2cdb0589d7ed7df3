import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'

// The followers run in a separate thread: in the thread of the measurement they would delay its clock.

export interface CrowdSettings {
  /** Where the execution is followed. */
  url: string
  token: string
  clients: number
  /** How many of them the console admits. */
  admitted: number
}

export interface Crowd {
  /** Disconnects all of them. */
  stop(): Promise<unknown>
}

/**
 * Starts the followers, and waits until as many follow as are admitted and the others were refused once.
 * @throws Error if more are admitted, or one gets another answer
 */
export async function startCrowd(settings: CrowdSettings): Promise<Crowd> {
  const thread = new Worker(new URL(import.meta.url), { workerData: settings })
  const ready = Promise.withResolvers<void>()
  thread.once('message', () => ready.resolve())
  thread.once('error', ready.reject)
  await ready.promise
  return { stop: () => thread.terminate() }
}

/** What Retry-After asks for. */
const RETRY_MS = 1_000

/** Runs in the thread. A refused client tries again after one to two seconds. */
function follow({ url, token, clients, admitted }: CrowdSettings, ready: () => void): void {
  let open = 0
  let answered = 0 // clients with a first answer

  function count(): void {
    if (open > admitted) throw new Error(`${open} followers were admitted, and not ${admitted}.`)
    if (open === admitted && answered === clients) ready()
  }

  async function one(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
      if (tries === 1) answered++
      if (answer.status === 200) open++
      count()
      const body = await answer.text() // of one who follows, until the end
      if (answer.status !== 503) throw new Error(`A follower got ${answer.status} ${body}.`)
      await wait(RETRY_MS * (1 + Math.random()))
    }
  }
  for (let n = 0; n < clients; n++) void one()
}

if (parentPort !== null && workerData !== null) {
  const port = parentPort
  follow(workerData as CrowdSettings, () => port.postMessage('ready'))
}
