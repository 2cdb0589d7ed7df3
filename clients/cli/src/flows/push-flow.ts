import { randomUUID } from 'node:crypto'
import { ApiRefusal } from '@gateway/api-client/failures'
import type { RevisionRecord } from '@gateway/api/console/sandboxes'
import type { Graph } from '@gateway/api/graph'
import type { Io } from '../frame/io.ts'
import { CommandFailure } from '../frame/command-failure.ts'
import { checkFlow, type FlowProblem } from './check-flow.ts'
import { digestOf, type LockedFlow, fileOf, nameFor } from './flow-folder.ts'
import type { Flows } from './open-flows.ts'
import { differing, emptyGraph, formatDifference } from './format-difference.ts'

/** Prints each problem with its position, in a format that editors and pipelines parse. */
export function formatProblems(io: Io, file: string, problems: readonly FlowProblem[]): void {
  for (const { line, column, code, message, resolution } of problems)
    io.say(`${file}:${line}:${column}: ${code}: ${message} ${resolution}`)
}

/** A flow without a file, even if the lock file still lists it. */
export function missingFile({ lock }: Pick<Flows, 'lock'>, name: string): CommandFailure {
  return new CommandFailure(
    `${fileOf(name)} does not exist.`,
    lock.flows[name] === undefined
      ? `Create it: gateway flows init ${name}`
      : `Restore it: gateway flows pull ${name}. Or remove ${name} from gateway.lock.json too`,
  )
}

/**
 * Saves the file of a flow as a new revision, unless the latest one is identical. If another revision was saved since
 * the author last looked, shows the difference and does not overwrite it.
 * @returns the number of the revision
 * @throws CommandFailure
 */
export async function pushFlow(io: Io, flows: Flows, name: string, { draft }: { draft: boolean }): Promise<number> {
  const { api, tenant, lock } = flows
  const file = fileOf(name)
  const text = await flows.read(name)
  if (text === null) throw missingFile(flows, name)
  const { graph, problems, positionOf } = checkFlow(text)
  formatProblems(io, file, problems)
  if (graph === null || (problems.length > 0 && !draft))
    throw new CommandFailure(
      `${file} was not saved.`,
      graph === null ? 'Fix it' : 'Fix it, or save it with its problems: --draft',
    )

  const digest = digestOf(graph)
  const known = lock.flows[name]
  if (known?.digest === digest) return isAlready(known, graph)
  await flows.keepLock() // create nothing that can't be recorded here
  const locked = known ?? (await make())
  const body = { graph, draft, baseRevision: locked.revision }
  const params = { tenant, sandbox: locked.sandbox }
  const saved = await api
    .ask('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions', {
      params,
      body,
      idempotencyKey: randomUUID(),
    })
    .catch((error: unknown) => {
      if (error instanceof ApiRefusal && error.code === 'revision_conflict') return null
      throw error
    })
  if (saved === null) return isAlready(locked, graph)
  lock.flows[name] = { ...locked, revision: saved.number, digest }
  io.say(`${file} is saved as revision ${saved.number} of ${locked.sandbox}.`)
  await flows.keepLock()
  reportStored(saved, { isNew: true })
  return saved.number

  async function make() {
    const { id } = await productFor(flows, name)
    const made = { sandbox: id, revision: 0, digest: null }
    lock.flows[name] = made
    io.say(`${name} is now sandbox product ${id}.`)
    await flows.keepLock()
    return made
  }

  /**
   * The latest revision is this very graph: nothing has changed since, or a push was interrupted. Its problems are
   * reported as by the push that saved it; a revision that serves calls no longer has them.
   */
  async function isAlready(locked: LockedFlow, mine: Graph): Promise<number> {
    const { sandbox } = locked
    const { latestRevision, activeRevision } = await flows.sandbox(sandbox)
    const isSeen = locked.digest === digest && latestRevision <= locked.revision
    const latest = await flows.revision(sandbox, isSeen ? locked.revision : latestRevision)
    if (!isSeen) {
      if (digestOf(latest.graph) !== digest) throw await conflictOf(locked, latest, mine)
      lock.flows[name] = { sandbox, revision: latestRevision, digest }
      await flows.keepLock()
    }
    io.say(`${file} already matches revision ${latest.number}.`)
    if (activeRevision !== latest.number) reportStored(latest, { isNew: false })
    return latest.number
  }

  /**
   * Reports the problems of a revision, except those of the file, which are reported already. They are stored with the
   * revision: a product that was not assigned then may be assigned now, so it fails only the push that saves.
   */
  function reportStored({ number, problems: stored }: RevisionRecord, { isNew }: { isNew: boolean }): void {
    const more = stored.filter((problem) => isUnassigned(problem) || problems.length === 0)
    formatProblems(
      io,
      file,
      more.map((problem) => ({ ...problem, ...positionOf(problem) })),
    )
    if (stored.length === 0 || draft) return
    const activate = `gateway flows activate ${name}`
    if (!isNew && stored.every(isUnassigned))
      return io.say(`Revision ${number} had these problems when it was saved; ${activate} checks again.`)
    throw new CommandFailure(
      `Revision ${number} of ${name} can't be activated because of its problems.`,
      isNew ? 'Fix them and push again' : `Fix them and push again. If they are solved, activate it: ${activate}`,
    )
  }

  async function conflictOf({ sandbox, revision }: LockedFlow, latest: RevisionRecord, mine: Graph) {
    const base = revision === 0 ? emptyGraph : (await flows.revision(sandbox, revision)).graph
    const parts = differing(base, latest.graph, mine)
    if (parts.length > 0) io.say(`${file}:`)
    formatDifference(io, parts)
    return new CommandFailure(
      `${file} is based on revision ${revision}, and revision ${latest.number} was saved in the meantime. The file was not saved.`,
      `Merge both, then push again: gateway flows pull ${name} --merge`,
    )
  }
}

const isUnassigned = ({ code }: Pick<FlowProblem, 'code'>) => code === 'product_not_assigned'

/**
 * Creates a sandbox product, or returns the one of this name without revisions, such as after an interrupted push.
 * @throws CommandFailure if there is one with revisions, which the lock file should list
 */
async function productFor({ api, tenant, project, lock, list }: Flows, name: string): Promise<{ id: string }> {
  const known = new Set(Object.values(lock.flows).map(({ sandbox }) => sandbox))
  const unknown = (await list()).filter(({ id }) => !known.has(id))
  const same = unknown.find((one) => nameFor(one.name, one.id, new Set()) === name)
  if (same?.latestRevision === 0) return same
  if (same)
    throw new CommandFailure(
      `The project already has a flow called ${same.name} (${same.id}), which is not in gateway.lock.json.`,
      'Move the file away and pull the flow (gateway flows pull), or rename the file',
    )
  return api.ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/sandboxes', {
    params: { tenant, project },
    body: { name },
    idempotencyKey: randomUUID(),
  })
}
