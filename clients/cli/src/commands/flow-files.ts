import { newGraph } from '@gateway/flow/new-graph'
import { CommandFailure, exitCodes } from '../frame/command-failure.ts'
import { command, folderOptions, projectOptions, type Given } from '../frame/command-row.ts'
import { printJson } from '../frame/print.ts'
import type { FlowFolder } from '../flows/flow-folder.ts'
import { checkFlow } from '../flows/check-flow.ts'
import { fileOf, readFlowName } from '../flows/flow-name.ts'
import { flowTypes } from '../flows/flow-types.ts'
import { folderOf, lockedFlow, openFlows, sandboxNamed } from '../flows/open-flows.ts'
import { pullFlow } from '../flows/pull-flow.ts'
import { missingFile, pushFlow, formatProblems } from '../flows/push-flow.ts'
import { differenceText, differing, emptyGraph } from '../flows/format-difference.ts'

const names = {
  name: 'name',
  summary: 'the name of a flow or of its file; by default all of them',
  optional: true,
  several: true,
  offered: 'flows',
} as const
const options = { ...projectOptions, ...folderOptions }

/** Commands for flows as files, to keep in git. */
export const flowFileCommands = [
  command({
    name: 'flows init',
    summary: 'Begin the file of a flow, which answers what it is given',
    operands: [{ name: 'name', summary: 'what it is called: small letters, digits and dashes' }],
    options: folderOptions,
    examples: ['gateway flows init greeting', 'gateway flows init greeting --dir flows'],
    async handle(given) {
      const folder = await folderOf(given)
      const name = readFlowName(given.operands[0]!)
      if (folder.names.includes(name)) throw new CommandFailure(`There is a flow ${name} already.`, 'Take another name')
      await folder.write(name, newGraph)
      given.io.say(`${fileOf(name)} is there. Save it as a sandbox product of the project: gateway flows push ${name}`)
    },
  }),
  command({
    name: 'flows pull',
    summary: 'Bring the newest revisions into the files of this folder',
    description:
      'What was changed in a file is never lost: where the gateway has a newer revision too, --merge takes from each side what only that side changed, by node.',
    operands: [names],
    options: {
      ...options,
      merge: { type: 'boolean', summary: 'Merge what was changed on both sides' },
      take: {
        type: 'string',
        value: 'side',
        summary: 'Whose part is taken where both changed one',
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
      for (const one of sandboxes) await pullFlow(given.io, flows, one, { merge: given.options.merge === true, take })
    },
  }),
  command({
    name: 'flows diff',
    summary: 'Show what differs between files and the newest revisions, part by part',
    description: 'Of each part: what it was when it was last seen, what it is there, and what it is here.',
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
        else given.io.say(`${fileOf(name)} is revision ${latest}.`)
      }
    },
  }),
  command({
    name: 'flows push',
    summary: 'Save files as new revisions of their flows',
    description:
      'A file without a sandbox product gets one. What someone saved since is shown and never saved over. With --check nothing is sent and no one has to be signed in: problems are reported with their line, and it ends with 1 where there are any.',
    operands: [names],
    options: {
      ...options,
      check: { type: 'boolean', summary: 'Only look for problems, without the gateway' },
      draft: { type: 'boolean', summary: 'Save it although it has problems' },
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
          const { problems } = checkFlow(text)
          if (given.options.json === true)
            for (const problem of problems) printJson(given, { file: fileOf(name), ...problem })
          else formatProblems(given.io, fileOf(name), problems)
          count += problems.length
        }
        given.io.say(count === 0 ? 'No problems.' : `${count} problem${count === 1 ? '' : 's'}.`)
        return count === 0 ? exitCodes.done : exitCodes.refused
      }
      const flows = await openFlows(given)
      const draft = given.options.draft === true
      for (const name of chosenIn(flows, wanted, given.io)) {
        const revision = await pushFlow(given.io, flows, name, { draft })
        if (given.options.json === true) printJson(given, { name, sandbox: flows.lock.flows[name]!.sandbox, revision })
      }
      return exitCodes.done
    },
  }),
  command({
    name: 'flows activate',
    summary: 'Let the revision that was pushed answer calls',
    operands: [{ name: 'name', summary: 'the name of the flow', offered: 'flows' }],
    options: { ...options, revision: { type: 'string', value: 'number', summary: 'Another one of its revisions' } },
    examples: ['gateway flows activate summary', 'gateway flows activate summary --revision 1 --json'],
    async handle(given) {
      const flows = await openFlows(given)
      const { sandbox, revision, name } = lockedFlow(flows, given.operands[0]!)
      const number = given.options.revision ?? String(revision)
      const params = { tenant: flows.tenant, sandbox, number }
      const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions/{number}/activate'
      const record = await flows.api.ask('POST', path, { params })
      if (given.options.json === true) printJson(given, record)
      given.io.say(`Revision ${number} of ${name} answers calls to ${sandbox} from now on.`)
    },
  }),
  command({
    name: 'flows types',
    summary: 'Write what a flow takes and answers as types of TypeScript',
    operands: [{ name: 'name', summary: 'the name of a flow here', offered: 'flows' }],
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
        throw new CommandFailure(`${fileOf(name)} has no contract that holds.`, 'Mend it first')
      given.io.write(flowTypes(name, graph))
    },
  }),
]

/**
 * The requested flows, or all. @throws CommandFailure if the folder does not exist: checking nothing must not report
 * success
 */
function chosenIn({ folder, isThere, names, others }: FlowFolder, asked: string[], io: Given['io']): string[] {
  if (asked.length > 0) return asked
  if (!isThere)
    throw new CommandFailure(`There is no folder ${folder}.`, 'Name the folder of the flows: --dir', 'usage')
  for (const file of others) io.say(`${file} is left out: names of flows are small letters, digits and dashes.`)
  return names
}
