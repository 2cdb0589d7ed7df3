import { useStore } from 'zustand'
import { Facts, Money } from '../../components/values.tsx'
import { givenTo, edgeValueOf } from './edge-values.ts'
import { nodeLabels, resolutionInForm } from './run-outcome.tsx'
import { PortValues, ValueView } from './value-view.tsx'
import { useRunStore } from './run-store.ts'
import type { GraphEdge } from '@gateway/api/graph'

/** Inputs, outputs, duration and charge of a node in the shown execution. Renders nothing without an execution. */
export function NodeRecordView({ id }: { id: string }) {
  const run = useStore(useRunStore())
  const record = run.nodes.get(id)
  if (!record) return null
  const { status, takenOver, durationMs, chargedMicro, attempts, error, output } = record
  const given = givenTo(id, run)
  return (
    <section className="run-record" aria-label={`Result of ${id}`}>
      <details open>
        <summary>In this execution</summary>
        <div className="stack">
          <Facts
            className="run-facts"
            of={[
              ['State', takenOver ? 'reused' : nodeLabels[status]],
              ['Time', durationMs === null ? null : `${durationMs} ms`],
              ['Charged', <Money key="charged" micro={chargedMicro} />],
              ['Attempts', attempts === undefined ? null : String(attempts)],
            ]}
          />
          {error && (
            <div className="refusal">
              <strong>{error.message}</strong>
              <p>{resolutionInForm(error)}</p>
              <code className="soft small">{error.code}</code>
            </div>
          )}
          <h3>Inputs</h3>
          {given ? <PortValues values={given} /> : <p className="soft small">None</p>}
          <h3>Outputs</h3>
          {output ? <PortValues values={output} /> : <p className="soft small">None</p>}
        </div>
      </details>
    </section>
  )
}

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
