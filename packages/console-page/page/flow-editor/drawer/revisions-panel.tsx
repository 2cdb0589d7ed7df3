import { useState, useMemo } from 'react'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { RevisionRecord } from '@gateway/api/console/sandboxes'
import { ask } from '../../api/ask.ts'
import { useMemberNames, useScope } from '../../api/session.ts'
import { Badge, Moment } from '../../components/values.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { ShowMore, Waiting } from '../../components/list-states.tsx'
import { differenceOf, type Difference } from '@gateway/flow/compare/difference'
import type { useSaving } from '../data/use-saving.ts'
import { useSession } from '../state/open-editor.ts'
import type { Graph, GraphNode } from '@gateway/api/graph'
import { Dialog } from '../../components/dialog.tsx'
import { SelectField } from '../../components/select.tsx'
import { overlayOf, type Overlay, type Change } from '../core/overlay.ts'
import {
  Background,
  Controls,
  ReactFlow,
  ReactFlowProvider,
  Handle,
  Position,
  type Node,
  type NodeProps,
} from '@xyflow/react'
import { endOf } from '@gateway/flow/layout'
import { canvasLabels, KindIcon } from '../canvas/kind-icon.tsx'
import { canvasModel } from '../core/canvas-model.ts'
import { edgeKey } from '../core/edges.ts'
import { placed } from '../core/placement.ts'
import { positionOf } from '../core/position.ts'
import { kindTitle, nodeSummary } from '../core/kind-labels.ts'

/** Revisions, newest first, with their difference from the canvas. Restoring one is a history step. */
export function RevisionsPanel({ saving: { sandbox } }: { saving: ReturnType<typeof useSaving> }) {
  const { tenant } = useScope()
  const nameOf = useMemberNames()
  const { editor, model, products } = useSession()
  const list = useRevisions({ tenant, sandbox: sandbox.id })
  const [compared, setCompared] = useState<number | null>(null)
  if (!list.data) return list.error ? <RefusalBox error={list.error} /> : <Waiting what="revisions" />
  const revisions = list.data.pages.flatMap(({ data }) => data)
  const take = ({ graph }: RevisionRecord) => editor.change(() => placed(canvasModel(graph, products)))
  return (
    <>
      <RefusalBox error={list.error} />
      <ul className="flow-revisions">
        {revisions.map((revision) => (
          <li key={revision.number}>
            <strong>Revision {revision.number}</strong>
            <span className="chips">
              {sandbox.activeRevision === revision.number && <Badge tone="good" text="Active" />}
              {revision.problems.length > 0 && <Badge tone="warn" text="Draft" />}
            </span>
            <span className="soft">
              {nameOf(revision.createdBy)}, <Moment iso={revision.createdAt} />
            </span>
            <span className="soft">{differenceLabels(differenceOf(revision.graph, model.graph))}</span>
            <span className="buttons">
              <button type="button" className="button small quiet" onClick={() => setCompared(revision.number)}>
                Compare
              </button>
              <button type="button" className="button small quiet" onClick={() => take(revision)}>
                Restore
              </button>
            </span>
          </li>
        ))}
        {revisions.length === 0 && <li className="soft">No revisions yet.</li>}
      </ul>
      <ShowMore list={list} text="Show older" />
      {compared !== null && <CompareDialog revisions={revisions} from={compared} onClose={() => setCompared(null)} />}
    </>
  )
}

const REVISIONS = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions'

