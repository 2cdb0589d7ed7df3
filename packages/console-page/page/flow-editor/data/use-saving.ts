import { useLayoutEffect, useRef, useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useStore } from 'zustand'
import { ApiRefusal } from '@gateway/api-client/failures'
import { sameJson } from '@gateway/flow/compare/graph-units'
import type { Graph, GraphProblem } from '@gateway/api/graph'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { ask } from '../../api/ask.ts'
import { useScope } from '../../api/session.ts'
import { announce } from '../../frame/announcer.ts'
import { keepAnswer, newIdempotencyKey } from '../../api/queries.ts'
import { FLOW } from '../create-flow.ts'
import type { Base, Editor } from '../state/open-editor.ts'
import { readingFlow, readingRevision } from './use-opened-flow.ts'

/** Revision that another save stored in the meantime. `by`: user ID; `at`: ISO 8601. */
export type Conflict = Base & { by: string; at: string }

const savePath = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions'

/** Saves and activates revisions. If another user saved first, a save opens the conflict dialog and changes nothing. */
export function useSaving({
  editor,
  sandbox,
  problems,
}: {
  editor: Editor
  sandbox: SandboxRecord
  problems: readonly GraphProblem[]
}) {
  const { tenant } = useScope()
  const client = useQueryClient()
  const params = { tenant, sandbox: sandbox.id }
  const flow = readingFlow(params)
  const base = useStore(useStore(editor.store, ({ base }) => base))
  const latestProblems = useRef(problems)
  useLayoutEffect(() => void (latestProblems.current = problems))
  const lastTurn = useRef(Promise.resolve())
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [doing, setDoing] = useState<'save' | 'activate' | null>(null)

  function keepFlow(part: Partial<SandboxRecord>): Promise<void> {
    return keepAnswer(client, flow, { ...(client.getQueryData(flow.queryKey) ?? sandbox), ...part })
  }

  /** @param onto number of the base revision */
  async function post(graph: Graph, onto: number): Promise<Base> {
    const saved = await ask('POST', savePath, {
      params,
      body: { graph, draft: latestProblems.current.length > 0, baseRevision: onto },
      idempotencyKey: keyOf(graph, onto),
    })
    client.setQueryData(readingRevision(params, saved.number).queryKey, saved)
    void client.invalidateQueries({ queryKey: [savePath] })
    await keepFlow({ latestRevision: saved.number })
    announce(`Revision ${saved.number} saved${saved.problems.length > 0 ? ' with problems' : ''}.`)
    return { number: saved.number, graph }
  }
  async function compare(): Promise<void> {
    const now = await ask('GET', FLOW, { params })
    const latest = await client.fetchQuery(readingRevision(params, now.latestRevision))
    const { number, graph, createdBy: by, createdAt: at } = latest
    setConflict({ number, graph, by, at })
  }
  async function save(): Promise<Base | null> {
    const { graph, base: of } = editor.store.getState()
    const base = of.getState()
    const onto = base.number
    if (onto > 0 && sameJson(graph, base.graph)) return base
    try {
      const saved = await post(graph, onto)
      of.setState(saved)
      setConflict(null)
      return saved
    } catch (error) {
      if (!(error instanceof ApiRefusal && error.code === 'revision_conflict')) throw error
      await compare()
      return null
    }
  }
  async function activate(): Promise<void> {
    const saved = await save()
    if (!saved) return
    const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions/{number}/activate'
    await keepFlow(await ask('POST', path, { params: { ...params, number: String(saved.number) } }))
    announce(`Revision ${saved.number} activated.`)
  }
  /** One after another: a save during a save would take its own predecessor for a conflict. */
  function guarded(what: 'save' | 'activate', work: () => Promise<unknown>): Promise<void> {
    return (lastTurn.current = lastTurn.current.then(() => attempt(what, work)))
  }
  async function attempt(what: 'save' | 'activate', work: () => Promise<unknown>): Promise<void> {
    setDoing(what)
    setError(null)
    try {
      await work()
    } catch (error) {
      setError(error)
    } finally {
      setDoing(null)
    }
  }
  return {
    sandbox,
    base,
    conflict,
    error,
    doing,
    save: () => guarded('save', () => save()),
    /** Saves if needed and returns the revision on the canvas, or null if saving failed. */
    saved: async () => {
      let saved: Base | null = null
      await guarded('save', async () => {
        saved = await save()
      })
      return saved as Base | null
    },
    /** @throws ApiRefusal, Unreachable */
    rename: async (name: string) => {
      const { name: renamed } = await ask('PATCH', FLOW, { params, body: { name } })
      await keepFlow({ name: renamed })
    },
    activate: () => guarded('activate', activate),
    /** Applies the merged graph and saves it on top of the conflicting revision. @param renamed from `withOwnIds` */
    resolve: (graph: Graph, renamed?: ReadonlyMap<string, string>) =>
      guarded('save', async () => {
        const { number, graph: theirs } = conflict!
        editor.rebase(graph, { number, graph: theirs }, renamed)
        setConflict(null)
        await save()
      }),
    closeConflict: () => setConflict(null),
  }
}

const keys = new WeakMap<Graph, Map<number, string>>()

/** Idempotency key of a graph and base revision. A retry after a lost response does not save twice. */
function keyOf(graph: Graph, onto: number): string {
  const known = keys.get(graph) ?? new Map<number, string>()
  keys.set(graph, known)
  if (!known.has(onto)) known.set(onto, newIdempotencyKey())
  return known.get(onto)!
}
