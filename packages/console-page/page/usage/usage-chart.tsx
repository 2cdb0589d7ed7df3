import type { UsageReport } from '@gateway/api/console/money'
import { Money } from '../components/values.tsx'
import { usageSteps, type GroupSum, type Step, zoomOf, type Zoom, stepAt } from './usage-stacks.ts'
import { usd } from '../components/usd.ts'
import { useState, type FormEvent, type PointerEvent } from 'react'

const [WIDTH, HEIGHT, TOP] = [900, 220, 8]

/**
 * Stacked bar chart with a column for each step; the table below has the same data. Dragging over the chart, or
 * selecting a range below it, zooms in.
 */
export function UsageChart({
  report,
  groups,
  onZoom,
}: {
  report: UsageReport
  groups: GroupSum[]
  onZoom: (zoom: Zoom) => void
}) {
  const steps = usageSteps(report, groups)
  const most = Math.max(1, ...steps.map(({ totalMicro }) => totalMicro))
  const width = WIDTH / steps.length
  const { drawn, handlers } = useDrawnZoom(steps, report.to, onZoom)
  const called = steps.filter(({ totalMicro }) => totalMicro > 0)
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        {...handlers}
        aria-label={`Charges in ${called.length} of ${steps.length} ${report.step}s, peak ${usd(most)} per ${report.step}`}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {called.map((step) => (
          <g key={step.at}>
            <title>{`${step.at}: ${usd(step.totalMicro)}`}</title>
            {boxesOf(step, (HEIGHT - TOP) / most).map(({ part, y, height }) => (
              <rect
                key={part}
                className={`series-${part}`}
                x={steps.indexOf(step) * width}
                width={width * 0.85}
                y={y}
                height={height}
              />
            ))}
          </g>
        ))}
        {drawn && (
          <rect
            className="drawn"
            x={drawn.first * width}
            width={(drawn.last - drawn.first + 1) * width}
            y="0"
            height={HEIGHT}
          />
        )}
      </svg>
      <figcaption className="days-ends soft small">
        <span>{steps[0]?.at.slice(0, 10)}</span>
        <span>
          peak <Money micro={most} /> per {report.step}
        </span>
        <span>{steps.at(-1)?.at.slice(0, 10)}</span>
      </figcaption>
      <ZoomForm steps={steps} report={report} onZoom={onZoom} />
    </figure>
  )
}

function boxesOf({ parts }: Step, perMicro: number): { part: number; y: number; height: number }[] {
  let y = HEIGHT
  return parts.flatMap((micro, part) => {
    const height = micro * perMicro
    y -= height
    return micro > 0 ? [{ part, y, height }] : []
  })
}

/** Keyboard alternative to dragging over the chart. */
function ZoomForm({
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

/** Pointer travel that starts a drag, in pixels, so that a click doesn't zoom. */
const LEAST_PX = 5

interface Drawing {
  startX: number
  one: number
  other: number
  isDrawn: boolean
}

/** Drag selection of steps; releasing the pointer zooms in. */
function useDrawnZoom(steps: Step[], end: string, onZoom: (zoom: Zoom) => void) {
  const [drawing, setDrawing] = useState<Drawing | null>(null)
  const handlers = {
    onPointerDown(event: PointerEvent<SVGSVGElement>) {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      const at = placeOf(event, steps.length)
      setDrawing({ startX: event.clientX, one: at, other: at, isDrawn: false })
    },
    onPointerMove(event: PointerEvent<SVGSVGElement>) {
      if (!drawing) return
      const isDrawn = drawing.isDrawn || Math.abs(event.clientX - drawing.startX) >= LEAST_PX
      setDrawing({ ...drawing, other: placeOf(event, steps.length), isDrawn })
    },
    onPointerUp() {
      setDrawing(null)
      if (drawing?.isDrawn) onZoom(zoomOf(steps, end, drawing.one, drawing.other))
    },
    onPointerCancel: () => setDrawing(null),
  }
  const drawn = drawing?.isDrawn
    ? { first: Math.min(drawing.one, drawing.other), last: Math.max(drawing.one, drawing.other) }
    : null
  return { drawn, handlers }
}

function placeOf({ currentTarget, clientX }: PointerEvent<SVGSVGElement>, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect()
  return stepAt((clientX - left) / width, count)
}