/** Revisions of a flow, newest first, page by page. */
function useRevisions(params: Record<'tenant' | 'sandbox', string>) {
  return useInfiniteQuery({
    queryKey: [REVISIONS, params],
    queryFn: ({ pageParam: cursor, signal }) =>
      ask('GET', REVISIONS, { params, query: { ...(cursor !== '' && { cursor }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

const SHOWN = 3

/** One-line summary of how the canvas differs from a saved revision. */
function differenceLabels({ parts, moved, runsTheSame }: Difference): string {
  if (parts.length === 0 && moved.length === 0) return 'Same as the canvas'
  if (parts.length === 0) return 'Only positions differ'
  const named = parts.slice(0, SHOWN).map(({ key, change, fields }) => {
    const what = change === 'changed' ? `${fields.join(' and ')} changed` : change
    return `${key.replace(/^node /, '')}: ${what}`
  })
  const more = parts.length > SHOWN ? ` and ${parts.length - SHOWN} more` : ''
  return `On the canvas ${named.join(', ')}${more}${runsTheSame ? ' (runs the same)' : ''}`
}

const ON_CANVAS = 'canvas'

/** Overlays two revisions, or a revision and the current graph, on one canvas and lists every difference. */
function CompareDialog({
  revisions,
  from: first,
  onClose,
}: {
  revisions: readonly RevisionRecord[]
  from: number
  onClose: () => void
}) {
  const { graph: mine } = useSession().model
  const [from, setFrom] = useState(String(first))
  const [to, setTo] = useState(ON_CANVAS)
  const { difference, overlay } = useMemo(() => {
    const graphOf = (name: string): Graph => revisions.find(({ number }) => String(number) === name)?.graph ?? mine
    const [before, after] = [graphOf(from), graphOf(to)]
    const difference = differenceOf(before, after)
    return { difference, overlay: overlayOf(before, after, difference) }
  }, [revisions, mine, from, to])
  const choice = (label: string, value: string, set: (value: string) => void) => (
    <SelectField
      label={label}
      value={value}
      options={[
        [ON_CANVAS, 'Current canvas'],
        ...revisions.map(({ number }) => [String(number), `Revision ${number}`] as const),
      ]}
      onChange={set}
    />
  )
  return (
    <Dialog title="Differences" onClose={onClose}>
      <div className="compare">
        <div className="pair">
          {choice('From', from, setFrom)}
          {choice('To', to, setTo)}
        </div>
        <ChangeList difference={difference} overlay={overlay} />
        <OverlayCanvas key={`${from} ${to}`} overlay={overlay} />
      </div>
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** Every difference: parts with their changed fields, edges, and nodes that only moved. */
function ChangeList({
  difference: { parts, moved, runsTheSame },
  overlay,
}: {
  difference: Difference
  overlay: Overlay
}) {
  const edges = [...overlay.edges].filter(([, change]) => change !== 'same')
  const onlyMoved = moved.filter((id) => overlay.nodes.get(id) === 'moved')
  if (parts.length === 0 && edges.length === 0 && onlyMoved.length === 0) return <p>No differences.</p>
  return (
    <>
      {runsTheSame && <p>Only positions or notes changed. The flow runs the same.</p>}
      <ul className="change-list" aria-label="All differences">
        {parts.map(({ key, change, fields }) => (
          <li key={key} data-change={change}>
            <strong>{key}</strong> {changeLabels[change]}
            {change === 'changed' && <span className="soft">: {fields.join(', ')}</span>}
          </li>
        ))}
        {edges.map(([key, change]) => (
          <li key={key} data-change={change}>
            <strong>edge {(JSON.parse(key) as string[]).join(' to ')}</strong> {changeLabels[change]}
          </li>
        ))}
        {onlyMoved.map((id) => (
          <li key={id} data-change="moved">
            <strong>node {id}</strong> {changeLabels.moved}
          </li>
        ))}
      </ul>
    </>
  )
}

const nodeTypes = { compared: ComparedCard }

/** Read-only canvas with both graphs overlaid. */
function OverlayCanvas({ overlay }: { overlay: Overlay }) {
  const { products } = useSession()
  const { nodes, edges } = useMemo(() => {
    const graph = placed(canvasModel(overlay.graph, products))
    const nodes = graph.nodes.map((node): ComparedNode => {
      const change = overlay.nodes.get(node.id) ?? 'same'
      return {
        id: node.id,
        type: 'compared',
        position: positionOf(node) ?? { x: 0, y: 0 },
        data: { node, change },
        ariaLabel: `${node.id} ${changeLabels[change]}`,
      }
    })
    const edges = graph.edges.map((edge) => {
      const change = overlay.edges.get(edgeKey(edge)) ?? 'same'
      return {
        id: edgeKey(edge),
        source: endOf(edge.from).node,
        target: endOf(edge.to).node,
        className: `change-${change}`,
        label: changeLabels[change],
        ariaLabel: `From ${edge.from} to ${edge.to} ${changeLabels[change]}`,
      }
    })
    return { nodes, edges }
  }, [overlay, products])
  return (
    <div className="compare-canvas">
      <ReactFlowProvider>
        <ReactFlow
          defaultNodes={nodes}
          defaultEdges={edges}
          nodeTypes={nodeTypes}
          nodesDraggable={false}
          nodesConnectable={false}
          deleteKeyCode={null}
          ariaLabelConfig={canvasLabels}
          minZoom={0.15}
          fitView
          fitViewOptions={{ padding: 0.2, maxZoom: 1 }}
        >
          <Background gap={20} size={1.5} />
          <Controls showInteractive={false} />
        </ReactFlow>
      </ReactFlowProvider>
    </div>
  )
}

type ComparedNode = Node<{ node: GraphNode; change: Change }, 'compared'>

/** Node from the later graph, or from the earlier one if it was removed, with its change. */
function ComparedCard({ data: { node, change } }: NodeProps<ComparedNode>) {
  const summary = nodeSummary(node)
  return (
    <div className={`node change-${change}`} data-kind={node.kind}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className="node-head">
        <KindIcon kind={node.kind} />
        <span className="node-title">
          <strong>{node.id}</strong>
          <small>{kindTitle(node.kind).title}</small>
        </span>
        {change !== 'same' && <span className="change-mark">{changeLabels[change]}</span>}
      </div>
      {summary !== '' && <p className="node-summary">{summary}</p>}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}

/** Labels of changes. Each has a sign, so that color is not the only cue. */
const changeLabels: Readonly<Record<Change, string>> = {
  added: '+ added',
  removed: '− removed',
  changed: '≠ changed',
  moved: '↔ moved',
  same: '',
}
