import { EdgeRecordView } from '../lazy.ts'
import { useSession } from '../session.ts'

/** The value of the edge under the pointer or the focus. The form alongside shows it of one that is chosen, to be read at leisure. */
export function EdgeValue({ lit }: { lit: string | null }) {
  const edge = useSession().model.edges.find(({ key }) => key === lit)?.edge
  return (
    <div className="edge-value" aria-live="polite">
      {edge && <EdgeRecordView key={lit} edge={edge} isGlance />}
    </div>
  )
}
