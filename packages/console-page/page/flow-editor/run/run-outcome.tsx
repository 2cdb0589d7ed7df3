import type { ExecutionRecord } from '@gateway/api/execution'
import { Badge, Money } from '../../components/values.tsx'
import { PortValues } from './value-view.tsx'
import { Field } from '../../components/fields.tsx'
import { microOf, several, usd } from '../../components/usd.ts'
import type { SandboxEstimate } from '@gateway/api/estimate'
import { useStore } from 'zustand'
import { useRunStore } from './run-store.ts'
import type { RefusalBody } from '@gateway/api/refusal'

/**
 * Result and charge of an execution, or its error.
 * @param onRaise runs it again with a higher max cost, in micro-USD; null if nothing can run now
 */
export function RunOutcome({
  execution: { status, chargedMicro, output, error, rerunOf },
  onRaise = null,
}: {
  execution: ExecutionRecord
  onRaise?: ((neededMicro: number) => void) | null
}) {
  const neededMicro = error && neededCeiling(error)
  return (
    <section className="stack" aria-label="Result of the execution">
      <p className="chips">
        <Badge tone={status === 'Succeeded' ? 'good' : 'bad'} text={status} />
        <span>
          Charged <Money micro={chargedMicro} />
        </span>
        {rerunOf !== null && (
          <span className="soft">Nodes that did not run again kept their results and cost nothing.</span>
        )}
      </p>
      {error && (
        <div className="refusal">
          <strong>{error.message}</strong>
          <p>{resolutionInForm(error)}</p>
          {neededMicro !== null && onRaise && (
            <div className="buttons">
              <button type="button" className="button small" onClick={() => onRaise(neededMicro)}>
                Set the max cost to {usd(neededMicro)} and run again
              </button>
            </div>
          )}
        </div>
      )}
      {output && <PortValues values={output} />}
    </section>
  )
}

/** Micro-USD that an execution refused for its max cost needs at least; null for other errors. */
export function neededCeiling({ code, details = {} }: RefusalBody): number | null {
  if (code !== 'ceiling_reached') return null
  const sum = ['chargedMicro', 'reservedMicro', 'neededMicro'].reduce((sum, name) => sum + Number(details[name]), 0)
  return Number.isFinite(sum) ? sum : null
}

/** How to fix an error, in the words of the form: its field and dollars, and not the field of the API. */
export function resolutionInForm(error: RefusalBody): string {
  const needed = neededCeiling(error)
  return needed === null ? error.resolution : `Set the max cost to ${usd(needed)} or higher, or leave it empty.`
}

/** Max cost of an execution, as typed. */
export function CeilingField({ typed, onChange }: { typed: string; onChange: (typed: string) => void }) {
  return (
    <Field
      label="Max cost (USD)"
      hint="The execution never costs more. Leave empty for no limit."
      fault={ceilingOf(typed) === undefined ? 'Enter an amount, for example 0.05.' : null}
    >
      {(ids) => (
        <input
          {...ids}
          inputMode="decimal"
          autoComplete="off"
          placeholder="none"
          value={typed}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

/** Parses an amount to micro-USD; null if empty, undefined if invalid. */
export function ceilingOf(typed: string): number | null | undefined {
  return typed.trim() === '' ? null : (microOf(typed) ?? undefined)
}

/** Max cost of an execution, and the charges of earlier ones. */
export function EstimateLabels({ of: { atMostMicro, last } }: { of: SandboxEstimate }) {
  return (
    <p className="small">
      <strong>
        At most <Money micro={atMostMicro} />
      </strong>
      , at current prices.
      {last.medianMicro !== null && last.p90Micro !== null && (
        <span className="soft">
          {' '}
          The last {several(last.executions, 'execution')} were charged <Money micro={last.medianMicro} /> (half of them
          or less), <Money micro={last.p90Micro} /> (nine in ten or less).
        </span>
      )}
    </p>
  )
}

/** State of a node in the shown execution. Renders nothing without an execution. */
export function NodeRunState({ id }: { id: string }) {
  const record = useStore(useRunStore(), ({ nodes }) => nodes.get(id))
  if (!record) return null
  const { status, durationMs, chargedMicro, error, takenOver } = record
  return (
    <p className={`node-run ${status.toLowerCase()}`} title={error?.message}>
      <span>{takenOver ? 'reused' : nodeLabels[status]}</span>
      {durationMs !== null && !takenOver && <span>{durationMs} ms</span>}
      {chargedMicro > 0 && <span>{usd(chargedMicro)}</span>}
    </p>
  )
}

export const nodeLabels = {
  Pending: 'waiting',
  Running: 'running',
  Succeeded: 'done',
  Failed: 'failed',
  Skipped: 'skipped',
} as const
