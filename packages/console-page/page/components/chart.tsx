import { lazy, Suspense, useState } from 'react'
import type { ChartStep, StepUnit } from './chart-scale.ts'

/** One series of a chart. */
export interface ChartSeries {
  name: string
  /** Number of its color, as in `--series-0`. */
  color: number
  /** Name of its stack of columns: different stacks are next to each other. Omitted: all series add up. */
  stack?: string
}

export interface ChartProps {
  /** What is charted: "Spend per day". */
  label: string
  series: ChartSeries[]
  /** `stack`: columns that add up, which is the default. `lines`: a line for each series. */
  kind?: 'stack' | 'lines'
  steps: ChartStep[]
  step: StepUnit
  /** Time zone of the axis. */
  zone: string
  /** Formats exact values. */
  format: (value: number) => string
  /** Formats round values of the axis. @param step distance between two of them */
  formatTick: (value: number, step: number) => string
  /** Height of the plot, in pixels. */
  height: number
  /** Opens the range from one column to another one; omitted if the chart doesn't zoom. */
  onZoom?: (first: number, last: number) => void
}

// Recharts is larger than all screens around it, so it loads after them.
const Plot = lazy(async () => ({ default: (await import('./chart-plot.tsx')).ChartPlot }))

/** Columns or lines over time, with a legend that hides and shows series. A table next to it has the exact values. */
export function Chart(props: ChartProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const { series, steps, height } = props
  const toggle = (name: string) =>
    setHidden((before) => {
      const after = new Set(before)
      if (!after.delete(name)) after.add(name)
      return after
    })
  const hasBefore = steps.some(({ before = 0 }) => before > 0)
  return (
    <figure className="chart">
      <Suspense fallback={<ChartWaiting height={height} />}>
        <Plot {...props} hidden={hidden} />
      </Suspense>
      {(series.length > 1 || hasBefore) && (
        <ul className="chart-legend" aria-label="Series">
          {series.map(({ name, color }) => (
            <li key={name}>
              <button type="button" aria-pressed={!hidden.has(name)} onClick={() => toggle(name)}>
                <span className={`swatch series-${color}`} aria-hidden="true" />
                {name}
              </button>
            </li>
          ))}
          {hasBefore && (
            <li className="soft">
              <span className="chart-dash" aria-hidden="true" />
              Previous period
            </li>
          )}
        </ul>
      )}
    </figure>
  )
}

/** Outline of a chart that is loading, as high as its plot. */
export function ChartWaiting({ height }: { height: number }) {
  return <div className="chart-waiting" style={{ height }} role="status" aria-label="Loading chart" />
}
