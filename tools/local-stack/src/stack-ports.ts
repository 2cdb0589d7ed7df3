import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { ConfigurationError } from '@gateway/service-kit/process/config'
import type { StackConfig } from './stack-config.ts'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'

export interface StackPorts {
  gateway: number
  console: number
  ledger: number
  worker: number
  provider: number
}

/**
 * Chooses a port for each program, tries it now and reserves it for the program's restarts. A requested port that is in
 * use is reported by its variable; the others are the next free ones above the gateway's.
 */
export async function choosePorts(config: StackConfig): Promise<StackPorts> {
  const chosen: Partial<StackPorts> = {}
  const problems: string[] = []
  const used = new Set<number>()
  for (const program of Object.keys(variables) as (keyof StackPorts)[]) {
    const [wanted, host] = [config[variables[program]], hostOf(program, config)]
    const port =
      wanted === undefined
        ? await nextFree((chosen.gateway ?? config.PORT) + 1, used)
        : wanted === 0
          ? await listens(await freePort(undefined, `the ${program}`), host)
          : await tryPort(wanted, host, used)
    if (port === null) {
      problems.push(takenProblem(program, wanted!))
      continue
    }
    used.add(port)
    chosen[program] = port
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  return chosen as StackPorts
}

const variables = {
  gateway: 'PORT',
  console: 'CONSOLE_PORT',
  ledger: 'LEDGER_PORT',
  worker: 'WORKER_PORT',
  provider: 'PROVIDER_PORT',
} as const satisfies Record<keyof StackPorts, keyof StackConfig>

function hostOf(program: keyof StackPorts, { HOST }: Pick<StackConfig, 'HOST'>): string {
  return program === 'gateway' ? HOST : '127.0.0.1'
}

function takenProblem(program: keyof StackPorts, port: number): string {
  const variable = variables[program]
  return `${variable}: ${port} is taken. Stop what listens there, or choose another, such as ${variable}=0 for any.`
}

/**
 * Passes on the error of a program that did not start. If something else listens on its port by now, the error names
 * the variable of `npm start` instead of that of the program.
 */
export async function startError(
  error: unknown,
  program: keyof StackPorts,
  port: number,
  config: Pick<StackConfig, 'HOST'>,
): Promise<unknown> {
  const isFreeNow = (await listens(port, hostOf(program, config))) !== null
  return isFreeNow ? error : new ConfigurationError([takenProblem(program, port)])
}

/** The programs that have metrics. */
export const measured = ['gateway', 'console', 'ledger', 'worker'] as const
export type MetricsPorts = Record<(typeof measured)[number], number>

/** Chooses a metrics port on 127.0.0.1 for each: the next free ones above all others. */
export async function chooseMetricsPorts(ports: StackPorts): Promise<MetricsPorts> {
  const used = new Set(Object.values(ports))
  const chosen: Partial<MetricsPorts> = {}
  for (const program of measured) {
    const port = (await nextFree(Math.max(...used) + 1, used))!
    used.add(port)
    chosen[program] = port
  }
  return chosen as MetricsPorts
}

async function nextFree(from: number, used: ReadonlySet<number>): Promise<number | null> {
  for (let port = from; port <= 65_535; port++) {
    if ((await tryPort(port, '127.0.0.1', used)) !== null) return port
  }
  return freePort(undefined, 'a program')
}

/** Returns the port if it is free and no other process has claimed it, otherwise null. */
async function tryPort(wanted: number, host: string, used: ReadonlySet<number>): Promise<number | null> {
  if (used.has(wanted)) return null
  return (await claim(wanted)) ? listens(wanted, host) : null // P2
}

/** Returns the port if a program could listen on it now, null if it is in use. */
async function listens(port: number, host: string): Promise<number | null> {
  const probe = createServer().listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' || code === 'EACCES') return null
    throw new ConfigurationError([`HOST: can't listen on ${host}:${port} (${code}).`])
  }
  probe.close()
  await once(probe, 'close')
  return port
}

// A port is chosen before its program starts, and reserved for its restarts. Meanwhile nothing listens on it, so:
//   P1  It is below the ephemeral ports: otherwise an outgoing connection could take it.
//   P2  It is claimed until this process ends for any reason, by a UDP socket of the same number: nothing here uses
//       UDP, and the kernel gives the number to only one process.

const FIRST = 10_000
const END = 32_768
const TRIES = 1_000

/** Returns a free loopback port: the wanted one, or any. Throws one clear message if the wanted one is in use. */
export async function freePort(wanted: number | undefined, what: string): Promise<number> {
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted
    throw new Error(
      `Port ${wanted} is taken, so ${what} can't use it. Stop what listens there, or choose another port.`,
    )
  }
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, END)
    if ((await claim(port)) && (await isFree(port))) return port
  }
  throw new Error(`No port from ${FIRST} to ${END - 1} is free for ${what}. Stop what listens there.`)
}

/** P2 */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  return isOpen(once(socket, 'listening'))
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1')
  if (!(await isOpen(once(probe, 'listening')))) return false
  await new Promise((done) => probe.close(done))
  return true
}

async function isOpen(opening: Promise<unknown>): Promise<boolean> {
  try {
    await opening
    return true
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))) return false
    throw error
  }
}

/** The port that a TCP server listens on. */
export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('This server does not listen on a port.')
  return address.port
}
