import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { NoticeThresholds } from '@gateway/api/console/notices'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { useProjectRole } from '../api/use-project-role.ts'
import { Dialog } from '../components/dialog.tsx'
import { Facts } from '../components/facts.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { several, usd } from '../pure/usd.ts'
import { THRESHOLDS } from './notice-paths.ts'
import { ThresholdForm } from './threshold-form.tsx'

/** Alert rules of a project. A Project Owner can edit them. */
export function ThresholdPart() {
  const { data, error } = useQuery(reading(THRESHOLDS, { params: useScope() }))
  const [isChanging, setChanging] = useState(false)
  const isOwner = useProjectRole() === 'Project Owner'
  return (
    <section className="card stack" aria-label="Alert rules">
      <div className="head">
        <h2>Alert rules</h2>
        {isOwner && data && (
          <button type="button" className="button small" onClick={() => setChanging(true)}>
            Edit alert rules
          </button>
        )}
      </div>
      <RefusalBox error={error} />
      {data && <Rules thresholds={data} />}
      {!isOwner && <p className="soft small">Only a Project Owner can edit alert rules.</p>}
      {isChanging && data && (
        <Dialog title="Edit alert rules" onClose={() => setChanging(false)}>
          <ThresholdForm saved={data} onClose={() => setChanging(false)} />
        </Dialog>
      )}
    </section>
  )
}

function Rules({ thresholds: { belowMicro, daysLeft, keyPercents } }: { thresholds: NoticeThresholds }) {
  const listed = (texts: string[]) => (texts.length === 0 ? 'Off' : texts.join(', '))
  return (
    <Facts
      of={[
        ['Balance below', listed(belowMicro.map(usd))],
        ['Key spend reaches', listed(keyPercents.map((percent) => `${percent}% of limit`))],
        ['Runway below', daysLeft === null ? 'Off' : several(daysLeft, 'day')],
      ]}
    />
  )
}
