import type { FuzzRequest } from './draft.ts'
import { codeIn, operationOf, type Fault } from './judge.ts'
import type { FuzzAnswer } from './send.ts'

/** A fault, with the number of responses that have it. */
export interface Finding extends Fault {
  operation: string
  count: number
  /** The first request and response with it. */
  example: string
}

export interface OperationFigures {
  requests: number
  successes: number
  refusals: number
  serverErrors: number
  slowestMs: number
}

export interface SlowAnswer {
  ms: number
  what: string
}

export interface Tally {
  findings: Map<string, Finding>
  operations: Map<string, OperationFigures>
  /** Responses by status. */
  statuses: Map<number, number>
  /** Refusals by code: how far requests come. */
  codes: Map<string, number>
  /** The slowest first. */
  slowest: SlowAnswer[]
}

const SLOWEST = 10
const SHOWN = 1_500 // characters

export function openTally() {
  const tally: Tally = {
    findings: new Map(),
    operations: new Map(),
    statuses: new Map(),
    codes: new Map(),
    slowest: [],
  }
  const { findings, operations, statuses, codes, slowest } = tally

  /** Counts a fault. Returns its finding if it is the first one. */
  function find(fault: Fault, request: FuzzRequest, answer: FuzzAnswer): Finding[] {
    const operation = operationOf(request)?.name ?? 'any path'
    const key = `${fault.kind}: ${operation}: ${fault.what}`
    const found = findings.get(key)
    if (found) {
      found.count++
      return []
    }
    const finding = { ...fault, operation, count: 1, example: exampleOf(request, answer) }
    findings.set(key, finding)
    return [finding]
  }

  function noteTime({ n, method, path }: FuzzRequest, { ms, status }: FuzzAnswer): void {
    if (slowest.length === SLOWEST && ms <= slowest.at(-1)!.ms) return
    slowest.push({ ms, what: `${status} ${method} ${path.slice(0, 100)} (request ${n})` })
    slowest.sort((one, other) => other.ms - one.ms)
    slowest.splice(SLOWEST)
  }

  return {
    ...tally,
    /** Returns the findings that are new. */
    count(request: FuzzRequest, answer: FuzzAnswer, faults: readonly Fault[]): Finding[] {
      const { status, ms } = answer
      const { name } = request.operation
      const row = operations.get(name) ?? { requests: 0, successes: 0, refusals: 0, serverErrors: 0, slowestMs: 0 }
      operations.set(name, row)
      row.requests++
      if (status >= 200 && status < 400) row.successes++
      if (status >= 400 && status < 500) row.refusals++
      if (status >= 500) row.serverErrors++
      row.slowestMs = Math.max(row.slowestMs, ms)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status >= 400) codes.set(codeIn(answer.text), (codes.get(codeIn(answer.text)) ?? 0) + 1)
      noteTime(request, answer)
      return faults.flatMap((fault) => find(fault, request, answer))
    },
    progress(sent: number, tookMs: number): string {
      const errors = [...statuses].reduce((sum, [status, count]) => sum + (status >= 500 ? count : 0), 0)
      const found = [...findings.values()].reduce((sum, { count }) => sum + count, 0)
      const perSecond = Math.round((sent / tookMs) * 1000)
      const slow = Math.round(slowest[0]?.ms ?? 0)
      return `${Math.round(tookMs / 1000)} s: ${sent} requests, ${perSecond}/s, ${errors} with 5xx, ${found} findings of ${findings.size} kinds, slowest ${slow} ms`
    },
  }
}

/** One finding with its first request and response. */
export function formatFinding(finding: Finding): string {
  return [titleOf(finding), ...finding.example.split('\n').map((line) => `    ${line}`), ''].join('\n')
}

export const titleOf = ({ kind, operation, what, count }: Finding) => `${kind}: ${operation}: ${what} (${count}×)`

/** The request and response as text, without the credential. */
function exampleOf(request: FuzzRequest, { status, error, text, ms }: FuzzAnswer): string {
  const { n, method, path, headers, body, caller, changes, transport, direct } = request
  const shown = headers.map(
    ([name, value]) => `  ${name}: ${name === 'authorization' ? `(${caller})` : cut(value, 120)}`,
  )
  return [
    `request ${n} as ${caller}${direct ? ' to the console' : ''}${transport.kind === 'whole' ? '' : `, ${transport.kind}`}: ${changes.join(', ') || 'as documented'}`,
    `${method} ${cut(path, 400)}`,
    ...shown,
    ...(body ? [cut(body.toString(), SHOWN)] : []),
    `→ ${status} in ${Math.round(ms)} ms ${error ?? ''}`,
    cut(text, SHOWN),
  ].join('\n')
}

const cut = (text: string, length: number) =>
  JSON.stringify(text.length > length ? `${text.slice(0, length)}… (${text.length} characters)` : text)
