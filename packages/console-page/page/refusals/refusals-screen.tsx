import { useSearch } from '@tanstack/react-router'
import { useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { NewestRefusals } from './newest-refusals.tsx'
import { RefusalFilters } from './refusal-filters.tsx'
import { RefusalsByCode } from './refusals-by-code.tsx'
import { RefusalsByKey } from './refusals-by-key.tsx'
import { useRefusals } from './use-refusals.ts'
import './style/refusals.css'

/** Errors of the last days, and how to fix them. */
export function RefusalsScreen() {
  const view = useSearch({ from: '/projects/$tenant/$project/refusals' })
  const { isPending, error, total, codes, keys, latest } = useRefusals(view.days ?? 1)
  const { code, key } = view
  const shown = latest.filter((each) => (!code || each.code === code) && (!key || each.key === key))
  // The API counts by code or by key. A combined filter applies to the most recent errors only.
  const byCode = key ? [] : codes.filter(({ group }) => !code || group === code)
  const byKey = code ? [] : keys.filter(({ group }) => !key || group === key)
  return (
    <Screen title="Errors" of={useProjectName()}>
      <RefusalFilters view={view} codes={codes} keys={keys} />
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="errors" />}
      {total === 0 && (
        <EmptyState title="No errors in this period">
          Refused calls cost nothing and appear here within seconds.
        </EmptyState>
      )}
      {byCode.length > 0 && (
        <section className="stack" aria-label="By code">
          <h2>By code</h2>
          <RefusalsByCode groups={byCode} />
        </section>
      )}
      {byKey.length > 0 && (
        <section className="stack" aria-label="By key">
          <h2>By key</h2>
          <RefusalsByKey groups={byKey} />
        </section>
      )}
      {shown.length > 0 && (
        <section className="stack" aria-label="Most recent">
          <h2>Most recent</h2>
          <NewestRefusals rows={shown} />
        </section>
      )}
      {total !== undefined && total > 0 && shown.length === 0 && (
        <p className="soft">No matches among the 100 most recent errors.</p>
      )}
    </Screen>
  )
}
