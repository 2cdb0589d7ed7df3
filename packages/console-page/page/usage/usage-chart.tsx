import type { UsageReport } from '@gateway/api/console/money'
import { Money } from '../components/money.tsx'
import { usageSteps, type GroupSum, type Step } from '../pure/usage-stacks.ts'
import type { Zoom } from '../pure/usage-zoom.ts'
import { usd } from '../pure/usd.ts'
import { useDrawnZoom } from './use-drawn-zoom.ts'
import { ZoomForm } from './zoom-form.tsx'

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
