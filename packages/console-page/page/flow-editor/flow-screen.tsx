import { useParams } from '@tanstack/react-router'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/list-states.tsx'
import { useOpenedFlow, type OpenedFlow } from './data/use-opened-flow.ts'
// The library's styles come first, for ours to override.
import '@xyflow/react/dist/base.css'
import './style/layout.css'
import './style/canvas.css'
import './style/forms.css'
import { useMemo, useState } from 'react'
import { ReactFlowProvider } from '@xyflow/react'
import { useStore } from 'zustand'
import { useMe } from '../api/session.ts'
import { canvasModel, type Products } from './core/canvas-model.ts'
import { placed } from './core/placement.ts'
import { sameJson } from '@gateway/flow/compare/graph-units'
import { localDrafts, windowName } from './data/local-draft.ts'
import { EditorFrame } from './editor-frame.tsx'
import { RunProvider, openRun } from './run/run-store.ts'
import { SessionProvider, openEditor, type Base } from './state/open-editor.ts'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import type { ProductRecord } from '@gateway/api/console/products'
import type { Graph } from '@gateway/api/graph'
import { edgeKey } from './core/edges.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { addNode, connect, disconnect } from './core/node-commands.ts'

/** Opens a flow in its editor. Later refetches do not replace the opened flow. */
export function FlowScreen() {
  const { sandbox = '' } = useParams({ strict: false })
  const { flow, sandbox: read, error } = useOpenedFlow(sandbox)
  // A refetch that finds a newer revision has no flow until that one is read.
  const [opened, setOpened] = useState(flow)
  if (flow && opened?.sandbox.id !== sandbox) setOpened(flow)
  if (opened && opened.sandbox.id === sandbox)
    return <FlowEditor key={sandbox} opened={opened} sandbox={read ?? opened.sandbox} />
  return error ? <RefusalBox error={error} /> : <Waiting what="the flow" />
}

/** Editor of a flow. Restores unsaved changes from this browser. @param sandbox as it was read last */
function FlowEditor({ opened, sandbox }: { opened: OpenedFlow; sandbox: SandboxRecord }) {
  const { id: user } = useMe()
  const [{ revision, catalogue }] = useState(opened)
  const products = useMemo(() => productFacts(catalogue), [catalogue])
  const [begun] = useState(() => {
    const drafts = localDrafts(localStorage, { user, sandbox: sandbox.id, window: windowName() })
    const saved: Base = revision
      ? { number: revision.number, graph: revision.graph }
      : { number: 0, graph: startingGraph(catalogue) }
    // Initial positions of nodes without one do not count as unsaved changes.
    const latest = { ...saved, graph: placed(canvasModel(saved.graph, products)) }
    const found = drafts.read()
    const draft = found && !sameJson(found.graph, latest.graph) ? found : null
    const base = draft ? { number: draft.baseRevision, graph: draft.base } : latest
    const editor = openEditor(draft?.graph ?? latest.graph, () => performance.now(), base)
    return { drafts, draft, base, latest, editor, run: openRun() }
  })
  const graph = useStore(begun.editor.store, (state) => state.graph)
  const model = useMemo(() => canvasModel(graph, products), [graph, products])
  const session = useMemo(
    () => ({ editor: begun.editor, model, products, catalogue }),
    [begun, model, products, catalogue],
  )
  return (
    <SessionProvider value={session}>
      <RunProvider value={begun.run}>
        <ReactFlowProvider>
          <EditorFrame sandbox={sandbox} first={begun} />
        </ReactFlowProvider>
      </RunProvider>
    </SessionProvider>
  )
}

/** Graph of a new flow: its input goes to a chat product of the project, and the response is its output. */
export function startingGraph(products: readonly ProductRecord[]): Graph {
  const chat = products.find(({ kind }) => kind === 'chat')
  if (!chat) return newGraph
  const { graph, id } = addNode(disconnect(newGraph, new Set(newGraph.edges.map(edgeKey))), {
    kind: 'product.chat',
    position: { x: 320, y: 0 },
    fields: { product: chat.id },
  })
  return connect(connect(graph, { from: 'in.text', to: `${id}.prompt` }), { from: `${id}.text`, to: 'out.text' })
}

/**
 * Product facts for the validator. Facts that only operators can see are missing, so they are not checked here; the
 * server checks them when a revision is saved.
 */
function productFacts(products: readonly ProductRecord[]): Products {
  return new Map(
    products.map((product) => {
      const { id, kind, supportedParameters, maxOutputTokens, contextLength, maxOutputBytes, parameterValues } = product
      const perImage = product.overheads?.maxTokensPerImage
      const facts = {
        kind,
        assigned: true,
        supportedParameters,
        maxOutputTokens,
        contextLength,
        maxOutputBytes,
        parameterValues,
        ...(perImage !== undefined && { takesImages: perImage !== null }),
        ...(typeof perImage === 'number' && { imageInput: { ...product.imageInput, maxTokens: perImage } }),
      }
      return [id, facts]
    }),
  )
}
