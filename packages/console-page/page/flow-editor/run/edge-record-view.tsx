import { useStore } from 'zustand'
import type { GraphEdge } from '@gateway/api/graph'
import { edgeValueOf } from './edge-values.ts'
import { useRunStore } from './run-store.ts'
import { ValueView } from './value-view.tsx'

/** Value of an edge in the shown execution. Renders nothing without an execution. */
export function EdgeRecordView({ edge, isGlance = false }: { edge: GraphEdge; isGlance?: boolean }) {
  const run = useStore(useRunStore())
  if (run.graph === null) return null
  const value = edgeValueOf(edge, run)
  return (
    <section className="run-record stack" aria-label={`Value from ${edge.from} to ${edge.to}`}>
      <h3>
        {edge.from} → {edge.to}
      </h3>
      {value === null ? (
        <p className="soft small">No value in this execution.</p>
      ) : (
        <ValueView value={value} isGlance={isGlance} />
      )}
    </section>
  )
}
