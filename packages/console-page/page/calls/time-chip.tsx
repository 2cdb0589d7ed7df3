import { spans, type Span } from './call-filters.ts'
import { spanLabels } from './call-columns.tsx'
import { FilterChip } from '../components/filters.tsx'

const choices = (Object.keys(spans) as Span[]).map((span): [string, string] => [span, spanLabels[span]])

/** Time range filter. */
export function TimeChip({
  value,
  more = [],
  onChange,
}: {
  value: string | undefined
  /** Further choices. */
  more?: [value: string, text: string][]
  onChange: (value: string | undefined) => void
}) {
  return <FilterChip name="Time" value={value} choices={[...choices, ...more]} onChange={onChange} />
}
