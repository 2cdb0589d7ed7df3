import { newGraph } from '@gateway/flow/new-graph'
import { CommandFailure, exitCodes } from '../frame/command-failure.ts'
import { command, folderOptions, projectOptions, type Given } from '../frame/command-row.ts'
import { printJson } from '../frame/print.ts'
import { type FlowFolder, fileOf, type LockedFlow, readFlowName, flowTypes } from '../flows/flow-folder.ts'
import { checkFlow } from '../flows/check-flow.ts'
import { handleEachFlow } from '../flows/each-flow.ts'
import { type Flows, folderOf, lockedFlow, openFlows, pushedRevision, sandboxNamed } from '../flows/open-flows.ts'
import { pullFlows } from '../flows/pull-flow.ts'
import { missingFile, pushFlow, formatProblems } from '../flows/push-flow.ts'
import { differenceText, differing, emptyGraph } from '../flows/format-difference.ts'

const names = {
  name: 'name',
  summary: 'the name of a flow or of its file; by default all',
  optional: true,
  several: true,
  offered: 'flows',
} as const
const options = { ...projectOptions, ...folderOptions }

/** Commands for flows as files, to keep in git. */
export const flowFileCommands = [
  command({
    name: 'flows init',
    summary: 'Create the file of a flow, which returns its input',
    operands: [{ name: 'name', summary: 'name of the flow: lowercase letters, digits and dashes' }],
    options: folderOptions,
    examples: ['gateway flows init greeting', 'gateway flows init greeting --dir flows'],
    async handle(given) {
      const folder = await folderOf(given)
      const name = readFlowName(given.operands[0]!)
      if (folder.names.includes(name))
        throw new CommandFailure(`The flow ${name} already exists.`, 'Choose another name')
      await folder.write(name, newGraph)
      given.io.say(
        `${fileOf(name)} was created. Save it as a sandbox product of the project: gateway flows push ${name}`,
      )
    },
  }),
  command({
    name: 'flows pull',
    summary: 'Update the files in this folder to the latest revisions',
    description:
      'Changes in a file are never lost: if the gateway has a newer revision too, --merge combines both, node by node.',
    operands: [names],
    options: {
      ...options,
      merge: { type: 'boolean', summary: 'Merge the changes of both sides' },
      take: {
        type: 'string',
        value: 'side',
        summary: 'Which side wins where both changed the same part',
        choices: ['mine', 'theirs'],
      },
    },
    examples: [
      'gateway flows pull',
      'gateway flows pull Summary --dir flows',
      'gateway flows pull summary --merge --take mine',
    ],
    async handle(given) {
      const flows = await openFlows(given)
      const take = (given.options.take as 'mine' | 'theirs' | undefined) ?? null
      const ids = await Promise.all(given.operands.map((name) => sandboxNamed(flows, name)))
      const sandboxes = ids.length === 0 ? await flows.list() : await Promise.all(ids.map((id) => flows.sandbox(id)))
      return pullFlows(given.io, flows, sandboxes, { merge: given.options.merge === true, take })
    },
  }),
  command({
    name: 'flows diff',
    summary: 'Show the differences between files and the latest revisions, part by part',
    description: 'For each part: its last common version, the version on the gateway, and the version in the file.',
    operands: [names],
    options,
    examples: ['gateway flows diff', 'gateway flows diff summary --json'],
    async handle(given) {
      const flows = await openFlows(given)
      for (const name of chosenIn(flows, given.operands.map(readFlowName), given.io)) {
        const text = await flows.read(name)
        const { sandbox = null, revision = 0 } = flows.lock.flows[name] ?? {}
        const graphAt = async (number: number) =>
          sandbox === null || number === 0 ? emptyGraph : (await flows.revision(sandbox, number)).graph
        const latest = sandbox === null ? 0 : (await flows.sandbox(sandbox)).latestRevision
        const mine = text === null ? emptyGraph : checkFlow(text).graph
        if (mine === null)
          throw new CommandFailure(`${fileOf(name)} is not a flow.`, `gateway flows push --check ${name}`)
        const parts = differing(await graphAt(revision), await graphAt(latest), mine)
        if (given.options.json === true) printJson(given, { name, sandbox, revision, latestRevision: latest, parts })
        else if (parts.length > 0) given.io.write(`${fileOf(name)}\n${differenceText(parts)}\n`)
        else given.io.say(`${fileOf(name)} matches revision ${latest}.`)
      }
    },
  }),
  command({
    name: 'flows push',
    summary: 'Save files as new revisions of their flows',
    description:
      'A file without a sandbox product gets one. A newer revision that someone else saved is shown and never overwritten. --check sends nothing and needs no sign-in: it reports problems with their line, and exits with 1 if there are any.',
    operands: [names],
    options: {
      ...options,
      check: { type: 'boolean', summary: 'Only check for problems, without the gateway' },
      draft: { type: 'boolean', summary: 'Save despite problems' },
    },
    examples: [
      'gateway flows push',
      'gateway flows push summary',
      'gateway flows push --check',
      'gateway flows push summary --draft',
    ],
    async handle(given) {
      const wanted = given.operands.map(readFlowName)
      const folder = given.options.check ? await folderOf(given) : null
      if (folder) {
        let count = 0
        for (const name of chosenIn(folder, wanted, given.io)) {
          const text = await folder.read(name)
          if (text === null) throw missingFile(folder, name)
          const { problems, warnings } = checkFlow(text)
          if (given.options.json === true)
            for (const problem of problems) printJson(given, { file: fileOf(name), ...problem })
          else formatProblems(given.io, fileOf(name), problems)
          for (const { message, resolution } of warnings)
            given.io.say(`${fileOf(name)}: warning: ${message} ${resolution}`)
          count += problems.length
        }
        given.io.say(count === 0 ? 'No problems.' : `${count} problem${count === 1 ? '' : 's'}.`)
        return count === 0 ? exitCodes.done : exitCodes.refused
      }
      const flows = await openFlows(given)
      const draft = given.options.draft === true
      return handleEachFlow(given.io, chosenIn(flows, wanted, given.io), 'failed', fileOf, async (name) => {
        const revision = await pushFlow(given.io, flows, name, { draft })
        if (given.options.json === true) printJson(given, { name, sandbox: flows.lock.flows[name]!.sandbox, revision })
      })
    },
  }),
  command({
    name: 'flows activate',
    summary: 'Activate the pushed revision, which then serves calls',
    operands: [{ name: 'name', summary: 'the name of the flow', offered: 'flows' }],
    options: { ...options, revision: { type: 'string', value: 'number', summary: 'Another revision of the flow' } },
    examples: ['gateway flows activate summary', 'gateway flows activate summary --revision 1 --json'],
    async handle(given) {
      const flows = await openFlows(given)
      const locked = lockedFlow(flows, given.operands[0]!)
      const { sandbox, name } = locked
      const number = given.options.revision ?? String(await revisionToActivate(flows, locked))
      const params = { tenant: flows.tenant, sandbox, number }
      const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions/{number}/activate'
      const record = await flows.api.ask('POST', path, { params })
      if (given.options.json === true) printJson(given, record)
      given.io.say(`Revision ${number} of ${name} now serves calls to ${sandbox}.`)
    },
  }),
  command({
    name: 'flows types',
    summary: 'Print the input and output of a flow as TypeScript types',
    operands: [{ name: 'name', summary: 'the name of a flow', offered: 'flows' }],
    options: folderOptions,
    examples: ['gateway flows types summary > summary.flow.d.ts'],
    async handle(given) {
      const folder = await folderOf(given)
      const name = readFlowName(given.operands[0]!)
      const text = await folder.read(name)
      if (text === null) throw missingFile(folder, name)
      const { graph, problems } = checkFlow(text)
      formatProblems(given.io, fileOf(name), problems)
      if (graph === null || problems.length > 0)
        throw new CommandFailure(`${fileOf(name)} has no valid contract.`, `Fix it: gateway flows push --check ${name}`)
      given.io.write(flowTypes(name, graph))
    },
  }),
]

/** The revision last seen. @throws CommandFailure if a newer one serves calls, which someone else has activated */
async function revisionToActivate(flows: Flows, locked: LockedFlow & { name: string }): Promise<number> {
  const pushed = pushedRevision(locked)
  const { activeRevision } = await flows.sandbox(locked.sandbox)
  if (activeRevision === null || activeRevision <= pushed) return pushed
  throw new CommandFailure(
    `Revision ${activeRevision} of ${locked.name} serves calls and is newer than revision ${pushed}, the last one seen here.`,
    `Take it over: gateway flows pull ${locked.name}. To go back to the older one: --revision ${pushed}`,
  )
}

/**
 * The requested flows, or all. @throws CommandFailure if the folder does not exist: checking nothing must not report
 * success
 */
function chosenIn({ folder, isThere, names, others }: FlowFolder, asked: string[], io: Given['io']): string[] {
  if (asked.length > 0) return asked
  if (!isThere)
    throw new CommandFailure(`There is no folder ${folder}.`, 'Name the folder of the flows with --dir', 'usage')
  for (const file of others)
    io.say(`${file} is ignored: names of flows consist of lowercase letters, digits and dashes.`)
  return names
}
