import type { Fixture, ProjectFixture } from '@gateway/testbed/fixture'
import {
  failExecution,
  insertNodes,
  insertExecution,
  reclaimNodes,
  type HeldNode,
  type Runner,
} from '../src/fixtures/execution-rows.ts'
import type { KeyFacts, NodeFacts, ExecutionFacts } from './book.ts'

// Executions for random histories, both in the tables and as facts: of each key, of users in the console, and one that
// fails. Every third has a ceiling.

export interface SetupExecutions {
  facts: Map<string, ExecutionFacts>
  /** `execution node` → the facts of the node. */
  nodes: Map<string, NodeFacts>
  /** Claimed nodes. Most node admissions name one of them. */
  held: HeldNode[]
  /** Nodes that were claimed earlier under a lease they have lost. */
  lost: HeldNode[]
  /** Makes one of the executions start to fail. */
  fail(which: number): Promise<void>
  /** Removes the role of the console's user. */
  withdrawUser(): Promise<void>
  /** Takes some nodes back and claims them again. */
  reclaim(nodes: HeldNode[]): Promise<void>
  /**
   * Adds a fresh node of the same execution for each charged node. The charged node ends, or keeps its lease although
   * it should not.
   */
  replace(nodes: { node: HeldNode; ends: boolean }[]): Promise<void>
}

interface Deps {
  owners: { owner: string }
  rich: ProjectFixture
  poor: ProjectFixture
  keys: Map<string, KeyFacts>
}

const NODES = 4
/** Micro-USD; enough for a few calls. */
const CEILING = 6_000n

export async function buildExecutions(fixture: Fixture, { owners, rich, poor, keys }: Deps): Promise<SetupExecutions> {
  const facts = new Map<string, ExecutionFacts>()
  const nodes = new Map<string, NodeFacts>()
  const held: HeldNode[] = []
  const lost: HeldNode[] = []
  let fresh = 0

  async function run(project: string, by: Runner, more: Partial<ExecutionFacts>): Promise<string> {
    const maxMicro = facts.size % 3 === 1 ? CEILING : null
    const execution = await insertExecution(fixture, project, by, maxMicro)
    const user = 'user' in by ? by.user : null
    facts.set(execution, { project, keyHash: null, user, userAuthorized: true, goesOn: true, maxMicro, ...more })
    await addNodes(execution, NODES)
    return execution
  }

  async function addNodes(execution: string, count: number): Promise<void> {
    const { project } = facts.get(execution)!
    const unbound = fresh % 2 === 0
    const some = await insertNodes(fixture, { execution, project, count, prefix: `n${fresh++}-`, unbound })
    for (const node of some) enter(node, unbound)
    held.push(...some)
  }

  function enter(node: HeldNode, unbound: boolean): void {
    const { lease, attempt, call, reservation } = node
    nodes.set(`${node.execution} ${node.node}`, { lease, attempt, call, reservation: unbound ? null : reservation })
  }

  const factsOf = (node: HeldNode) => nodes.get(`${node.execution} ${node.node}`)!
  const forget = (some: HeldNode[]) => {
    for (const node of some) held.splice(held.indexOf(node), 1)
    lost.push(...some)
  }

  for (const [keyHash, { id, project }] of keys) if (project !== null) await run(project, { key: id }, { keyHash })
  const consumer = await fixture.issuer(rich)
  const inConsole = await run(rich.id, { user: consumer }, {})
  await run(poor.id, { user: owners.owner }, {})
  await run(rich.id, { user: await fixture.issuer(poor) }, { userAuthorized: false })
  const executions = [...facts.keys()]

  return {
    facts,
    nodes,
    held,
    lost,
    async fail(which) {
      const execution = executions[which % executions.length]!
      await failExecution(fixture, execution)
      facts.set(execution, { ...facts.get(execution)!, goesOn: false })
    },
    async withdrawUser() {
      await fixture.run('DELETE FROM control.project_grants WHERE user_id = $1', [consumer])
      facts.set(inConsole, { ...facts.get(inConsole)!, userAuthorized: false })
    },
    async reclaim(some) {
      const again = await reclaimNodes(fixture, some)
      for (const node of again) enter(node, factsOf(node).reservation === null)
      forget(some)
      held.push(...again)
    },
    async replace(some) {
      const ended = some.filter(({ ends }) => ends).map(({ node }) => node)
      await fixture.run(
        `UPDATE money.execution_nodes n SET state = 'Succeeded', seq = 1, ports = '[]', output = '{}'
           FROM unnest($1::text[], $2::text[]) AS u (execution, node) WHERE n.execution = u.execution AND n.node = u.node`,
        [ended.map((node) => node.execution), ended.map((node) => node.node)],
      )
      for (const node of ended) nodes.set(`${node.execution} ${node.node}`, { ...factsOf(node), lease: null })
      forget(some.map(({ node }) => node))
      const wanted = new Map<string, number>()
      for (const { node } of some) wanted.set(node.execution, (wanted.get(node.execution) ?? 0) + 1)
      for (const [execution, count] of wanted) await addNodes(execution, count)
    },
  }
}
