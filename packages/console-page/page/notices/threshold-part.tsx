import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { NoticeThresholds } from '@gateway/api/console/notices'
import { reading } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import { useProjectRole } from '../api/use-project-role.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { several, usd } from '../pure/usd.ts'
import { THRESHOLDS } from './notice-paths.ts'
import { ThresholdForm } from './threshold-form.tsx'

/** What is told, and, for a Project Owner, the form that changes it. */
export function ThresholdPart() {
  const { data, error } = useQuery(reading(THRESHOLDS, { params: usePlace() }))
  const [isChanging, setChanging] = useState(false)
  const isOwner = useProjectRole() === 'Project Owner'
  return (
    <section className="card stack" aria-label="What is told">
      <div className="head">
        <h2>What is told</h2>
        {isOwner && data && (
          <button type="button" className="button small" onClick={() => setChanging(true)}>
            Change what is told
          </button>
        )}
      </div>
      <RefusalBox error={error} />
      {data && <Told thresholds={data} />}
      {!isOwner && <p className="soft small">A Project Owner changes this.</p>}
      {isChanging && data && (
        <Dialog title="What is to be told" onClose={() => setChanging(false)}>
          <ThresholdForm saved={data} onClose={() => setChanging(false)} />
        </Dialog>
      )}
    </section>
  )
}

function Told({ thresholds: { belowMicro, daysLeft, keyPercents } }: { thresholds: NoticeThresholds }) {
  const some = (texts: string[]) => (texts.length === 0 ? 'not told' : texts.join(', '))
  return (
    <Facts
      of={[
        ['Less remains in the wallet than', some(belowMicro.map(usd))],
        ['A key has spent of its limit', some(keyPercents.map((percent) => `${percent} %`))],
        ['The wallet lasts for fewer than', daysLeft === null ? 'not told' : several(daysLeft, 'day')],
      ]}
    />
  )
}
