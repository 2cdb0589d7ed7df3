import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { compareThree, merged, type Choice } from '@gateway/flow/compare/merge'
import type { Io } from '../frame/io.ts'
import { CommandFailure } from '../frame/command-failure.ts'
import { checkFlow } from './check-flow.ts'
import { digestOf, fileOf, nameFor } from './flow-folder.ts'
import type { Flows } from './open-flows.ts'
import { differing, emptyGraph, formatDifference } from './format-difference.ts'

export interface PullOptions {
  merge: boolean
  /** Which side wins for a part that both sides changed; null for neither. */
  take: Choice | null
}

/**
 * Pulls these flows. One whose file can't be updated does not stop the others.
 * @throws CommandFailure with the reason of each of these
 */
export async function pullFlows(io: Io, flows: Flows, all: SandboxRecord[], options: PullOptions): Promise<void> {
  const refused: NotPulled[] = []
  for (const one of all)
    await pullFlow(io, flows, one, options).catch((error: unknown) => {
      if (!(error instanceof NotPulled)) throw error
      refused.push(error)
    })
  if (refused.length === 1) throw refused[0]!
  if (refused.length > 1)
    throw new CommandFailure(
      [
        `${refused.length} flows were not pulled:`,
        ...refused.map(({ message, resolution }) => `${message} ${resolution}.`),
      ].join('\n'),
      'Follow the advice for each of them',
    )
}

/** The reason why the file of a flow stays unchanged. */
class NotPulled extends CommandFailure {}

/** Merges the latest revision of a flow into its file; local changes are never lost. @throws NotPulled */
async function pullFlow(io: Io, flows: Flows, sandbox: SandboxRecord, options: PullOptions): Promise<void> {
  const { lock } = flows
  const known = Object.entries(lock.flows).find(([, { sandbox: id }]) => id === sandbox.id)
  const name = known?.[0] ?? nameFor(sandbox.name, sandbox.id, new Set([...flows.names, ...Object.keys(lock.flows)]))
  const file = fileOf(name)
  if (sandbox.latestRevision === 0) return io.say(`${sandbox.name} (${sandbox.id}) has no revision yet.`)
  const { graph: theirs } = await flows.revision(sandbox.id, sandbox.latestRevision)
  const seen = { sandbox: sandbox.id, revision: sandbox.latestRevision, digest: digestOf(theirs) }
  const text = await flows.read(name)
  if (text !== null && known === undefined)
    throw new NotPulled(
      `${file} already exists and does not belong to ${sandbox.id}.`,
      `Move ${file} away and pull again`,
    )
  const { graph: mine, problems } = text === null ? { graph: theirs, problems: [] } : checkFlow(text)
  if (mine === null)
    throw new NotPulled(`${file} is not a flow: ${problems[0]!.message}`, `Fix it (gateway flows push --check ${name})`)

  const before = known?.[1]
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
    if (!options.merge) throw new NotPulled(message, `Merge both: gateway flows pull ${name} --merge`)
    if (conflicts.length > 0 && options.take === null)
      throw new NotPulled(
        `${message} Both changed ${conflicts.join(', ')}.`,
        `Choose a side with --take mine or --take theirs, or edit the file so that both agree`,
      )
    return merged(compareThree(base, theirs, mine!), new Map(conflicts.map((key) => [key, options.take!])))
  }
}
