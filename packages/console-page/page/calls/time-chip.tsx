import { spans, type Span } from './call-filters.ts'
import { spanLabels } from './call-columns.tsx'
import { FilterChip } from '../components/filters.tsx'

const choices = (Object.keys(spans) as Span[]).map((span): [Span, string] => [span, spanLabels[span]])

/** Time range filter. */
export function TimeChip({
  value,
  onChange,
}: {
  value: Span | undefined
  onChange: (value: string | undefined) => void
}) {
  return <FilterChip name="Time" value={value} choices={choices} onChange={onChange} />
}
