import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { compareThree, merged, type Choice } from '@gateway/flow/compare/merge'
import type { Io } from '../frame/io.ts'
import { CommandFailure } from '../frame/command-failure.ts'
import { checkFlow } from './check-flow.ts'
import { handleEachFlow } from './each-flow.ts'
import { digestOf, fileOf, type LockedFlow, nameFor } from './flow-folder.ts'
import type { Flows } from './open-flows.ts'
import { differing, emptyGraph, formatDifference } from './format-difference.ts'

export interface PullOptions {
  merge: boolean
  /** Which side wins for a part that both sides changed; null for neither. */
  take: Choice | null
}

/** Pulls these flows. One that can't be pulled does not stop the others. @returns the exit code */
export function pullFlows(io: Io, flows: Flows, all: SandboxRecord[], options: PullOptions): Promise<number> {
  const fileFor = (sandbox: SandboxRecord) => fileOf(placeOf(flows, sandbox).name)
  return handleEachFlow(io, all, 'were not pulled', fileFor, (sandbox) => pullFlow(io, flows, sandbox, options))
}

/** Name of a flow in this folder, and its entry in the lock file if there is one. */
function placeOf({ lock, names }: Flows, { id, name }: SandboxRecord): { name: string; before?: LockedFlow } {
  const known = Object.entries(lock.flows).find(([, { sandbox }]) => sandbox === id)
  if (known) return { name: known[0], before: known[1] }
  return { name: nameFor(name, id, new Set([...names, ...Object.keys(lock.flows)])) }
}

/** Merges the latest revision of a flow into its file; local changes are never lost. @throws CommandFailure */
async function pullFlow(io: Io, flows: Flows, sandbox: SandboxRecord, options: PullOptions): Promise<void> {
  const { lock } = flows
  const { name, before } = placeOf(flows, sandbox)
  const file = fileOf(name)
  if (sandbox.latestRevision === 0) return io.say(`${sandbox.name} (${sandbox.id}) has no revision yet.`)
  const { graph: theirs } = await flows.revision(sandbox.id, sandbox.latestRevision)
  const seen = { sandbox: sandbox.id, revision: sandbox.latestRevision, digest: digestOf(theirs) }
  const text = await flows.read(name)
  if (text !== null && before === undefined)
    throw new CommandFailure(
      `${file} already exists and does not belong to ${sandbox.id}.`,
      `Move ${file} away and pull again`,
    )
  const { graph: mine, problems } = text === null ? { graph: theirs, problems: [] } : checkFlow(text)
  if (mine === null)
    throw new CommandFailure(
      `${file} is not a flow: ${problems[0]!.message}`,
      `Fix it (gateway flows push --check ${name})`,
    )

  const isChanged = digestOf(mine) !== (before?.digest ?? digestOf(theirs)) && digestOf(mine) !== seen.digest
  if (!isChanged) await flows.write(name, theirs)
  else if (before!.revision === seen.revision)
    return io.say(`${file} has changes since revision ${seen.revision}, the latest.`)
  else await flows.write(name, await mergedWith(before!.revision))
  lock.flows[name] = seen
  await flows.keepLock()
  io.say(`${file} ${isChanged ? 'is merged with' : 'matches'} revision ${seen.revision} of ${sandbox.id}.`)

  async function mergedWith(revision: number) {
    const base = revision === 0 ? emptyGraph : (await flows.revision(sandbox.id, revision)).graph
    const parts = differing(base, theirs, mine!)
    if (parts.length > 0) io.say(`${file}:`)
    formatDifference(io, parts)
    const conflicts = parts.filter(({ outcome }) => outcome === 'conflict').map(({ key }) => key)
    const message = `${file} has changes since revision ${revision}, and revision ${seen.revision} was saved in the meantime.`
    if (!options.merge) throw new CommandFailure(message, `Merge both: gateway flows pull ${name} --merge`)
    if (conflicts.length > 0 && options.take === null)
      throw new CommandFailure(
        `${message} Both changed ${conflicts.join(', ')}.`,
        `Choose a side with --take mine or --take theirs, or edit the file so that both agree`,
      )
    return merged(compareThree(base, theirs, mine!), new Map(conflicts.map((key) => [key, options.take!])))
  }
}
