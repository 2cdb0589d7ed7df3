import type { ProviderRange } from '@gateway/api/console/provider-health'
import { useNavigate } from '@tanstack/react-router'
import { Select } from '../components/select.tsx'
import type { ProvidersView } from './operator-views.ts'
import { rangeLabels } from './provider-labels.ts'

/** Time range of the screens of providers, kept in the URL. */
export function RangeChoice({ range = 'hour' }: ProvidersView) {
  const navigate = useNavigate()
  return (
    <Select
      aria-label="Time"
      value={range}
      options={Object.entries(rangeLabels) as [ProviderRange, string][]}
      onChange={(chosen) => void navigate({ to: '.', search: { range: chosen }, resetScroll: false })}
    />
  )
}
