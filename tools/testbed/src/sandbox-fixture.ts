import type { Graph } from '@gateway/api/graph'
import { chatFieldsOf } from '@gateway/flow/contract'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import type { QueryResult } from 'pg'

// Sandbox products of a fixture and their revisions, inserted directly into the tables.

export interface SandboxOptions {
  name?: string
  description?: string
  /** Whether revision 1 is the active one. Default true. */
  activate?: boolean
  mcpEnabled?: boolean
  suspended?: boolean
  /** Its author; by default any user with a grant on the project. */
  by?: string
}

export interface RevisionFixture {
  number: number
  /** Digest of its package, hex. */
  digest: string
}

export interface SandboxFixture {
  id: string
  project: string
  /** The number of its first revision. */
  revision: number
  digest: string
}

interface SandboxFixtureDeps {
  id: (prefix: 'sbx') => string
  run: (sql: string, values?: unknown[]) => Promise<QueryResult>
}

export function sandboxFixtures({ id, run }: SandboxFixtureDeps) {
  /** Creates a sandbox product with one revision of a valid graph. */
  async function sandbox(
    { id: project }: { id: string },
    graph: Graph,
    options: SandboxOptions = {},
  ): Promise<SandboxFixture> {
    const sandbox = id('sbx').replace('_', '-')
    const grants = await run('SELECT user_id FROM control.project_grants WHERE project = $1 ORDER BY 1', [project])
    const by = options.by ?? (grants.rows as { user_id: string }[])[0]?.user_id
    await run(
      `INSERT INTO control.sandboxes (id, project, name, description, mcp_enabled, suspended, created_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [
        sandbox,
        project,
        options.name ?? 'A flow',
        options.description ?? 'A flow of a test',
        options.mcpEnabled ?? false,
        options.suspended ?? false,
        by,
      ],
    )
    const { number, digest } = await revision(sandbox, graph, { activate: options.activate ?? true })
    return { id: sandbox, project, revision: number, digest }
  }

  /** Adds a revision to a sandbox product, with its package. */
  async function revision(sandbox: string, graph: Graph, { activate = true } = {}): Promise<RevisionFixture> {
    const { package: flow, digest, text } = buildPackage(graph)
    const chat = chatFieldsOf(flow.input, flow.output)
    const next = await run(
      'UPDATE control.sandboxes SET latest_revision = latest_revision + 1 WHERE id = $1 RETURNING latest_revision AS number',
      [sandbox],
    )
    const [{ number }] = next.rows as [{ number: number }]
    await run(
      `INSERT INTO control.revisions (sandbox, number, draft, graph, problems, digest, package, manifest, paid_nodes, chat_input,
         chat_output, created_by)
       SELECT id, $2, false, $3, '[]', $4, $5, $6, $7, $8, $9, created_by FROM control.sandboxes WHERE id = $1`,
      [
        sandbox,
        number,
        Buffer.from(JSON.stringify(graph)),
        digest,
        Buffer.from(text),
        flow.manifest,
        planOf(flow).paidNodes,
        chat?.input ?? null,
        chat?.output ?? null,
      ],
    )
    if (activate)
      await run('UPDATE control.sandboxes SET active_revision = $2, activated_at = now() WHERE id = $1', [
        sandbox,
        number,
      ])
    return { number, digest }
  }

  return { sandbox, revision }
}
