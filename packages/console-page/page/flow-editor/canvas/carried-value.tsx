import { EdgeRecordView } from '../opened-later.ts'
import { useSession } from '../session.ts'

/** What the edge carried that the pointer or the focus is on. The form beside shows it of one that is chosen, to be read at leisure. */
export function CarriedValue({ lit }: { lit: string | null }) {
  const edge = useSession().model.edges.find(({ key }) => key === lit)?.edge
  return (
    <div className="carried-value" aria-live="polite">
      {edge && <EdgeRecordView key={lit} edge={edge} isGlance />}
    </div>
  )
}
