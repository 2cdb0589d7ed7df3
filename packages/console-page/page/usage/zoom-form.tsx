import { useState, type FormEvent } from 'react'
import type { UsageReport } from '@gateway/api/console/money'
import type { Step } from '../pure/usage-stacks.ts'
import { zoomOf, type Zoom } from '../pure/usage-zoom.ts'

/** Keyboard alternative to dragging over the chart. */
export function ZoomForm({
  steps,
  report: { step, to },
  onZoom,
}: {
  steps: Step[]
  report: UsageReport
  onZoom: (zoom: Zoom) => void
}) {
  const [first, setFirst] = useState(0)
  const [last, setLast] = useState(steps.length - 1)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    onZoom(zoomOf(steps, to, first, last))
  }
  const choice = (label: string, value: number, onChange: (chosen: number) => void) => (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(Number(target.value))}>
      {steps.map(({ at }, n) => (
        <option key={at} value={n}>
          {step === 'hour' ? at.slice(0, 16).replace('T', ' ') : at.slice(0, 10)}
        </option>
      ))}
    </select>
  )
  return (
    <form className="chips" aria-label="Zoom in" onSubmit={onSubmit}>
      <span className="soft small">Drag to zoom, or select from</span>
      {choice(`First ${step}`, first, setFirst)}
      <span className="soft small">to</span>
      {choice(`Last ${step}`, last, setLast)}
      <button type="submit" className="button small">
        Zoom in
      </button>
    </form>
  )
}
