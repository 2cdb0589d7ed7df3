import { EdgeRecordView } from '../lazy.ts'
import { useSession } from '../session.ts'

/** Value of the hovered or focused edge. The inspector shows the full value of a selected edge. */
export function EdgeValue({ lit }: { lit: string | null }) {
  const edge = useSession().model.edges.find(({ key }) => key === lit)?.edge
  return (
    <div className="edge-value" aria-live="polite">
      {edge && <EdgeRecordView key={lit} edge={edge} isGlance />}
    </div>
  )
}
