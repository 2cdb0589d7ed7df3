import { useLayoutEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react'
import { Bar, CartesianGrid, ComposedChart, Line, ReferenceArea, XAxis, YAxis } from 'recharts'
import type { ChartProps } from './chart.tsx'
import { columnAt, labeledColumns, roundTicks, timeLabels, type ChartStep } from './chart-scale.ts'

const [TOP, RIGHT, BOTTOM, CARD, LABEL] = [8, 20, 24, 280, 84]
/** Pointer travel that starts a drag, in pixels, so that a click doesn't zoom. */
const LEAST_DRAG = 5

/** Range of columns, in the order they were chosen. */
interface Selection {
  from: number
  to: number
}

/**
 * Plot of a chart. Arrow keys move the hover card, with Shift they select a range, and Enter zooms into it; a pointer
 * hovers and drags. To assistive technology it is a slider whose value text is the hover card.
 */
export function ChartPlot(props: ChartProps & { hidden: ReadonlySet<string> }) {
  const { label, steps, step, zone, series, kind = 'stack', format, formatTick, height, hidden, onZoom } = props
  const isStack = kind === 'stack'
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const [at, setAt] = useState<number | null>(null)
  const [selected, setSelected] = useState<Selection | null>(null)
  const drag = useRef<{ startX: number; from: number } | null>(null)

  const shown = series
    .map(({ name, color, stack = 'all' }, n) => ({ name, color, stack, n }))
    .filter(({ name }) => !hidden.has(name))
  const stacks = [...new Set(series.map(({ stack = 'all' }) => stack))]
  const hasTotal = stacks.length === 1 // different stacks don't add up
  const sumOf = ({ values }: ChartStep, of: readonly string[] = stacks) =>
    shown.reduce((sum, { stack, n }) => (of.includes(stack) ? sum + (values[n] ?? 0) : sum), 0)
  const topOf = (each: ChartStep) =>
    Math.max(0, ...(isStack ? stacks.map((stack) => sumOf(each, [stack])) : shown.map(({ n }) => each.values[n] ?? 0)))
  const totalText = (each: ChartStep) => {
    const total = isStack ? sumOf(each) : (each.total ?? null)
    return total === null ? 'No calls' : format(total)
  }
  const hasBefore = hidden.size === 0 && steps.some(({ before = 0 }) => before > 0)
  const most = Math.max(...steps.map((each) => Math.max(topOf(each), hasBefore ? (each.before ?? 0) : 0)))
  const ticks = roundTicks(most)
  const tickText = (value: number) => formatTick(value, ticks[1]!)
  const left = 14 + 7 * Math.max(...ticks.map((tick) => tickText(tick).length))
  const plotWidth = Math.max(1, width - left - RIGHT)
  const labels = timeLabels(step, zone)
  const last = steps.length - 1
  const dot = { r: steps.length > 60 ? 1.5 : 2.5 } // a value without neighbors has no line

  const indexOf = ({ clientX }: PointerEvent) =>
    columnAt((clientX - frame.current!.getBoundingClientRect().left - left) / plotWidth, steps.length)
  const end = (zoom: Selection | null) => {
    drag.current = null
    setSelected(null)
    if (zoom) onZoom?.(Math.min(zoom.from, zoom.to), Math.max(zoom.from, zoom.to))
  }
  const pointer = {
    onPointerDown(event: PointerEvent<HTMLDivElement>) {
      if (event.button !== 0 || !onZoom) return
      event.currentTarget.setPointerCapture(event.pointerId)
      drag.current = { startX: event.clientX, from: indexOf(event) }
    },
    onPointerMove(event: PointerEvent<HTMLDivElement>) {
      setAt(indexOf(event))
      const { startX, from } = drag.current ?? {}
      if (from === undefined || (!selected && Math.abs(event.clientX - startX!) < LEAST_DRAG)) return
      setSelected({ from, to: indexOf(event) })
    },
    onPointerUp: () => end(drag.current ? selected : null),
    onPointerCancel: () => end(null),
    onPointerLeave: () => setAt(null),
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const now = at ?? last
    const to = { ArrowLeft: at === null ? last : at - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key]
    if (event.key === 'Enter' && selected) end(selected)
    else if (event.key === 'Escape' && (at !== null || selected)) {
      setAt(null)
      setSelected(null)
    } else if (to !== undefined) {
      const next = Math.max(0, Math.min(last, to))
      setAt(next)
      setSelected(event.shiftKey && onZoom ? { from: selected?.from ?? now, to: next } : null)
    } else return
    event.preventDefault()
  }

  const current = at === null ? undefined : steps[at]
  const lines = current
    ? shown
        .map(({ name, color, n }) => ({ name, color, value: current.values[n] ?? 0 }))
        .filter(({ value }) => value > 0)
    : []
  const text = current
    ? [
        labels.whole(current) + (hasTotal ? `: ${totalText(current)}` : ''),
        ...lines.map((line) => `${line.name} ${format(line.value)}`),
      ]
    : ['Arrow keys read the values', ...(onZoom ? ['with Shift they select a range', 'Enter zooms in'] : [])]
  const half = at === null ? 0 : left + ((at + 0.5) * plotWidth) / steps.length
  const marked = selected ?? (at === null ? null : { from: at, to: at })
  return (
    <div
      ref={frame}
      className={`chart-plot ${onZoom ? 'zooms' : ''}`}
      style={{ height }}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={text.join(', ')}
      onKeyDown={onKeyDown}
      onBlur={() => setAt(null)}
      {...pointer}
    >
      {width > 0 && (
        <div aria-hidden="true">
          <ComposedChart
            width={width}
            height={height}
            data={steps}
            margin={{ top: TOP, right: RIGHT, bottom: 0, left: 0 }}
            barCategoryGap={steps.length > 60 ? 0 : '12%'}
            maxBarSize={64}
            accessibilityLayer={false}
          >
            <CartesianGrid vertical={false} />
            <XAxis
              dataKey="from"
              height={BOTTOM}
              ticks={labeledColumns(steps, { step, zone, most: Math.max(2, Math.floor(plotWidth / LABEL)) }).map(
                (n) => steps[n]!.from,
              )}
              interval={0}
              tickFormatter={labels.short}
              tickLine={false}
            />
            <YAxis
              width={left}
              ticks={ticks}
              interval={0}
              domain={[0, ticks.at(-1)!]}
              tickFormatter={tickText}
              tickLine={false}
              axisLine={false}
            />
            {marked && (
              <ReferenceArea
                x1={steps[Math.min(marked.from, marked.to)]!.from}
                x2={steps[Math.max(marked.from, marked.to)]!.from}
                className={selected ? 'chart-selected' : 'chart-hovered'}
              />
            )}
            {shown.map(({ name, color, stack, n }) => {
              const common = {
                dataKey: ({ values }: ChartStep) => values[n],
                className: `series-${color}`,
                isAnimationActive: false,
              }
              return isStack ? (
                <Bar {...common} key={name} stackId={stack} />
              ) : (
                <Line
                  {...common}
                  key={name}
                  type="linear"
                  dot={{ ...dot, className: common.className }}
                  activeDot={false}
                />
              )
            })}
            {hasBefore && (
              <Line
                dataKey="before"
                type="linear"
                className="chart-before"
                dot={false}
                activeDot={false}
                isAnimationActive={false}
              />
            )}
          </ComposedChart>
          {current && (
            <div
              className="chart-card"
              style={{ left: Math.max(0, half + CARD + 16 > width ? half - CARD - 12 : half + 12) }}
            >
              <p className="soft">{labels.whole(current)}</p>
              <dl>
                {lines.map(({ name, color, value }) => (
                  <div key={name}>
                    <dt>
                      <span className={`swatch series-${color}`} />
                      <span>{name}</span>
                    </dt>
                    <dd>{format(value)}</dd>
                  </div>
                ))}
                {hasTotal && (
                  <div className="sum">
                    <dt>{isStack ? 'Total' : 'All calls'}</dt>
                    <dd>{totalText(current)}</dd>
                  </div>
                )}
                {hasBefore && current.before !== undefined && (
                  <div className="soft">
                    <dt>Previous period</dt>
                    <dd>{format(current.before)}</dd>
                  </div>
                )}
              </dl>
            </div>
          )}
        </div>
      )}
    </div>
  )
}

/** Width of an element in pixels; 0 until it is laid out. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    observer.observe(element.current!)
    return () => observer.disconnect()
  }, [element])
  return width
}
